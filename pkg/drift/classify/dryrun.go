package classify

import (
	"fmt"
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// addDryRuns adds what dry runs say to the findings. A refusal makes an effect worse; that
// a sync changes nothing makes better only what was feared for want of knowledge.
func addDryRuns(s *state.Application, findings []rule.Finding) []rule.Finding {
	heard, of := map[drift.Key]bool{}, rule.ByResource(findings)
	for _, r := range s.Resources {
		dry := r.Given.DryRun
		if s.Ctx.Err() != nil || dry == nil || r.Given.Hook || r.Target == nil || heard[drift.KeyOf(r.Ref)] {
			continue
		}
		heard[drift.KeyOf(r.Ref)] = true
		about := of[drift.KeyOf(r.Ref)]
		for _, i := range about {
			addDryRun(r, dry, &findings[i].Finding)
		}
		if len(about) == 0 && outcome.Refused(dry) {
			// A sync applies what does not differ too.
			c := outcome.DryRunAnswer(r, dry)
			c.About = &r.Ref
			findings = append(findings, finding(s, nil, &c))
		}
	}
	return findings
}

// addDryRun adds what the dry run says to one finding about the resource.
func addDryRun(r *state.Resource, dry *drift.DryRun, f *drift.Finding) {
	switch {
	case outcome.Refused(dry):
		if f.Mechanism == drift.ExcludedResource {
			return // Argo CD never applies it
		}
		c := outcome.DryRunAnswer(r, dry)
		f.Sync = drift.Worse(f.Sync, c.Sync)
		f.Evidence = words.Unique(append(slices.Clone(f.Evidence), c.Evidence...))
		f.Loss = words.Unique(append(slices.Clone(f.Loss), c.Loss...))
		if f.Mechanism == c.Mechanism && f.Mechanism != drift.Unexplained {
			f.Confidence = drift.Certain
		}
	case dry.Result == nil:
	case r.Live == nil:
		f.Evidence = words.Unique(append(slices.Clone(f.Evidence), "a dry run of the sync creates it"))
	default:
		if changed, err := changedBy(r, dry); err == nil {
			addChanges(f, changed)
		}
	}
}

// addChanges adds how many fields the dry run of a sync changes.
func addChanges(f *drift.Finding, changed []*diff.Difference) {
	if len(changed) > 0 {
		f.Evidence = words.Unique(append(slices.Clone(f.Evidence), "a dry run of the sync changes "+words.Plural(len(changed), "field")+" of the object"))
		worsen(f, changed)
		return
	}
	f.Evidence = words.Unique(append(slices.Clone(f.Evidence), "a dry run of the sync changes nothing"))
	feared := f.Mechanism == drift.Unexplained && f.Sync == drift.OverwritesLive
	if feared || f.Sync == drift.Safe {
		// The rules of other mechanisms know who loses what, also where the API
		// server happens to put the same value in again.
		f.Sync, f.Loss = drift.Noop, nil
	}
}

// worsen corrects a finding that holds for lasting what the dry run changes.
func worsen(f *drift.Finding, changed []*diff.Difference) {
	if f.Sync != drift.Noop {
		return
	}
	places := diff.PlacesOf(changed)
	for _, field := range f.Fields {
		if places.Meet(field.Pointer) {
			f.Sync = drift.OverwritesLive
			f.Evidence = append(f.Evidence, fmt.Sprintf("the dry run changes %s, which was held to stay as it is", field.Pointer))
			f.Loss = append(slices.Clone(f.Loss), fmt.Sprintf("%s as it is live", field.Pointer))
		}
	}
}

// changedBy are the fields that the dry run changes, those aside that every write
// changes or that say only who wrote.
func changedBy(r *state.Resource, dry *drift.DryRun) ([]*diff.Difference, error) {
	found, err := diff.Between(r.Application.Ctx, diff.NewAllowance(), r.Live, dry.Result)
	if err != nil {
		return nil, fmt.Errorf("dry run: %w", err)
	}
	return slices.DeleteFunc(found, diff.Bookkeeping), nil
}
