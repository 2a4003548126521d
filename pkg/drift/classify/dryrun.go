package classify

import (
	"fmt"
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/diff"
	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// heed adds what dry runs say to the findings. A refusal makes an effect worse; that
// a sync changes nothing makes better only what was feared for want of knowledge.
func (s *situation) heed(findings []drift.Finding) []drift.Finding {
	heard, of := map[drift.Key]bool{}, byResource(findings)
	for _, r := range s.resources {
		dry := r.given.DryRun
		if s.ctx.Err() != nil || dry == nil || r.given.Hook || r.target == nil || heard[drift.KeyOf(r.ref)] {
			continue
		}
		heard[drift.KeyOf(r.ref)] = true
		about := of[drift.KeyOf(r.ref)]
		for _, i := range about {
			r.heed(dry, &findings[i])
		}
		if len(about) == 0 && refused(dry) {
			// A sync applies what does not differ too.
			c := r.refusedClaim(dry)
			c.about = &r.ref
			findings = append(findings, s.finding(nil, &c))
		}
	}
	return findings
}

// refused reports whether the answer is about the object, and no accident of the way.
func refused(d *drift.DryRun) bool { return d.Error != "" && !passing(d.Error) }

// heed adds what the dry run says to one finding about the resource.
func (r *resource) heed(dry *drift.DryRun, f *drift.Finding) {
	switch {
	case refused(dry):
		if f.Mechanism == drift.ExcludedResource {
			return // Argo CD never applies it
		}
		c := r.refusedClaim(dry)
		f.Sync = drift.Worse(f.Sync, c.sync)
		f.Evidence = words.Unique(append(slices.Clone(f.Evidence), c.evidence...))
		f.Loss = words.Unique(append(slices.Clone(f.Loss), c.loss...))
		if f.Mechanism == c.mechanism && f.Mechanism != drift.Unexplained {
			f.Confidence = drift.Certain
		}
	case dry.Result == nil:
	case r.live == nil:
		f.Evidence = words.Unique(append(slices.Clone(f.Evidence), "a dry run of the sync creates it"))
	default:
		if changed, err := r.changedBy(dry); err == nil {
			heed(f, changed)
		}
	}
}

// heed adds how many fields the dry run of a sync changes.
func heed(f *drift.Finding, changed []*diff.Difference) {
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

// refusedClaim is the claim that a refused dry run makes.
func (r *resource) refusedClaim(dry *drift.DryRun) claim {
	c := claim{mechanism: r.mechanismOf(failure{dry.Error, true}), confidence: drift.Certain, sync: drift.WillFail}
	kind := string(c.mechanism)
	if c.mechanism == drift.Unexplained {
		kind = "for a reason that no rule knows"
		c.summary = "The API server refuses the sync of the resource for a reason that no rule knows."
	}
	c.evidence = []string{fmt.Sprintf("a dry run of the sync is refused (%s): %s", kind, r.quote(dry.Error))}
	if slices.Contains([]drift.Mechanism{drift.ImmutableField, drift.InvalidManifest, drift.MergeKeyConflict}, c.mechanism) {
		// kubectl deletes and creates anew only what is refused as invalid.
		r.recreates(&c)
	}
	return c
}

// changedBy are the fields that the dry run changes, those aside that every write
// changes or that say only who wrote.
func (r *resource) changedBy(dry *drift.DryRun) ([]*diff.Difference, error) {
	found, err := diff.Between(r.situation.ctx, diff.NewAllowance(), r.live, dry.Result)
	if err != nil {
		return nil, fmt.Errorf("dry run: %w", err)
	}
	return slices.DeleteFunc(found, diff.Bookkeeping), nil
}
