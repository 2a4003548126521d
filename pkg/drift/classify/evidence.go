package classify

import (
	"fmt"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// likewise is how many fields a sentence that holds for several names.
const likewise = 3

// together says once what holds for several fields: sentences that differ in nothing
// but the pointer become one, which names the first few.
func together(evidence []string, differences []*diff.Difference) []string {
	pointers := make(map[string]bool, len(differences))
	for _, d := range differences {
		pointers[string(d.Pointer)] = true
	}
	kept := []string{}
	first, others := map[string]int{}, map[int][]string{}
	for _, said := range words.Unique(evidence) {
		pointer, found := pointerIn(said, pointers)
		if !found {
			kept = append(kept, said)
			continue
		}
		form := strings.Replace(said, pointer, "\x00", 1)
		if i, repeated := first[form]; repeated {
			others[i] = append(others[i], pointer)
			continue
		}
		first[form] = len(kept)
		kept = append(kept, said)
	}
	for i, more := range others {
		shown := strings.Join(more[:min(len(more), likewise)], ", ")
		if left := len(more) - likewise; left > 0 {
			shown += fmt.Sprintf(" and %d more", left)
		}
		kept[i] += "; likewise " + shown
	}
	return kept
}

// pointerIn returns the first of the pointers that a sentence names.
func pointerIn(said string, pointers map[string]bool) (string, bool) {
	for word := range strings.FieldsSeq(said) {
		if word = strings.TrimRight(word, ",:;."); strings.HasPrefix(word, "/") && pointers[word] {
			return word, true
		}
	}
	return "", false
}
