package api

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/weight"
)

// bodies share what all bodies, or all answers, may take at once. Whoever asks, be it one
// user about many Applications or many users about one, holds at most half of it, and all
// about one project leave an eighth to others.
type bodies struct {
	what   string
	budget *weight.Budget
	limit  int64

	guard sync.Mutex
	taken map[string]int64
}

func newBodies(what string, limit int64) *bodies {
	return &bodies{what: what, budget: weight.NewBudget(limit), limit: limit, taken: map[string]int64{}}
}

// holding is what one body holds. It grows as the body comes: who sends slowly holds little.
type holding struct {
	of     *bodies
	askers []share
	bytes  int64
}

// share is the most that somebody may hold: a user, an Application or a project.
type share struct {
	what, name string
	most       int64
}

func (s share) key() string { return s.what + " " + s.name }

func (b *bodies) hold(caller argocd.Caller) *holding {
	askers := []share{{"Application", caller.Application.String(), b.limit / 2}, {"project", caller.Project, b.limit - b.limit/8}}
	if caller.Username != "" {
		askers = append(askers, share{"user", caller.Username, b.limit / 2})
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
		if taken := b.taken[asker.key()]; taken > h.bytes && taken+further > asker.most {
			return busy(http.StatusTooManyRequests, "memory", fmt.Sprintf("the %s already take the share of this %s in the %d bytes that all may take together", b.what, asker.what, b.limit))
		}
	}
	if b.budget.Take(further) != nil {
		return busy(http.StatusTooManyRequests, "memory", fmt.Sprintf("the %s already take the %d bytes that all may take together", b.what, b.limit))
	}
	for _, asker := range h.askers {
		b.taken[asker.key()] += further
	}
	h.bytes = to
	return nil
}

// smallAnswer is how large an answer is that is always sent: the kernel has it at once.
const smallAnswer = 64 << 10

// holdAnswer takes what an answer holds, no less and no more.
func (h *holding) holdAnswer(answer *reply) error {
	if answer.kept {
		h.shrink(0)
		return nil
	}
	return h.holdSize(len(answer.body))
}

// holdSize is the same for an answer that is not there yet.
func (h *holding) holdSize(bytes int) error {
	to := int64(bytes)
	if bytes <= smallAnswer {
		to = 0
	}
	if to > h.bytes {
		return h.grow(to)
	}
	h.shrink(to)
	return nil
}

// release gives everything back.
func (h *holding) release() { h.shrink(0) }

// shrink gives back what is more than so many bytes.
func (h *holding) shrink(to int64) {
	b, less := h.of, h.bytes-to
	b.guard.Lock()
	defer b.guard.Unlock()
	b.budget.Give(less)
	for _, asker := range h.askers {
		key := asker.key()
		if b.taken[key] -= less; b.taken[key] <= 0 {
			delete(b.taken, key)
		}
	}
	h.bytes = to
}
