package outcome

import (
	"fmt"
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// Refused reports whether the answer is about the object, and no accident of the way.
func Refused(d *drift.DryRun) bool { return d != nil && d.Error != "" && !Passing(d.Error) }

// DryRunAnswer is the answer that a refused dry run makes.
func DryRunAnswer(r *state.Resource, dry *drift.DryRun) rule.Answer {
	c := rule.Answer{Mechanism: CauseOf(r, Failure{Message: dry.Error, Current: true}), Confidence: drift.Certain, Sync: drift.WillFail}
	kind := string(c.Mechanism)
	if c.Mechanism == drift.Unexplained {
		kind = "for a reason that no rule knows"
		c.Summary = "The API server refuses the sync of the resource for a reason that no rule knows."
	}
	c.Evidence = []string{fmt.Sprintf("a dry run of the sync is refused (%s): %s", kind, r.Quote(dry.Error))}
	if slices.Contains([]drift.Mechanism{drift.ImmutableField, drift.InvalidManifest, drift.MergeKeyConflict}, c.Mechanism) {
		// kubectl deletes and creates anew only what is refused as invalid.
		Recreates(r, &c)
	}
	return c
}
