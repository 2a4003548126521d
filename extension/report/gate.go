package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// asker is for whom work is done: an Application, and the project that it is in where
// that is known. User is who sent what it is about; nobody did where it was collected,
// which is shared by all who ask. A scan asks for nobody who waits.
type asker struct {
	application, project, user string
	scan                       bool
}

// sender is the user or, where nobody is known to have sent anything, the Application.
func (a asker) sender() string {
	if a.user != "" {
		return "user " + a.user
	}
	return "application " + a.application
}

func askerOf(ref argocd.Ref) asker { return asker{application: ref.String()} }

// askerOf is whose snapshot the question is about.
func (q Question) askerOf() asker {
	if q.Posted.Document != nil {
		return asker{application: q.Posted.Of.Application.String(), project: q.Posted.Of.Project, user: q.Posted.By}
	}
	return ofSnapshot(q.Snapshot)
}

func ofSnapshot(s *drift.Snapshot) asker {
	if s == nil {
		return asker{}
	}
	metadata, _ := s.Application["metadata"].(map[string]any)
	ref := argocd.Ref{Namespace: str(metadata, "namespace"), Name: str(metadata, "name")}
	return asker{application: ref.String(), project: projectOf(s.Application)}
}

// gate lets some work at once and some more wait, and shares both among askers.
//
// Turns: an Application never holds more than half of them (but one), nor does what one
// user has sent, whether others wait or not, because a turn that is given cannot be taken
// back. Scans hold all but one at most, and come after all others. Whoever holds the
// fewest turns is next, then whose project does, then who got its last turn earlier, then
// who came earlier.
//
// Queue: when it is full, the newest of the Application with the most in it gives way to
// a newcomer with fewer, and so for users and for projects.
type gate struct {
	slots, queue int

	guard   sync.Mutex
	working []asker
	waiting []*waiter // in the order in which they came
	turns   int       // given so far
	last    map[string]int
}

// waiter gets one answer: nil for a turn, or why there is none.
type waiter struct {
	who  asker
	told chan error
}

// entrance is where an asker enters.
type entrance struct {
	gate *gate
	who  asker
}

// remembered bounds the Applications whose last turn is known.
const remembered = 4096

func newGate(slots, queue int) *gate {
	return &gate{slots: slots, queue: queue, last: map[string]int{}}
}

func (g *gate) of(who asker) entrance { return entrance{g, who} }

// enter waits for a turn, which leave gives back.
func (e entrance) enter(ctx context.Context) error {
	one := e.gate.admit(e.who)
	select {
	case err := <-one.told:
		return err
	case <-ctx.Done():
	}
	if !e.gate.withdraw(one) {
		return <-one.told
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: no turn came in time", ErrBusy)
	}
	return fmt.Errorf("wait for a turn: %w", ctx.Err())
}

// leave gives the turn back.
func (e entrance) leave() {
	g := e.gate
	g.guard.Lock()
	defer g.guard.Unlock()
	if i := slices.Index(g.working, e.who); i >= 0 {
		g.working = slices.Delete(g.working, i, i+1)
	}
	g.give()
}

// admit queues a newcomer, gives out what turns there are, and makes room.
func (g *gate) admit(who asker) *waiter {
	g.guard.Lock()
	defer g.guard.Unlock()
	one := &waiter{who: who, told: make(chan error, 1)}
	g.waiting = append(g.waiting, one)
	g.give()
	if len(g.waiting) > g.queue {
		leaves := g.crowd(one)
		g.remove(leaves)
		leaves.told <- ErrBusy
	}
	return one
}

// withdraw ends the wait, unless an answer came first: an answer is never lost.
func (g *gate) withdraw(one *waiter) bool {
	g.guard.Lock()
	defer g.guard.Unlock()
	if len(one.told) > 0 {
		return false
	}
	g.remove(one)
	return true
}

// give hands out turns until there are none, or nobody who may have one.
func (g *gate) give() {
	for len(g.working) < g.slots {
		next, ok := g.next()
		if !ok {
			return
		}
		g.remove(next)
		g.working = append(g.working, next.who)
		if g.turns++; len(g.last) >= remembered {
			clear(g.last)
		}
		g.last[next.who.application] = g.turns
		next.told <- nil
	}
}

// next is the waiter whose turn it is. The first of equal ones came first.
func (g *gate) next() (next *waiter, found bool) {
	var least [4]int
	for _, each := range g.waiting {
		if !g.mayWork(each.who) {
			continue
		}
		if rank := g.rank(each.who); !found || slices.Compare(rank[:], least[:]) < 0 {
			next, least, found = each, rank, true
		}
	}
	return next, found
}

// mayWork says whether a turn would be within the asker's share.
func (g *gate) mayWork(who asker) bool {
	if who.scan && g.count(func(a asker) bool { return a.scan }) >= max(1, g.slots-1) {
		return false
	}
	share := max(1, g.slots/2)
	return g.count(func(a asker) bool { return a.application == who.application }) < share &&
		(who.user == "" || g.count(func(a asker) bool { return a.user == who.user }) < share)
}

// rank orders askers, the least first.
func (g *gate) rank(who asker) [4]int {
	scan := 0
	if who.scan {
		scan = 1
	}
	return [4]int{
		scan,
		g.count(func(a asker) bool { return a.application == who.application }),
		g.count(func(a asker) bool { return a.project == who.project }),
		g.last[who.application],
	}
}

func (g *gate) count(has func(asker) bool) int {
	count := 0
	for _, each := range g.working {
		if has(each) {
			count++
		}
	}
	return count
}

// crowd is who gives way to a newcomer: the newest scan, then the newest of the
// Application, or else the project, that has more of the queue than the newcomer's own,
// or else the newcomer.
func (g *gate) crowd(newcomer *waiter) *waiter {
	crowd := newcomer
	for _, group := range []func(asker) string{
		func(a asker) string { return fmt.Sprint(a.scan && !newcomer.who.scan) },
		func(a asker) string { return a.application },
		asker.sender,
		func(a asker) string { return a.project },
	} {
		sums := map[string]int{}
		for _, each := range g.waiting {
			sums[group(each.who)]++
		}
		most := sums[group(newcomer.who)]
		for _, each := range slices.Backward(g.waiting) {
			if sum := sums[group(each.who)]; sum > most {
				crowd, most = each, sum
			}
		}
		if crowd != newcomer {
			return crowd
		}
	}
	return newcomer
}

func (g *gate) remove(one *waiter) {
	g.waiting = slices.DeleteFunc(g.waiting, func(each *waiter) bool { return each == one })
}
