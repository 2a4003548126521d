package classify

import (
	"context"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
	"github.com/moorpin/moorpin/pkg/drift/internal/trial"
)

// PreviewRules says what the rules would do, if they were added to the Application's
// ignoreDifferences. It changes neither the snapshot nor the rules. The error is a
// *RuleError where a rule cannot be used, or takes too much; else those of [Classify].
// Of the options Prove says nothing here.
func PreviewRules(ctx context.Context, snapshot *drift.Snapshot, rules []v1alpha1.ResourceIgnoreDifferences, options Options) (preview *drift.Preview, err error) {
	defer state.Catch(&err)
	if err := trial.CheckRules(rules); err != nil {
		return nil, err
	}
	s, err := arranged(ctx, snapshot, options)
	if err != nil {
		return nil, err
	}
	if err := trial.TryRules(ctx, s, rules); err != nil {
		return nil, err
	}
	report := reportOf(s, findAll(s)) // which finds out whether Argo CD could compare at all
	p := &trial.Forecast{
		Rules: rules, Said: trial.SaidOf(report),
		Preview: &drift.Preview{Hides: []drift.PreviewField{}, Covers: []drift.PreviewPlace{}, Synced: !s.Incomparable, Unheeded: s.Unheeded},
	}
	for _, r := range s.Resources {
		if s.Ctx.Err() != nil {
			break
		}
		p.Resource(r)
	}
	p.Preview.Synced = p.Preview.Synced && !trial.OutOfSyncElsewhere(s)
	if err := s.Ended(); err != nil {
		return nil, err
	}
	return p.Preview, nil
}
