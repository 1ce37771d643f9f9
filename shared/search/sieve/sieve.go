// Package sieve is a cache in memory: it keeps values that never change, up to a bound.
package sieve

import (
	"sync"
	"sync/atomic"
)

// Cache keeps values by key. When the sum of their costs exceeds its bound, it forgets by the rule SIEVE: entries are
// passed from the oldest to the newest, and the first that was not used since it was last passed is forgotten. So using an
// entry only marks it. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex
	bound  int64
	cost   int64
	byKey  map[K]*Entry[K, V]
	oldest *Entry[K, V]
	newest *Entry[K, V]
	next   *Entry[K, V] // the next to be passed; nil: the oldest
}

// Entry is a value that a Cache keeps, until it forgets it. Who holds on to an Entry keeps its value from no one, and
// finds it without looking for its key.
type Entry[K comparable, V any] struct {
	key    K
	cost   int64
	value  atomic.Pointer[V] // nil once forgotten
	used   atomic.Bool
	before *Entry[K, V] // the next older
	after  *Entry[K, V] // the next newer
}

// Value returns the value, or false if it is forgotten. A nil Entry has none.
func (e *Entry[K, V]) Value() (value V, ok bool) {
	if e == nil {
		return value, false
	}
	v := e.value.Load()
	if v == nil {
		return value, false
	}
	if !e.used.Load() {
		e.used.Store(true)
	}
	return *v, true
}

// New returns an empty Cache with this bound.
func New[K comparable, V any](bound int64) *Cache[K, V] {
	return &Cache[K, V]{bound: bound, byKey: map[K]*Entry[K, V]{}}
}

// Entry returns the entry of key, or nil if the key is not kept.
func (c *Cache[K, V]) Entry(key K) *Entry[K, V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byKey[key]
}

// Get returns the value of key and whether it is kept.
func (c *Cache[K, V]) Get(key K) (V, bool) { return c.Entry(key).Value() }

// Put keeps value. It does nothing if key is already kept or the cost exceeds the bound. It returns the entry of
// key, or nil if there is none.
func (c *Cache[K, V]) Put(key K, value V, cost int64) *Entry[K, V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil || cost > c.bound {
		return e
	}
	for c.cost+cost > c.bound {
		c.forgetOne()
	}
	e := &Entry[K, V]{key: key, cost: cost, before: c.newest}
	e.value.Store(&value)
	if c.newest != nil {
		c.newest.after = e
	} else {
		c.oldest = e
	}
	c.newest = e
	c.byKey[key] = e
	c.cost += cost
	return e
}

// Remove forgets key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.forget(e)
	}
}

// Cost returns the sum of the costs of what is kept.
func (c *Cache[K, V]) Cost() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cost
}

// forgetOne forgets the first entry that was not used since it was passed. After one round it forgets any, so that
// others who use entries at the same time cannot keep it going.
func (c *Cache[K, V]) forgetOne() {
	e := c.next
	for range len(c.byKey) {
		if e == nil {
			e = c.oldest
		}
		if !e.used.Swap(false) {
			break
		}
		e = e.after
	}
	if e == nil {
		e = c.oldest
	}
	c.next = e.after
	c.forget(e)
}

func (c *Cache[K, V]) forget(e *Entry[K, V]) {
	if e.before != nil {
		e.before.after = e.after
	} else {
		c.oldest = e.after
	}
	if e.after != nil {
		e.after.before = e.before
	} else {
		c.newest = e.before
	}
	if c.next == e {
		c.next = e.after
	}
	e.before, e.after = nil, nil
	delete(c.byKey, e.key)
	c.cost -= e.cost
	e.value.Store(nil)
}
