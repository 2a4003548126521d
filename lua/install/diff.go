package install

import (
	"fmt"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Diff is the plan as a unified diff with one file a key, empty where nothing changes.
func (p Plan) Diff() (string, error) {
	text := &strings.Builder{}
	for _, change := range p.Changes {
		if change.Action == Keep {
			continue
		}
		from, to := "argocd-cm/"+change.Key, "argocd-cm/"+change.Key
		switch change.Action {
		case Add:
			from = "/dev/null"
		case Remove:
			to = "/dev/null"
		case Update, Keep:
		}
		part, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: lines(change.Before), B: lines(change.After), FromFile: from, ToFile: to, Context: 3,
		})
		if err != nil {
			return "", fmt.Errorf("compare %s: %w", change.Key, err)
		}
		text.WriteString(part)
	}
	return text.String(), nil
}

// lines splits a text behind each newline. A text that does not end with one gets it.
func lines(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		found = append(found, strings.TrimSuffix(line, "\n")+"\n")
	}
	return found
}

// Summary counts the changes in one sentence.
func (p Plan) Summary() string {
	counts := map[Action]int{}
	for _, change := range p.Changes {
		counts[change.Action]++
	}
	return fmt.Sprintf("%d to add, %d to update, %d to remove, %d as they should be, %d left alone; argocd-cm then holds %d of %d bytes",
		counts[Add], counts[Update], counts[Remove], counts[Keep], len(p.Refusals), p.Bytes, MaxBytes)
}
