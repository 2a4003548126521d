package report

import (
	"context"
	"fmt"
	"sync"

	"github.com/moorpin/moorpin/extension/fault"
)

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
	if _, ended := await(ctx, call.done); ended {
		return call.value, call.err
	}
	f.leave(key, call)
	return none, fmt.Errorf("wait for %s: %w", key, ctx.Err())
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
		value, err := fault.Contained(func() (V, error) { return run(shared) })
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
