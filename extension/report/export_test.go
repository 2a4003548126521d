package report

import "github.com/moorpin/moorpin/pkg/argocd"

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
