package report

import (
	"context"
	"errors"
	"fmt"

	"github.com/moorpin/moorpin/extension/fault"
)

// detached does work in a turn of its own, so that who asks need not wait for its
// end. The turn is over when the work is, whoever waits.
func detached[V any](ctx context.Context, s *Service, turns entrance, work func(context.Context) (V, error)) (V, error) {
	var none V
	// Who waits ends the context, never the work: its end must not look like a cancellation.
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	turn, err := turns.enter(ctx, end)
	if err != nil {
		return none, err
	}
	type outcome struct {
		value V
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		defer turn.leave()
		value, err := fault.Contained(func() (V, error) { return work(ctx) })
		done <- outcome{value, err}
	}()
	o, ended := await(ctx, done)
	if ended && o.err == nil {
		return o.value, nil
	}
	if share, taken := errors.AsType[*ShareError](context.Cause(ctx)); taken {
		return none, fmt.Errorf("make the report: %w", share)
	}
	if ended {
		return o.value, o.err
	}
	return none, fmt.Errorf("make the report: %w", ctx.Err())
}

// await waits for what comes until ctx ends. What is there wins: of two that are ready,
// select takes any.
func await[V any](ctx context.Context, coming <-chan V) (V, bool) {
	select {
	case came := <-coming:
		return came, true
	case <-ctx.Done():
	}
	select {
	case came := <-coming:
		return came, true
	default:
		var none V
		return none, false
	}
}
