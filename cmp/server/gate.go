package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/moorpin/moorpin/cmp/receive"
)

var (
	errQueueFull = errors.New("too many renders are running and waiting")
	errNoTurn    = errors.New("too many renders are running, and none ended in time")
	errGaveWay   = errors.New("too many renders are waiting, and those of this Application or its project are the most")
	errHeavy     = errors.New("the parameters and variables of the renders that wait take too much memory, and those of this Application or its project the most")
)

// maxWaitingBytes bounds the metadata of all requests that wait; usually it has some
// 50 KB. One request of the largest size that is taken may always wait.
const maxWaitingBytes = 64 << 20

// gate lets a bounded number of requests work at once and a bounded number wait for
// that, and shares both among Applications, then among projects.
//
// Turns: an Application never holds more than half of them (but one), whether others
// wait or not, because a turn that is given cannot be taken back, and one that never
// ends would keep those out who come a moment later. For the same reason a project
// never holds all turns but one where others have been heard of lately; where there is
// one project alone, the last turn would be kept for nobody. Applications that used up
// a whole deadline lately, or took long more than once, share one half among them all,
// and come after the others. Beside that whoever holds the fewest turns is next, then whose project
// does, then whose project and who itself got its last turn earlier, then who came
// earlier.
//
// Queue: when it is full, the newest request of the Application with the most gives
// way to a newcomer with fewer; and so for projects, and for bytes.
//
// What waits costs no disk, and of the memory its metadata alone: its tarball is not
// read yet, and the transport's flow control holds it back at the sender.
type gate struct {
	parallelism, queue int
	bytes              int64

	mu      sync.Mutex
	past    history
	others  neighbours
	working []*turn
	waiting []*waiter // in the order in which they came
	turns   int       // given so far
}

// turn is the right to work.
type turn struct {
	gate  *gate
	who   tenant
	late  bool
	asked time.Time
	began time.Time
	// deadline is when the request's time is over, zero without one.
	deadline time.Time
}

// waiter is a request that waits.
type waiter struct {
	who   tenant
	bytes int64
	asked time.Time
	// deadline is when the request's time is over, zero without one.
	deadline time.Time
	// told gets one answer: a turn, or why there is none.
	told chan answer
}

type answer struct {
	turn *turn
	err  error
}

func newGate(options Options) *gate {
	return &gate{
		parallelism: options.Parallelism, queue: options.Queue,
		bytes: max(maxWaitingBytes, options.Limits.MetadataBytes),
	}
}

// enter waits for a turn, for most of the time that ctx has left. On success the caller
// must call leave once.
func (g *gate) enter(ctx context.Context, metadata receive.Metadata) (*turn, error) {
	deadline, _ := ctx.Deadline()
	ctx, cancel := patience(ctx)
	defer cancel()
	one := g.admit(tenantOf(metadata), metadata.Bytes, deadline)
	select {
	case told := <-one.told:
		return told.turn, told.err
	case <-ctx.Done():
	}
	if told, ok := g.withdraw(one); ok {
		return told.turn, told.err
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, errNoTurn
	}
	return nil, fmt.Errorf("wait for a turn: %w", ctx.Err())
}

// admit queues a newcomer, gives out what turns there are, and makes room.
func (g *gate) admit(who tenant, bytes int64, deadline time.Time) *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := &waiter{who: who, bytes: bytes, asked: time.Now(), deadline: deadline, told: make(chan answer, 1)}
	g.waiting = append(g.waiting, one)
	g.others.hear(who.project, one.asked)
	g.give(one.asked)
	for len(g.waiting) > g.queue {
		g.dismiss(one, errQueueFull, errGaveWay, func(*waiter) int64 { return 1 })
	}
	for g.waitingBytes() > g.bytes {
		g.dismiss(one, errHeavy, errHeavy, func(w *waiter) int64 { return w.bytes })
	}
	return one
}

// withdraw ends the wait, unless an answer came first: an answer is never lost.
func (g *gate) withdraw(one *waiter) (answer, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case told := <-one.told:
		return told, true
	default:
	}
	g.remove(one)
	return answer{}, false
}

// leaveAfter gives the turn back once what it left on disk is gone. Until then it has its
// place there, and removing a million files takes longer than writing them: who is
// answered soon and leaves much would else keep others from the places of its past turns.
func (t *turn) leaveAfter(gone <-chan struct{}, usedUp bool) {
	select {
	case <-gone:
		t.leave(usedUp)
	default:
		go func() {
			<-gone
			t.leave(usedUp)
		}()
	}
}

// leave gives the turn back. usedUp says that a bound of time ended the work.
func (t *turn) leave(usedUp bool) {
	g := t.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.working = slices.DeleteFunc(g.working, func(each *turn) bool { return each == t })
	now := time.Now()
	g.past.ended(t.who, t.effort(usedUp, now), now)
	g.give(now)
}

// effort says how much of its time the turn took. Who waited for most of it is not to
// blame.
func (t *turn) effort(usedUp bool, now time.Time) effort {
	took := now.Sub(t.began)
	switch {
	case took < t.began.Sub(t.asked):
		return light
	case usedUp:
		return whole
	case !t.deadline.IsZero() && took > t.deadline.Sub(t.asked)/2:
		return long
	default:
		return light
	}
}

// load is how many requests work and how many wait.
func (g *gate) load() (working, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.working), len(g.waiting)
}

// give hands out turns until there are none, or nobody who may have one.
func (g *gate) give(now time.Time) {
	for len(g.working) < g.parallelism {
		next, found := g.next(now)
		if !found {
			return
		}
		g.remove(next)
		g.turns++
		g.past.served(next.who, g.turns)
		given := &turn{gate: g, who: next.who, late: g.past.late(next.who, now), asked: next.asked, began: now, deadline: next.deadline}
		g.working = append(g.working, given)
		next.told <- answer{turn: given}
	}
}

// next is the waiter whose turn it is. The first of equal ones came first.
func (g *gate) next(now time.Time) (next *waiter, found bool) {
	var least rank
	for _, each := range g.waiting {
		if !g.mayWork(each, now) {
			continue
		}
		if rank := g.rank(each, now); !found || slices.Compare(rank[:], least[:]) < 0 {
			next, least, found = each, rank, true
		}
	}
	return next, found
}

// mayWork says whether a turn would be within the tenant's share.
func (g *gate) mayWork(one *waiter, now time.Time) bool {
	share := max(1, g.parallelism/2)
	if g.others.heardOf(one.who.project, now) && g.count(func(t *turn) bool { return t.who.project == one.who.project }) >= max(1, g.parallelism-1) {
		return false
	}
	if g.count(func(t *turn) bool { return t.who == one.who }) >= share {
		return false
	}
	return !g.past.late(one.who, now) || g.count(func(t *turn) bool { return t.late }) < share
}

// rank orders waiters, the least first.
type rank [5]int

func (g *gate) rank(one *waiter, now time.Time) rank {
	late := 0
	if g.past.late(one.who, now) {
		late = 1
	}
	return rank{
		late,
		g.count(func(t *turn) bool { return t.who == one.who }),
		g.count(func(t *turn) bool { return t.who.project == one.who.project }),
		g.past.of(one.who.whole()).lastTurn,
		g.past.of(one.who).lastTurn,
	}
}

func (g *gate) count(has func(*turn) bool) int {
	count := 0
	for _, each := range g.working {
		if has(each) {
			count++
		}
	}
	return count
}

// dismiss removes one waiter: the newest of whoever has more of the queue than the
// newcomer, itself included, or else the newcomer.
func (g *gate) dismiss(newcomer *waiter, newcomers, others error, weigh func(*waiter) int64) {
	leaves, why := newcomer, newcomers
	if crowd, found := g.crowd(newcomer, weigh); found {
		leaves, why = crowd, others
	}
	g.remove(leaves)
	leaves.told <- answer{err: why}
}

// crowd is the newest waiter of the Application, or else the project, that has the
// most of the queue, unless that is the newcomer's own.
func (g *gate) crowd(newcomer *waiter, weigh func(*waiter) int64) (crowd *waiter, found bool) {
	for _, group := range []func(*waiter) tenant{
		func(w *waiter) tenant { return w.who },
		func(w *waiter) tenant { return w.who.whole() },
	} {
		sums := map[tenant]int64{}
		for _, each := range g.waiting {
			sums[group(each)] += weigh(each)
		}
		most := sums[group(newcomer)]
		for _, each := range slices.Backward(g.waiting) {
			if sum := sums[group(each)]; sum > most {
				crowd, most, found = each, sum, true
			}
		}
		if found {
			return crowd, true
		}
	}
	return nil, false
}

func (g *gate) waitingBytes() int64 {
	sum := int64(0)
	for _, each := range g.waiting {
		sum += each.bytes
	}
	return sum
}

func (g *gate) remove(one *waiter) {
	g.waiting = slices.DeleteFunc(g.waiting, func(each *waiter) bool { return each == one })
}
