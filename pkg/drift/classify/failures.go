package classify

import (
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/outcome"
	"github.com/moorpin/moorpin/pkg/drift/internal/rule"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// addFailures adds a finding about every object that the last sync, of the revision
// compared now, is known not to have been able to write, and of which no finding says that
// a sync fails.
func addFailures(s *state.Application, findings []rule.Finding) []rule.Finding {
	if s.Incomparable {
		return findings
	}
	of := rule.ByResource(findings)
	for _, r := range s.Resources {
		if s.Ctx.Err() != nil {
			break
		}
		f, failed := outcome.FailureOf(r)
		if !failed || !f.Current || r.OfHook() || !r.Drifts() || r.Target == nil || outcome.CauseOf(r, f) == drift.Unexplained {
			continue
		}
		if slices.ContainsFunc(of[drift.KeyOf(r.Ref)], func(i int) bool {
			sync := findings[i].Sync
			return sync == drift.WillFail || sync == drift.Blocked || sync == drift.Destructive || slices.Contains(drift.Failures, findings[i].Mechanism)
		}) {
			continue
		}
		c := outcome.Explain(r, f)
		c.About = &r.Ref
		findings = append(findings, finding(s, nil, &c))
	}
	return findings
}
