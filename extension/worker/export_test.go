package worker

import (
	"log/slog"

	"github.com/moorpin/moorpin/extension/report"
)

// Serve runs a child with another classifier.
func Serve(classifier report.Classifier) int { return serve(classifier) }

// Idle are the children that have nothing to do.
func Idle(p *Pool) int {
	p.guard.Lock()
	defer p.guard.Unlock()
	return len(p.idle)
}

// Folders makes a process's folder below another.
func Folders(below string) (string, func() error, error) {
	own, err := newFolders(below, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", nil, err
	}
	return own.path, own.close, nil
}
