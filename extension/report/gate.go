package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

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
// user has sent, whether others wait or not, so that others need not wait for its share to
// end. Scans hold all but one at most, and come after all others. Whoever holds the fewest
// turns is next, then whose project does, then who got its last turn earlier, then who
// came earlier.
//
// Taking back: a project that has all the turns that are no scan's gives back the one that
// it has had for longest, once that is longer than share, when another project waits.
//
// Queue: when it is full, the newest of the Application with the most in it gives way to
// a newcomer with fewer, and so for users and for projects.
type gate struct {
	slots, queue int
	// share is how long a turn is anybody's; 0 is for ever.
	share time.Duration

	guard   sync.Mutex
	working []*turn   // in the order in which they were given
	waiting []*waiter // in the order in which they came
	turns   int       // given so far
	last    map[string]int
}

// turn is one that is given, and can be taken back where there is a way to end its work.
type turn struct {
	gate  *gate
	who   asker
	end   context.CancelCauseFunc
	since time.Time
	// due looks at it once its share is over; ending tells that it is being taken back.
	due    *time.Timer
	ending bool
}

// waiter gets one answer: nil for a turn, or why there is none.
type waiter struct {
	turn *turn
	told chan error
}

// ShareError says that work was ended because its project had all the turns for longer
// than its share, while another project waited.
type ShareError struct{ Share time.Duration }

// Error is the sentence for people.
func (e *ShareError) Error() string {
	return fmt.Sprintf("it took more than %s, its project had all the turns, and another project waited", e.Share)
}

// entrance is where an asker enters.
type entrance struct {
	gate *gate
	who  asker
}

// remembered bounds the Applications whose last turn is known.
const remembered = 4096

func newGate(slots, queue int, share time.Duration) *gate {
	return &gate{slots: slots, queue: queue, share: share, last: map[string]int{}}
}

func (g *gate) of(who asker) entrance { return entrance{g, who} }

// enter waits for a turn, which leave gives back. Where end is given, it ends the work of
// a turn that is taken back; it has to be left all the same.
func (e entrance) enter(ctx context.Context, end context.CancelCauseFunc) (*turn, error) {
	one := e.gate.admit(&turn{gate: e.gate, who: e.who, end: end})
	select {
	case err := <-one.told:
		return one.turn, err
	case <-ctx.Done():
	}
	if !e.gate.withdraw(one) {
		return one.turn, <-one.told
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w: no turn came in time", ErrBusy)
	}
	return nil, fmt.Errorf("wait for a turn: %w", ctx.Err())
}

// leave gives the turn back.
func (t *turn) leave() {
	g := t.gate
	g.guard.Lock()
	defer g.guard.Unlock()
	if t.due != nil {
		t.due.Stop()
	}
	g.working = slices.DeleteFunc(g.working, func(each *turn) bool { return each == t })
	g.give()
}

// admit queues a newcomer, gives out what turns there are, and makes room.
func (g *gate) admit(newcomer *turn) *waiter {
	g.guard.Lock()
	defer g.guard.Unlock()
	one := &waiter{turn: newcomer, told: make(chan error, 1)}
	g.waiting = append(g.waiting, one)
	g.give()
	if len(g.waiting) > g.queue {
		leaves := g.crowd(one)
		g.remove(leaves)
		leaves.told <- ErrBusy
	}
	g.takeBack()
	return one
}

// takeBack ends the oldest turn of a project that has them all, if its share is over and
// another project waits. One is ended at a time.
func (g *gate) takeBack() {
	var oldest *turn
	for _, each := range g.working {
		switch {
		case each.ending || oldest != nil && !each.who.scan && each.who.project != oldest.who.project:
			return
		case oldest == nil && !each.who.scan:
			oldest = each
		}
	}
	if g.share <= 0 || len(g.working) < g.slots || oldest == nil || oldest.end == nil || time.Since(oldest.since) < g.share {
		return
	}
	if slices.ContainsFunc(g.waiting, func(w *waiter) bool { return !w.turn.who.scan && w.turn.who.project != oldest.who.project }) {
		oldest.ending = true
		oldest.end(&ShareError{Share: g.share})
	}
}

// given starts the time of a turn.
func (g *gate) given(t *turn) {
	g.working = append(g.working, t)
	t.since = time.Now()
	if g.share > 0 && t.end != nil {
		t.due = time.AfterFunc(g.share, func() {
			g.guard.Lock()
			defer g.guard.Unlock()
			g.takeBack()
		})
	}
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
		g.given(next.turn)
		if g.turns++; len(g.last) >= remembered {
			clear(g.last)
		}
		g.last[next.turn.who.application] = g.turns
		next.told <- nil
	}
}

// next is the waiter whose turn it is. The first of equal ones came first.
func (g *gate) next() (next *waiter, found bool) {
	var least [4]int
	for _, each := range g.waiting {
		if !g.mayWork(each.turn.who) {
			continue
		}
		if rank := g.rank(each.turn.who); !found || slices.Compare(rank[:], least[:]) < 0 {
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
		if has(each.who) {
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
		func(a asker) string { return fmt.Sprint(a.scan && !newcomer.turn.who.scan) },
		func(a asker) string { return a.application },
		asker.sender,
		func(a asker) string { return a.project },
	} {
		sums := map[string]int{}
		for _, each := range g.waiting {
			sums[group(each.turn.who)]++
		}
		most := sums[group(newcomer.turn.who)]
		for _, each := range slices.Backward(g.waiting) {
			if sum := sums[group(each.turn.who)]; sum > most {
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
