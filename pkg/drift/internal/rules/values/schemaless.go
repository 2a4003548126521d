package values

import (
	"fmt"
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/owners"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/value"
)

// guessedDefaults: a field of a list item that only live has, of a kind whose schema
// is not known. Evidence: Argo CD's own write is its only owner, as it is of the
// defaults that come with a write, or nobody is, as under server-side apply; fields
// that a webhook adds are owned by nobody. Counter-evidence: another owner, and a
// webhook that is asked for the kind.
func guessedDefaults(r *state.Resource, open []*diff.Difference) []rule.Answer {
	if !r.Application.Schemaless(r.Ref) || len(r.Webhooks()) > 0 || !r.HasOwners() {
		return nil
	}
	var answers []rule.Answer
	for _, d := range open {
		w := r.WritersOf(d)
		belowItem := len(d.Steps) > 1 && slices.ContainsFunc(d.Steps[:len(d.Steps)-1], value.IsIndex)
		if !belowItem || !d.InLive || d.InTarget || d.InGit || d.InApplied || w.Role != owners.Nobody || !w.Argo && r.Strategy == drift.Legacy {
			continue
		}
		answers = append(answers, rule.Answer{Mechanism: drift.CRDListDefault, Differences: []*diff.Difference{d}, Confidence: drift.Possible, Sync: drift.Noop, Evidence: []string{
			fmt.Sprintf("%s is in no manifest, and nobody but Argo CD's own write owns it, as it is with defaults of a CRD", d.Pointer),
			"no mutating webhook in the snapshot is asked for the kind",
			state.NoCRD(r.Ref.Kind),
		}})
	}
	return answers
}
