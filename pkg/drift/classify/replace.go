package classify

import (
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// replacing makes worse what is said of resources that a sync replaces: all that
// only live has is lost, and with Force=true the object itself.
func replacing(s *state.Application, findings []rule.Finding) []rule.Finding {
	about := rule.ByResource(findings)
	for _, r := range s.Resources {
		if s.Ctx.Err() != nil {
			break
		}
		if r.Target == nil || r.Live == nil || r.Given.Hook {
			continue
		}
		replaces, deletes := r.Replaces()
		if !replaces {
			continue
		}
		for _, i := range about[drift.KeyOf(r.Ref)] {
			if f := &findings[i]; len(f.Fields) > 0 {
				replaced(r, &f.Finding, deletes)
			}
		}
	}
	return findings
}

func replaced(r *state.Resource, f *drift.Finding, deletes bool) {
	if deletes {
		f.Sync = drift.Worse(f.Sync, drift.Destructive)
		f.Evidence = append(slices.Clone(f.Evidence), "Replace=true and Force=true are set: a sync deletes the object and creates it anew")
		f.Loss = append(slices.Clone(f.Loss), r.Ref.Words()+" itself, until it is there again")
		return
	}
	if f.Flagged {
		return // the rules know whose value it is
	}
	f.Sync = drift.Worse(f.Sync, drift.OverwritesLive)
	f.Evidence = append(slices.Clone(f.Evidence), "Replace=true is set: a sync puts Git's manifest in the object's place, without what only live has")
	f.Loss = slices.Clone(f.Loss)
	for _, field := range f.Fields {
		f.Loss = append(f.Loss, string(field.Pointer)+", which only live has")
	}
}
