package worker

import "github.com/moorpin/moorpin/extension/report"

// Serve runs a child with another classifier.
func Serve(classifier report.Classifier) int { return serve(classifier) }

// Idle are the children that have nothing to do.
func Idle(p *Pool) int {
	p.guard.Lock()
	defer p.guard.Unlock()
	return len(p.idle)
}
