package api

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/weight"
)

// bodies share what all bodies may take at once. Whoever asks, be it one user about many
// Applications or many users about one, holds at most half of it.
type bodies struct {
	budget *weight.Budget
	limit  int64

	guard sync.Mutex
	taken map[string]int64
}

func newBodies(limit int64) *bodies {
	return &bodies{budget: weight.NewBudget(limit), limit: limit, taken: map[string]int64{}}
}

// holding is what one body holds. It grows as the body comes: who sends slowly holds little.
type holding struct {
	of     *bodies
	askers []string
	bytes  int64
}

func (b *bodies) hold(caller argocd.Caller) *holding {
	askers := []string{"application " + caller.Application.String()}
	if caller.Username != "" {
		askers = append(askers, "user "+caller.Username)
	}
	return &holding{of: b, askers: askers}
}

// grow takes what is lacking to so many bytes.
func (h *holding) grow(to int64) error {
	b, further := h.of, to-h.bytes
	b.guard.Lock()
	defer b.guard.Unlock()
	for _, asker := range h.askers {
		// A first body may be of any size that is taken at all.
		if b.taken[asker] > h.bytes && b.taken[asker]+further > b.limit/2 {
			return busy(http.StatusTooManyRequests, "memory", fmt.Sprintf("your other bodies already take their half of the %d bytes that all may take together", b.limit))
		}
	}
	if b.budget.Take(further) != nil {
		return busy(http.StatusTooManyRequests, "memory", fmt.Sprintf("the bodies being read already take the %d bytes that all may take together", b.limit))
	}
	for _, asker := range h.askers {
		b.taken[asker] += further
	}
	h.bytes = to
	return nil
}

// release gives everything back.
func (h *holding) release() {
	b := h.of
	b.guard.Lock()
	defer b.guard.Unlock()
	b.budget.Give(h.bytes)
	for _, asker := range h.askers {
		if b.taken[asker] -= h.bytes; b.taken[asker] <= 0 {
			delete(b.taken, asker)
		}
	}
	h.bytes = 0
}
