// Package memory shares the memory of a process among the owners of its requests: a
// team, or the address of a sender without a key. Memory is charged to the owner
// before it is allocated. An owner cannot take all of a pool, and a request that finds
// no room waits in turn.
package memory

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrBusy means that the units did not become free in time. Nothing was taken; the
// request can be sent again.
var ErrBusy = errors.New("too much is in progress")

// Pool is a number of units, such as bytes, that owners take and return.
type Pool struct {
	size  int64
	spare int64 // units beyond size, for owners that hold at most floor with the new ones
	floor int64
	share int64 // an owner holds at most share times the free part; 0: no such bound

	mu      sync.Mutex
	held    int64
	grants  int64 // so far
	owners  map[string]*owner
	waiting []*waiter
}

// owner holds or waits for a part of the pool.
type owner struct {
	held    int64
	waiting int
	granted int64 // the number of its last grant
}

type waiter struct {
	name    string
	n       int64
	first   bool // before the owner's requests without it
	granted chan struct{}
}

// NewPool returns a pool of size units. With a share above 0, an owner may hold at most share
// times the part that is free afterwards. So one owner never fills the pool: share 4 leaves a
// fifth of it.
func NewPool(size, share int64) *Pool {
	return &Pool{size: size, share: share, owners: map[string]*owner{}}
}

// WithSpare adds spare units to a pool that is not in use yet. Only an owner that holds at
// most floor units with them may take them, however much other owners hold. Such a small
// request does not wait behind a large one.
func (p *Pool) WithSpare(units, floor int64) *Pool {
	p.spare, p.floor = units, floor
	return p
}

// Most returns how much one owner can take of an empty pool. A larger request takes Most.
func (p *Pool) Most() int64 {
	if p.share == 0 {
		return p.size
	}
	return p.size * p.share / (p.share + 1)
}

// Held returns how much of the pool is taken.
func (p *Pool) Held() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// try takes n units for the owner if they are free and no one waits for them.
func (p *Pool) try(name string, n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.owner(name)
	defer p.forget(name, o)
	if len(p.waiting) > 0 && !p.small(o, n) || !p.room(o, n) || !p.within(o, n) {
		return false
	}
	p.grant(o, n)
	return true
}

// take takes n units for the owner, waiting for them if necessary, in turn: with first, before the owner's requests without it.
// It returns ErrBusy if ctx ends first.
func (p *Pool) take(ctx context.Context, name string, n int64, first bool) error {
	p.mu.Lock()
	w := &waiter{name, n, first, make(chan struct{})}
	p.owner(name).waiting++
	place := len(p.waiting)
	if first {
		place = slices.IndexFunc(p.waiting, func(w *waiter) bool { return !w.first })
		if place < 0 {
			place = len(p.waiting)
		}
	}
	p.waiting = slices.Insert(p.waiting, place, w)
	p.serve()
	p.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	default:
	}
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-w.granted: // while ctx ended
		return nil
	default:
	}
	p.leave(w)
	p.serve() // the leaving waiter may have blocked one that fits
	return ErrBusy
}

// force takes n units for the owner even if they are not free. Until as many are free again, no other units are granted, except spare ones.
func (p *Pool) force(name string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grant(p.owner(name), n)
}

// give returns n units of the owner.
func (p *Pool) give(name string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.owner(name)
	o.held -= n
	p.held -= n
	p.forget(name, o)
	p.serve()
}

// serve grants waiting requests while there is room, first to the owner that holds least, then
// to the one served longest ago. A waiter limited by its own share is skipped. A waiter
// limited by the pool is skipped only for small requests; otherwise it could wait forever.
func (p *Pool) serve() {
	passed := map[*waiter]bool{}
	full := false
	for {
		next := p.next(passed, full)
		if next == nil {
			return
		}
		o := p.owners[next.name]
		switch {
		case !p.room(o, next.n):
			full = true
			passed[next] = true
		case !p.within(o, next.n):
			passed[next] = true
		default:
			p.grant(o, next.n)
			p.leave(next)
			close(next.granted)
		}
	}
}

// next returns the next waiter to serve, nil if there is none. Requests of one owner are
// served in their order, except that small ones may overtake. With a full pool, only small
// requests are served.
func (p *Pool) next(passed map[*waiter]bool, full bool) (next *waiter) {
	behind := map[string]bool{}
	for _, w := range p.waiting {
		small := p.small(p.owners[w.name], w.n)
		if passed[w] {
			behind[w.name] = true
			continue
		}
		if (behind[w.name] || full) && !small {
			continue
		}
		if next == nil || p.before(w, next) {
			next = w
		}
	}
	return next
}

// before reports whether a is served before b. Requests of one owner are in their order.
func (p *Pool) before(a, b *waiter) bool {
	x, y := p.owners[a.name], p.owners[b.name]
	if x.held != y.held {
		return x.held < y.held
	}
	return x.granted < y.granted
}

// small reports whether the owner still holds at most the floor with n more units.
func (p *Pool) small(o *owner, n int64) bool { return o.held+n <= p.floor }

// room reports whether the pool has n more units for the owner.
func (p *Pool) room(o *owner, n int64) bool {
	if p.small(o, n) {
		return n <= p.size+p.spare-p.held
	}
	return n <= p.size-p.held
}

// within reports whether n more units are within the owner's share.
func (p *Pool) within(o *owner, n int64) bool {
	return p.share == 0 || p.small(o, n) || o.held+n <= p.share*(p.size-p.held-n)
}

func (p *Pool) grant(o *owner, n int64) {
	p.grants++
	o.granted = p.grants
	o.held += n
	p.held += n
}

// leave removes w from the waiters.
func (p *Pool) leave(w *waiter) {
	for i := range p.waiting {
		if p.waiting[i] == w {
			p.waiting = slices.Delete(p.waiting, i, i+1)
			break
		}
	}
	o := p.owners[w.name]
	o.waiting--
	p.forget(w.name, o)
}

func (p *Pool) owner(name string) *owner {
	o := p.owners[name]
	if o == nil {
		o = &owner{}
		p.owners[name] = o
	}
	return o
}

// forget removes an owner that neither holds nor waits.
func (p *Pool) forget(name string, o *owner) {
	if o.held == 0 && o.waiting == 0 {
		delete(p.owners, name)
	}
}
