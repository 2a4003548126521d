package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/moorpin/moorpin/extension/fault"
	"github.com/moorpin/moorpin/pkg/drift"
)

func TestCacheIsBounded(t *testing.T) {
	c := newCache[int](100)
	for i := range 1000 {
		c.put(fmt.Sprintf("%03d", i), i, 17) // 20 with its key
	}
	if c.bytes != 100 || c.order.Len() != 5 || len(c.places) != 5 {
		t.Errorf("holds %d bytes, %d values, %d keys", c.bytes, c.order.Len(), len(c.places))
	}
	if _, ok := c.get("994"); ok {
		t.Error("an old value is still there")
	}
	if value, ok := c.get("995"); !ok || value != 995 {
		t.Errorf("have %d, %v", value, ok)
	}
	c.put("new", 1, 17)
	if _, ok := c.get("995"); !ok {
		t.Error("what was asked for just now had to go")
	}
	if _, ok := c.get("996"); ok {
		t.Error("what nobody asked for stays")
	}
	c.put("new", 2, 37)
	if value, _ := c.get("new"); value != 2 || c.bytes != 100 {
		t.Errorf("the second value is %d, with %d bytes in all", value, c.bytes)
	}
	c.put("new", 3, 1000)
	if _, ok := c.get("new"); ok || c.bytes > 100 {
		t.Error("a value larger than the cache, or the old one in its place, is there")
	}
}

func TestCacheConcurrently(t *testing.T) {
	c := newCache[string](1000)
	var running sync.WaitGroup
	for worker := range 8 {
		running.Go(func() {
			for i := range 2000 {
				key := fmt.Sprint((i*7 + worker) % 100)
				if value, ok := c.get(key); ok && value != "value of "+key {
					t.Errorf("%s has the %s", key, value)
				}
				c.put(key, "value of "+key, int64(i%50))
			}
		})
	}
	running.Wait()
	if sum := c.sum(); sum != c.bytes || sum > 1000 {
		t.Errorf("counts %d bytes, holds %d", c.bytes, sum)
	}
}

func (c *cache[V]) sum() int64 {
	var sum int64
	for place := c.order.Front(); place != nil; place = place.Next() {
		sum += place.Value.(*cached[V]).bytes
	}
	return sum
}

func TestAPanicIsAnError(t *testing.T) {
	f := newFlights[int]()
	_, err := f.do(t.Context(), "k", func(context.Context) (int, error) { panic("hostile") })
	broken, ok := errors.AsType[*fault.PanicError](err)
	if !ok || broken.Kind != "string" || !strings.Contains(broken.Stack, "cache_test.go") {
		t.Errorf("have %v", err)
	}
	if ok && strings.Contains(broken.Error()+broken.Stack, "hostile") {
		t.Errorf("the words of the panic, which may be a value, got out: %v\n%s", broken, broken.Stack)
	}
	if value, err := f.do(t.Context(), "k", func(context.Context) (int, error) { return 7, nil }); err != nil || value != 7 {
		t.Errorf("afterwards: %d, %v", value, err)
	}
}

func TestFlightsManyTimes(t *testing.T) {
	f := newFlights[int]()
	var running sync.WaitGroup
	for worker := range 16 {
		running.Go(func() {
			for i := range 300 {
				ctx, cancel := context.WithCancel(t.Context())
				if (worker+i)%3 == 0 {
					cancel()
				}
				value, err := f.do(ctx, fmt.Sprint(i%5), func(ctx context.Context) (int, error) { return i % 5, ctx.Err() })
				if err == nil && value != i%5 || err != nil && ctx.Err() == nil {
					t.Errorf("%d: %d, %v", i, value, err)
				}
				cancel()
			}
		})
	}
	running.Wait()
	if len(f.calls) != 0 {
		t.Errorf("%d calls are left", len(f.calls))
	}
}

// TestAPanicOfTheClassificationIsOurs holds that no sender is blamed for a panic, and
// that the log learns where it was.
func TestAPanicOfTheClassificationIsOurs(t *testing.T) {
	_, err := fault.Contained(func() (int, error) {
		return 0, unreadable(t.Context(), fmt.Errorf("x: %w", &drift.PanicError{Thrown: "string", Stack: []byte("there")}))
	})
	if broken, ok := errors.AsType[*fault.PanicError](err); !ok || broken.Stack != "there" || errors.Is(err, ErrSnapshot) {
		t.Errorf("have %v, want a panic with its place", err)
	}
}
