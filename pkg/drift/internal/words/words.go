// Package words makes sentences of lists, counts and somebody else's words.
package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

// Unique leaves out what was said before.
func Unique(texts []string) []string {
	said := map[string]bool{}
	kept := []string{}
	for _, text := range texts {
		if text != "" && !said[text] {
			said[text] = true
			kept = append(kept, text)
		}
	}
	return kept
}

// Sentences joins those that have something to say.
func Sentences(said ...string) string {
	return strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), " ")
}

// Brief keeps long values out of a comment.
func Brief(value any) any {
	const enough = 60
	if spelled, ok := value.(string); ok && len(spelled) > enough {
		return strings.ToValidUTF8(spelled[:enough], "") + "..."
	}
	if _, ok := value.([]any); ok {
		return "..."
	}
	return value
}

// Plural counts things.
func Plural(count int, what string) string {
	if count == 1 {
		return "1 " + what
	}
	return strconv.Itoa(count) + " " + what + "s"
}

// Some names the first few.
func Some(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:few], ", ") + " and " + strconv.Itoa(len(names)-few) + " more"
}

// Shown are the values as texts for a sentence.
func Shown(values []any) []string {
	names := make([]string, 0, len(values))
	for _, value := range values {
		names = append(names, Show(value))
	}
	return names
}

// Shortened is a text for a sentence.
func Shortened(said string) string {
	if len(said) > MaxShown {
		said = strings.ToValidUTF8(said[:MaxShown], "") + "..."
	}
	return fmt.Sprintf("%q", said)
}

// MaxShown bounds the values in sentences, in bytes.
const MaxShown = 120

// Mentions reports whether the message holds one of the marks, in any case.
func Mentions(message string, marks []string) bool {
	message = strings.ToLower(message)
	for _, mark := range marks {
		if strings.Contains(message, mark) {
			return true
		}
	}
	return false
}

// Show spells a value for a sentence.
func Show(v any) string {
	if spelled, ok := v.(string); ok {
		return spelled
	}
	return value.Canonical(v)
}

// First returns the first text that is not empty.
func First(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// Set is the set of the words of a text.
func Set(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// Far is the distance of texts that have nothing to do with one another.
const Far = 3

// Distance is how many letters to change, add or take away, at most [far].
func Distance(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 || len(a) > 100 {
		return Far
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return min(row[len(b)], Far)
}
