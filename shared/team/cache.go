package team

import (
	"container/list"
	"sync"
	"time"
)

// knownFor is how long a key is trusted as it was read. The read may have been a
// second behind, which together keeps the promise of 10 seconds.
const knownFor = 9 * time.Second

// maxKnown bounds the keys in memory.
const maxKnown = 4096

// known is a key, and for a personal one its user, as they were read.
type known struct {
	key  record
	user User
}

// cache holds the keys that were accepted lately. Refused ones are not kept, so
// guessing cannot fill it. The zero cache is empty and ready.
type cache struct {
	mu     sync.Mutex
	byID   map[string]*list.Element // of *cached
	oldest list.List                // the one read longest ago comes first
}

type cached struct {
	known
	readAt, touchedAt time.Time
}

func (c *cache) get(id string, now time.Time) (known, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.byID[id]
	if !ok {
		return known{}, false
	}
	e := element.Value.(*cached)
	if age := now.Sub(e.readAt); age < 0 || age >= knownFor {
		return known{}, false
	}
	return e.known, true
}

// put keeps k, read at the time readAt or later. It drops the key that was read
// longest ago when there are too many.
func (c *cache) put(k known, readAt time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &cached{known: k, readAt: readAt}
	if element, ok := c.byID[k.key.id]; ok {
		e.touchedAt = element.Value.(*cached).touchedAt
		element.Value = e
		c.oldest.MoveToBack(element)
		return
	}
	if c.byID == nil {
		c.byID = map[string]*list.Element{}
	}
	if len(c.byID) == maxKnown {
		dropped := c.oldest.Remove(c.oldest.Front()).(*cached)
		delete(c.byID, dropped.key.id)
	}
	c.byID[k.key.id] = c.oldest.PushBack(e)
}

func (c *cache) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.byID[id]; ok {
		c.oldest.Remove(element)
		delete(c.byID, id)
	}
}

// touch tells whether the last use of the key is to be written: once in
// lastUseEvery for a key in memory, always for others.
func (c *cache) touch(id string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.byID[id]
	if !ok {
		return true
	}
	e := element.Value.(*cached)
	if now.Sub(e.touchedAt) < lastUseEvery {
		return false
	}
	e.touchedAt = now
	return true
}
