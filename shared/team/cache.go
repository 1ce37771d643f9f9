package team

import (
	"container/list"
	"sync"
	"time"
)

// knownFor is how long a key is cached. The read may be a second old, which together keeps the
// promise of 10 seconds.
const knownFor = 9 * time.Second

// maxKnown limits the cached keys.
const maxKnown = 4096

// known is a key and, for a personal key, its user.
type known struct {
	key  record
	user User
}

// cache contains the keys that were accepted recently. Refused keys are not cached, so guessing
// cannot fill it. The zero cache is empty and ready.
type cache struct {
	mu      sync.Mutex
	byID    map[string]*list.Element // of *cached
	oldest  list.List                // ordered by time of read, oldest first
	changes uint64                   // how often remove and removeUser were called
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

// begin returns what put needs of the time before a key and its user are read.
func (c *cache) begin() (begun uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// put caches k, read at readAt or later, and after begin returned begun. If something was removed since, k may be outdated and
// is not cached. If the cache is full, it drops the key with the oldest read.
func (c *cache) put(k known, readAt time.Time, begun uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if begun != c.changes {
		return
	}
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

// removeUser removes the keys of a user.
func (c *cache) removeUser(teamID, userID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	for id, element := range c.byID {
		if k := element.Value.(*cached).key; k.UserID == userID && k.TeamID == teamID {
			c.oldest.Remove(element)
			delete(c.byID, id)
		}
	}
}

func (c *cache) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	if element, ok := c.byID[id]; ok {
		c.oldest.Remove(element)
		delete(c.byID, id)
	}
}

// touch reports whether the last use of the key must be written: once per lastUseEvery for a
// cached key, always for others.
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
