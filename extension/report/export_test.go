package report

import (
	"context"

	"github.com/moorpin/moorpin/pkg/argocd"
)

// Waiting is how many wait for the report of an Application.
func Waiting(s *Service, ref argocd.Ref) int {
	s.reports.guard.Lock()
	defer s.reports.guard.Unlock()
	call, ok := s.reports.calls[ref.String()]
	if !ok {
		return 0
	}
	return call.waiting
}

// Full tells that no more collections may wait.
func Full(s *Service) bool {
	s.collecting.guard.Lock()
	defer s.collecting.guard.Unlock()
	return len(s.collecting.waiting) == s.collecting.queue
}

// Detached runs work as a report is made, in a turn of the classifications.
func Detached(ctx context.Context, s *Service, work func(context.Context) (int, error)) (int, error) {
	return DetachedFor(ctx, s, Posted{}, work)
}

// DetachedFor is the same for somebody.
func DetachedFor(ctx context.Context, s *Service, of Posted, work func(context.Context) (int, error)) (int, error) {
	return detached(ctx, s, s.classifying.of(Question{Posted: of}.askerOf()), work)
}

// InTurn runs work as a scan does.
func InTurn(ctx context.Context, s *Service, name string, work func(context.Context) (int, error)) (int, error) {
	return inTurn(ctx, s, s.classifying.of(asker{application: name, scan: true}), work)
}

// Queued is how many wait to be classified.
func Queued(s *Service) int {
	s.classifying.guard.Lock()
	defer s.classifying.guard.Unlock()
	return len(s.classifying.waiting)
}

// Shared runs work as a report is made that others may ask for meanwhile.
func Shared(ctx context.Context, work func(context.Context) (int, error)) (int, error) {
	return newFlights[int]().do(ctx, "shop", work)
}

// Taken is the memory that collecting takes now.
func Taken(s *Service) int64 { return s.memory.Taken() }

// Await waits as everybody here does.
func Await(ctx context.Context, coming <-chan int) (int, bool) { return await(ctx, coming) }
