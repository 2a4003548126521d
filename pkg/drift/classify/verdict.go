package classify

import (
	"fmt"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// verdict is one sentence about the whole report: how much there is, what is at
// work, and what a sync would do.
func verdict(report *drift.Report) string {
	differences, hidden, problems, resources := 0, 0, 0, map[drift.Key]bool{}
	var mechanisms []string
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Mechanism == drift.None {
			return "In sync: Argo CD flags nothing, and nothing hides."
		}
		switch {
		case f.Differs():
			differences += max(1, len(f.Fields))
			resources[drift.KeyOf(f.Resource)] = true
		case f.Flagged:
			problems++
		default:
			hidden += len(f.Fields)
		}
		mechanisms = append(mechanisms, string(f.Mechanism))
	}
	said := "No difference"
	if differences > 0 {
		said = fmt.Sprintf("%s in %s", words.Plural(differences, "difference"), words.Plural(len(resources), "resource"))
	}
	if problems > 0 {
		said += "; " + words.Plural(problems, "problem")
	}
	if hidden > 0 {
		said += "; " + words.Plural(hidden, "field") + " hidden from Argo CD"
	}
	return said + ": " + strings.Join(words.Unique(mechanisms), ", ") + ". " + outlook(report)
}
