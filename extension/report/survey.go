package report

import (
	"context"
	"errors"
	"fmt"

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
// and waits for its turns as long as ctx has, behind all others. Each turn may take the
// service's Timeout, or half of it where there is only one.
func (s *Service) Survey(ctx context.Context, ref argocd.Ref) (*Surveyed, error) {
	if s.options.Client == nil {
		return nil, ErrNoToken
	}
	allowed := s.allow(ref)
	defer allowed.Release()
	surveyed, who := &Surveyed{}, askerOf(ref)
	who.scan = true
	snapshot, err := inTurn(ctx, s, s.collecting.of(who), func(ctx context.Context) (*drift.Snapshot, error) {
		snapshot, warnings, err := s.collect(ctx, ref, allowed)
		surveyed.Warnings = warnings
		return snapshot, err
	})
	if err != nil {
		return nil, err
	}
	explained, err := inTurn(ctx, s, s.classifying.of(who), func(ctx context.Context) (*Explained, error) {
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

// inTurn does work in a turn, and waits for its end, which comes within the Timeout.
func inTurn[V any](ctx context.Context, s *Service, turns entrance, work func(context.Context) (V, error)) (V, error) {
	turn, err := turns.enter(ctx, nil)
	if err != nil {
		var none V
		return none, err
	}
	defer turn.leave()
	most := s.options.Timeout
	if turns.gate.slots == 1 {
		most /= 2 // who waits for the only turn has the other half
	}
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	value, err := fault.Contained(func() (V, error) { return work(bounded) })
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return value, fmt.Errorf("survey, within the %s that one may take: %w", most, err)
	}
	return value, err
}
