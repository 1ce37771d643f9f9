package memory

import (
	"context"
	"sync"
)

// Lease is the part of a pool that one request holds. Its methods may be called from
// several goroutines at once.
type Lease struct {
	pool  *Pool
	owner string

	mu    sync.Mutex
	held  int64
	ended bool
}

// Lease returns an empty lease of the owner.
func (p *Pool) Lease(owner string) *Lease { return &Lease{pool: p, owner: owner} }

// Try adds n units if they are free now, and returns ErrBusy otherwise.
func (l *Lease) Try(n int64) error {
	if n = l.most(n); n > 0 && !l.pool.try(l.owner, n) {
		return ErrBusy
	}
	l.add(n)
	return nil
}

// Take adds n units, waiting for them if necessary. It returns ErrBusy if ctx ends first.
func (l *Lease) Take(ctx context.Context, n int64) error {
	if n = l.most(n); n > 0 {
		if err := l.pool.take(ctx, l.owner, n, false); err != nil {
			return err
		}
	}
	l.add(n)
	return nil
}

// retake adds n units that the lease had before, waiting for them until ctx ends, before requests of the owner that Take. Then it takes them even
// if they are not free.
func (l *Lease) retake(ctx context.Context, n int64) {
	if l.pool.take(ctx, l.owner, n, true) != nil {
		l.pool.force(l.owner, n)
	}
	l.add(n)
}

// most limits n to the largest possible lease, so that a request above its owner's share
// waits for the whole share.
func (l *Lease) most(n int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(min(n, l.pool.Most()-l.held), 0)
}

func (l *Lease) add(n int64) {
	l.mu.Lock()
	ended := l.ended
	if !ended {
		l.held += n
	}
	l.mu.Unlock()
	if ended && n > 0 {
		l.pool.give(l.owner, n) // the request ended while this waited
	}
}

// Shrink returns all but n units.
func (l *Lease) Shrink(n int64) {
	l.mu.Lock()
	over := max(l.held-n, 0)
	l.held -= over
	l.mu.Unlock()
	if over > 0 {
		l.pool.give(l.owner, over)
	}
}

// Held returns the units of the lease.
func (l *Lease) Held() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

// End returns all units. An ended lease takes no more.
func (l *Lease) End() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.Shrink(0)
}
