package report

import (
	"container/list"
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
