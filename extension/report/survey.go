package report

import (
	"context"

	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// Surveyed is what is told of one Application to who looks at all.
type Surveyed struct {
	Report *drift.Report
	// Read are the resources whose fields were there to read.
	Read []drift.ResourceRef
	// Warnings say what could not be had.
	Warnings []string
}

// Survey explains an Application for who looks at all: it tries no fixes, keeps nothing,
// and takes the time that ctx has.
func (s *Service) Survey(ctx context.Context, ref argocd.Ref) (*Surveyed, error) {
	if s.options.Client == nil {
		return nil, ErrNoToken
	}
	allowed := s.allow(ref)
	defer allowed.Release()
	surveyed := &Surveyed{}
	snapshot, err := inTurn(ctx, s.collecting, func() (*drift.Snapshot, error) {
		snapshot, warnings, err := s.collect(ctx, ref, allowed)
		surveyed.Warnings = warnings
		return snapshot, err
	})
	if err != nil {
		return nil, err
	}
	explained, err := inTurn(ctx, s.classifying, func() (*Explained, error) {
		defer s.observed("classify")()
		return s.options.Classifier.Explain(ctx, Question{Snapshot: snapshot})
	})
	if err != nil {
		return nil, err
	}
	surveyed.Report = explained.Report
	for _, r := range snapshot.Resources {
		surveyed.Read = append(surveyed.Read, r.ResourceRef)
	}
	return surveyed, nil
}

// inTurn does work in a turn, and waits for its end.
func inTurn[V any](ctx context.Context, turns *gate, work func() (V, error)) (V, error) {
	if err := turns.enter(ctx); err != nil {
		var none V
		return none, err
	}
	defer turns.leave()
	return fault.Contained(work)
}
