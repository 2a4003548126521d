package report

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// cache keeps values up to a number of bytes; what was asked for longest ago goes
// first. It is safe for concurrent use.
type cache[V any] struct {
	limit int64

	guard  sync.Mutex
	bytes  int64
	order  *list.List // of *cached[V], the latest asked for in front
	places map[string]*list.Element
}

type cached[V any] struct {
	key   string
	value V
	bytes int64
}

func newCache[V any](limit int64) *cache[V] {
	return &cache[V]{limit: limit, order: list.New(), places: map[string]*list.Element{}}
}

// get returns a value, and whether it is kept.
func (c *cache[V]) get(key string) (V, bool) {
	c.guard.Lock()
	defer c.guard.Unlock()
	place, ok := c.places[key]
	if !ok {
		var none V
		return none, false
	}
	c.order.MoveToFront(place)
	return place.Value.(*cached[V]).value, true //nolint:forcetypeassert // the list holds nothing else
}

// put keeps a value in place of the one with its key. What is larger than the whole
// cache is not kept.
func (c *cache[V]) put(key string, value V, bytes int64) {
	c.guard.Lock()
	defer c.guard.Unlock()
	if place, ok := c.places[key]; ok {
		c.remove(place)
	}
	bytes += int64(len(key))
	if bytes > c.limit {
		return
	}
	c.places[key] = c.order.PushFront(&cached[V]{key: key, value: value, bytes: bytes})
	c.bytes += bytes
	for c.bytes > c.limit {
		c.remove(c.order.Back())
	}
}

func (c *cache[V]) remove(place *list.Element) {
	gone := c.order.Remove(place).(*cached[V]) //nolint:forcetypeassert // the list holds nothing else
	delete(c.places, gone.key)
	c.bytes -= gone.bytes
}

// flights let those who ask for the same share one answer. Who stops waiting leaves
// the others alone; when nobody waits any more, the work is told to end.
type flights[V any] struct {
	guard sync.Mutex
	calls map[string]*flight[V]
}

type flight[V any] struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int
	value   V
	err     error
}

func newFlights[V any]() *flights[V] { return &flights[V]{calls: map[string]*flight[V]{}} }

// do returns what run returns, for the first who asks and all who come meanwhile.
func (f *flights[V]) do(ctx context.Context, key string, run func(context.Context) (V, error)) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("wait for %s: %w", key, err)
	}
	call := f.join(ctx, key, run)
	select {
	case <-call.done:
		return call.value, call.err
	case <-ctx.Done():
		f.leave(key, call)
		return none, fmt.Errorf("wait for %s: %w", key, ctx.Err())
	}
}

// join finds the call, or makes it.
func (f *flights[V]) join(ctx context.Context, key string, run func(context.Context) (V, error)) *flight[V] {
	f.guard.Lock()
	defer f.guard.Unlock()
	if call, ok := f.calls[key]; ok {
		call.waiting++
		return call
	}
	// The work outlives the one who asked first.
	shared, cancel := context.WithCancel(context.WithoutCancel(ctx))
	call := &flight[V]{done: make(chan struct{}), cancel: cancel, waiting: 1}
	f.calls[key] = call
	go func() {
		defer cancel()
		value, err := protected(shared, run)
		f.guard.Lock()
		call.value, call.err = value, err
		f.forget(key, call)
		f.guard.Unlock()
		close(call.done)
	}()
	return call
}

// leave takes one away who waited.
func (f *flights[V]) leave(key string, call *flight[V]) {
	f.guard.Lock()
	defer f.guard.Unlock()
	if call.waiting--; call.waiting == 0 {
		call.cancel()
		f.forget(key, call) // who comes now must not get what was given up
	}
}

func (f *flights[V]) forget(key string, call *flight[V]) {
	if f.calls[key] == call {
		delete(f.calls, key)
	}
}

// PanicError is what is told of a panic: its kind and place. Its words may quote a value
// that nobody may read.
type PanicError struct {
	// Kind is the type of what was thrown.
	Kind string
	// Stack is where, without the values.
	Stack string
}

// Error is the kind.
func (e *PanicError) Error() string { return "make the report: unexpected panic of type " + e.Kind }

// protected makes an error of a panic, which would end the process for everybody.
func protected[V any](ctx context.Context, run func(context.Context) (V, error)) (value V, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &PanicError{Kind: fmt.Sprintf("%T", cause), Stack: string(debug.Stack())}
		}
	}()
	return run(ctx)
}

// gate lets some work at once, and some more wait.
type gate struct {
	slots chan struct{}
	queue chan struct{}
}

func newGate(workers, queue int) *gate {
	return &gate{slots: make(chan struct{}, workers), queue: make(chan struct{}, queue)}
}

// enter waits for a place, which leave gives back. It does not wait where as many
// wait as may.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case g.queue <- struct{}{}:
	default:
		return ErrBusy
	}
	defer func() { <-g.queue }()
	select {
	case g.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("%w: no turn came in time", ErrBusy)
		}
		return fmt.Errorf("wait for a turn: %w", ctx.Err())
	}
}

func (g *gate) leave() { <-g.slots }
