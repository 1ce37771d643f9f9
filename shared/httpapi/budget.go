package httpapi

import (
	"io"
	"sync/atomic"

	"docent/shared/apierr"
)

// The memory of a process is bounded by what all bodies in flight may hold
// together; handling a body takes about four times its size. So it is by what all
// replies hold that are being sent, for as long as a slow reader takes. The first
// part of each is free, so that small requests pass while large ones fill the
// budgets.
const (
	bodyBudget  = 64 << 20
	replyBudget = 64 << 20
	freePart    = 64 << 10
)

// budget is the bytes of bodies that may be in memory at once.
type budget struct{ left atomic.Int64 }

func newBudget(bytes int64) *budget {
	b := &budget{}
	b.left.Store(bytes)
	return b
}

// lease is what one request holds of a budget.
type lease struct {
	from *budget
	read int64 // bytes so far, the free part included
	held int64
}

// take adds n bytes to the lease, or refuses when the budget is spent.
func (l *lease) take(n int64) error {
	l.read += n
	over := max(l.read-freePart, 0) - l.held
	if over <= 0 {
		return nil
	}
	if l.from.left.Add(-over) < 0 {
		l.from.left.Add(over)
		return apierr.New(apierr.Unavailable, apierr.CodeUnavailable,
			"Too many large requests are under way. Send this one again.")
	}
	l.held += over
	return nil
}

// end gives everything back.
func (l *lease) end() {
	l.from.left.Add(l.held)
	l.held = 0
}

// leased is a reader whose bytes are taken from a lease as they arrive, so that a
// slow sender holds no more than it has sent.
type leased struct {
	io.Reader
	lease *lease
}

func (r leased) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if refused := r.lease.take(int64(n)); refused != nil {
		return n, refused
	}
	return n, err
}
