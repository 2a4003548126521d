package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// verdict is one sentence about the whole report: how much there is, what is at
// work, and what a sync would do.
func verdict(s *state.Application, report *drift.Report) string {
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
		mechanisms = append(mechanisms, f.Mechanism.Title())
	}
	said := undiffering(s)
	if differences > 0 {
		said = fmt.Sprintf("%s in %s", words.Plural(differences, "difference"), words.Plural(len(resources), "resource"))
	}
	if problems > 0 {
		said += "; " + words.Plural(problems, "problem")
	}
	if hidden > 0 {
		said += "; " + words.Plural(hidden, "field") + " hidden from Argo CD"
	}
	return said + ": " + strings.Join(words.Unique(mechanisms), "; ") + ". " + outlook(report)
}

// undiffering says that nothing differs, as far as that is known.
func undiffering(s *state.Application) string {
	switch {
	case s.Incomparable || outcome.Uncompared(s):
		return "Nothing could be compared"
	case slices.ContainsFunc(s.Resources, func(r *state.Resource) bool { return r.CompareError != nil || r.Unfit != nil }):
		return "No difference in what could be compared"
	}
	return "No difference"
}

// outlook is what a sync of the whole Application does: the worst of the findings,
// and where it fails although something else of it is worse.
func outlook(report *drift.Report) string {
	said := strings.TrimSuffix(report.Sync.Summary(), ".")
	var worst []*drift.Finding
	var failing []string
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Sync == report.Sync {
			worst = append(worst, f)
		}
		if f.Sync == drift.WillFail && f.Resource.Kind != "Application" {
			failing = append(failing, f.Resource.Kind+" "+f.Resource.Name)
		}
	}
	if len(worst) > 0 && !slices.ContainsFunc(worst, func(f *drift.Finding) bool { return f.Effect() != worst[0].Effect() }) && worst[0].Effect() != report.Sync.Effect() {
		said = "A sync " + worst[0].Effect()
	}
	switch failing = words.Unique(failing); {
	case len(failing) == 0:
	case report.Sync == drift.WillFail:
		said = "A sync fails at " + words.Some(failing)
	default:
		said += "; it fails at " + words.Some(failing) + ", of which it then writes nothing"
	}
	return said + "."
}
