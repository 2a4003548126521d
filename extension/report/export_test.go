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
func Full(s *Service) bool { return len(s.collecting.queue) == cap(s.collecting.queue) }

// Detached runs work as a report is made, in a turn of the classifications.
func Detached(ctx context.Context, s *Service, work func(context.Context) (int, error)) (int, error) {
	return detached(ctx, s, s.classifying, work)
}

// Shared runs work as a report is made that others may ask for meanwhile.
func Shared(ctx context.Context, work func(context.Context) (int, error)) (int, error) {
	return newFlights[int]().do(ctx, "shop", work)
}

// Taken is the memory that collecting takes now.
func Taken(s *Service) int64 { return s.memory.Taken() }

// Await waits as everybody here does.
func Await(ctx context.Context, coming <-chan int) (int, bool) { return await(ctx, coming) }
