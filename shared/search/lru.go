package search

import (
	"container/list"
	"sync"
)

// lru keeps values by key and forgets those used longest ago when their costs
// pass its bound. It suits values that never change. It is safe for concurrent use.
type lru[K comparable, V any] struct {
	mu    sync.Mutex
	bound int64
	cost  int64
	order *list.List // of *lruEntry, used last at the front
	byKey map[K]*list.Element
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
	cost  int64
}

func newLRU[K comparable, V any](bound int64) *lru[K, V] {
	return &lru[K, V]{bound: bound, order: list.New(), byKey: map[K]*list.Element{}}
}

func (c *lru[K, V]) get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*lruEntry[K, V]).value, true
}

// put keeps value unless it alone passes the bound.
func (c *lru[K, V]) put(key K, value V, cost int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || cost > c.bound {
		return
	}
	c.byKey[key] = c.order.PushFront(&lruEntry[K, V]{key, value, cost})
	c.cost += cost
	for c.cost > c.bound {
		c.forget(c.order.Back())
	}
}

// remove forgets key.
func (c *lru[K, V]) remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.forget(e)
	}
}

func (c *lru[K, V]) forget(e *list.Element) {
	entry := c.order.Remove(e).(*lruEntry[K, V])
	delete(c.byKey, entry.key)
	c.cost -= entry.cost
}
