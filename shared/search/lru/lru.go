// Package lru keeps values that never change in memory, up to a bound.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps values by key. It forgets the least recently used ones when the sum of
// their costs exceeds its bound. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	bound int64
	cost  int64
	order *list.List // of *entry, most recently used first
	byKey map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	cost  int64
}

// New returns an empty Cache with this bound.
func New[K comparable, V any](bound int64) *Cache[K, V] {
	return &Cache[K, V]{bound: bound, order: list.New(), byKey: map[K]*list.Element{}}
}

// Get returns the value of key and whether it is kept.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put keeps value. It does nothing if key is already kept or the cost exceeds the bound.
func (c *Cache[K, V]) Put(key K, value V, cost int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || cost > c.bound {
		return
	}
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, value, cost})
	c.cost += cost
	for c.cost > c.bound {
		c.forget(c.order.Back())
	}
}

// Remove forgets key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.forget(e)
	}
}

// Cost returns the sum of the costs of what is kept.
func (c *Cache[K, V]) Cost() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cost
}

func (c *Cache[K, V]) forget(e *list.Element) {
	old := c.order.Remove(e).(*entry[K, V])
	delete(c.byKey, old.key)
	c.cost -= old.cost
}
