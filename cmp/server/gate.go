package server

import (
	"context"
	"errors"
	"fmt"
)

var (
	errQueueFull = errors.New("too many renders are running and waiting")
	errNoTurn    = errors.New("too many renders are running, and none ended in time")
)

// gate lets a bounded number of requests work at once and a bounded number
// wait for that. What waits costs no disk: its tarball is not read yet, and
// the transport's flow control holds it back at the sender.
type gate struct {
	working chan struct{} // one element for each request that works
	present chan struct{} // one for each that works or waits
}

func newGate(parallelism, queue int) *gate {
	return &gate{
		working: make(chan struct{}, parallelism),
		present: make(chan struct{}, parallelism+queue),
	}
}

// enter waits for a turn, no longer than ctx. On success the caller must call
// leave once.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.present <- struct{}{}:
	default:
		return errQueueFull
	}
	select {
	case g.working <- struct{}{}:
		return nil
	case <-ctx.Done():
		<-g.present
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return errNoTurn
		}
		return fmt.Errorf("wait for a turn: %w", ctx.Err())
	}
}

func (g *gate) leave() {
	<-g.working
	<-g.present
}

// load is how many requests work and how many wait.
func (g *gate) load() (working, waiting int) {
	working = len(g.working)
	return working, max(0, len(g.present)-working)
}
