// Package clocktest is a clock that moves only when a test says so.
package clocktest

import (
	"sync"
	"time"
)

// Clock moves only when it is set. It may be used by several goroutines.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// New is a clock that shows now.
func New(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set makes the clock show now, which may be earlier than before.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Advance moves the clock by d, backwards when d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
