// Package rate bounds the requests per second of each team and of each of its keys, so that
// nobody uses up what all teams share.
//
// A bucket holds the requests of Window and fills evenly. A request takes one token from the
// bucket of its team and one from that of its key, or none from either. Buckets are in memory,
// so a request waits for no round trip.
//
// A request takes its tokens before anybody knows what it costs. One that turns out to cost as much
// as several takes theirs afterwards, by Charge, and those after it wait.
//
// # How exact it is
//
// In one process the limit is exact. The containers of a function share their buckets through
// the table: for each hundredth of a bucket that a container has given out, it adds that to the
// table's copy, next to a request in progress, and takes over what the others have added. In any
// time T, n containers that handle one request at a time let at most
//
//	capacity + capacity/100 × n + perSecond × T
//
// requests of a team pass, where capacity is perSecond × Window, and never refuse a team that
// stays within perSecond. A process that handles more at a time adds their number. A write that fails, and a container that ends, lose at most one
// hundredth. While the table cannot be written at all, each container counts alone. Clocks of
// containers may differ; the difference times perSecond is added. A bucket that would take more
// than five minutes to fill was left by a clock that was ahead, and starts full again.
package rate

import (
	"sync"
	"time"

	"docent/shared/apierr"
	"docent/shared/quota"
	"docent/shared/table"
)

// Names of the limits in headers and errors.
const (
	Team = "team-rate"
	Key  = "key-rate"
)

// Window is the time whose requests a full bucket holds.
const Window = 10 * time.Second

// keyShare: a key may send 1/keyShare of what its team may, so that one program of a team does
// not stop the others.
const keyShare = 2

// parts: a container settles each 1/parts of a bucket.
const parts = 100

// MaxPerSecond is the highest limit of a team.
const MaxPerSecond = 100_000

// Limiter has the buckets of a process. A nil Limiter limits nothing. It must not be copied.
type Limiter struct {
	PerSecond int // of each team, 1 to MaxPerSecond; a key has half, at least 1
	Now       func() time.Time
	Table     table.Store // shares the buckets with other processes; nil: this is the only one

	mu      sync.Mutex
	buckets map[owner]*bucket
	pruneAt int // number of buckets at which the full ones are removed
}

// owner is a team, or a key of it.
type owner struct{ teamID, keyID string }

// ownersOf returns those whose buckets a request of the key takes from.
func ownersOf(teamID, keyID string) [2]owner { return [2]owner{{teamID, ""}, {teamID, keyID}} }

func (o owner) name() string {
	if o.keyID == "" {
		return Team
	}
	return Key
}

// bucket is a bucket by the time at which it is full again, as in the generic cell rate
// algorithm: each request moves that time by step, the time in which one token is added.
type bucket struct {
	full    int64 // Unix nanoseconds
	unsaid  int64 // tokens that were taken since the last settlement
	settles bool  // a settlement is in progress
}

// perSecond returns the limit of o.
func (l *Limiter) perSecond(o owner) int64 {
	if o.keyID == "" {
		return int64(l.PerSecond)
	}
	return max(int64(l.PerSecond/keyShare), 1)
}

func (l *Limiter) step(o owner) int64 { return int64(time.Second) / l.perSecond(o) }

func (l *Limiter) capacity(o owner) int64 { return l.perSecond(o) * int64(Window/time.Second) }

// lot is the number of tokens that a container gives out between two settlements.
func (l *Limiter) lot(o owner) int64 { return max(l.capacity(o)/parts, 1) }

// Take takes a token for a request of the key, and returns the states of both buckets for the
// reply's headers. If one of them is empty it takes nothing and returns an *ExceededError.
func (l *Limiter) Take(teamID, keyID string) ([]quota.State, error) {
	if l == nil {
		return nil, nil
	}
	owners := ownersOf(teamID, keyID)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now()
	l.prune(now)
	for _, o := range owners {
		b := l.bucket(o)
		if b.full > now.Add(wrongClock).UnixNano() {
			b.full = 0 // the clock was ahead
		}
		full := max(b.full, now.UnixNano())
		// The time at which a token is there.
		if at := full - (l.capacity(o)-1)*l.step(o); at > now.UnixNano() {
			return nil, &ExceededError{State: l.state(o, now), PerSecond: l.perSecond(o), wait: time.Duration(at - now.UnixNano())}
		}
	}
	states := make([]quota.State, len(owners))
	for i, o := range owners {
		b := l.bucket(o)
		b.full = max(b.full, now.UnixNano()) + l.step(o)
		b.unsaid++
		states[i] = l.state(o, now)
	}
	return states, nil
}

// UnitsPerRequest is how many read and write units of the tables, together, a request may cost as one.
// It is several times what ordinary ones cost.
const UnitsPerRequest = 500

// Extra returns how many requests a request of that cost counts as, besides itself.
func Extra(c table.Cost) int64 { return int64((c.ReadUnits + c.WriteUnits) / UnitsPerRequest) }

// Charge takes tokens for a request that has passed and counts as that many more. It refuses nothing:
// the requests after it wait until the buckets have filled again, for mostDebt at most.
func (l *Limiter) Charge(teamID, keyID string, tokens int64) {
	if l == nil || tokens <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now()
	for _, o := range ownersOf(teamID, keyID) {
		b, step := l.bucket(o), l.step(o)
		full := max(b.full, now.UnixNano())
		room := max((now.Add(mostDebt).UnixNano()-full)/step, 0)
		taken := min(tokens, room)
		b.full = full + taken*step
		b.unsaid += taken
	}
}

// bucket returns the bucket of o. The caller holds the lock.
func (l *Limiter) bucket(o owner) *bucket {
	b := l.buckets[o]
	if b == nil {
		if l.buckets == nil {
			l.buckets = map[owner]*bucket{}
		}
		b = &bucket{}
		l.buckets[o] = b
	}
	return b
}

// state returns the state of the bucket of o. The caller holds the lock.
func (l *Limiter) state(o owner, now time.Time) quota.State {
	full := max(l.bucket(o).full, now.UnixNano())
	step := l.step(o)
	used := (full - now.UnixNano() + step - 1) / step
	return quota.State{Name: o.name(), Limit: l.capacity(o), Used: used,
		Window: quota.Window{Start: time.Unix(0, full).Add(-Window).UTC(), Reset: time.Unix(0, full).UTC()}}
}

// fewBuckets are not worth a search for full ones.
const fewBuckets = 4096

// prune removes the buckets that have been full for a Window, when their number has doubled: a
// full bucket is the same as none. The caller holds the lock.
func (l *Limiter) prune(now time.Time) {
	if len(l.buckets) < max(l.pruneAt, fewBuckets) {
		return
	}
	for o, b := range l.buckets {
		if b.full < now.Add(-Window).UnixNano() && !b.settles {
			delete(l.buckets, o)
		}
	}
	l.pruneAt = 2 * len(l.buckets)
}

// ExceededError is returned for a request that exceeds a limit. It unwraps to an *apierr.Error of
// kind QuotaExceeded with code rate-exceeded.
type ExceededError struct {
	quota.State       // of the empty bucket
	PerSecond   int64 // the limit
	wait        time.Duration
}

func (e *ExceededError) Error() string { return "limit " + e.Name + " is exceeded" }

// Unwrap returns the error for the client.
func (e *ExceededError) Unwrap() error {
	who := "This team"
	if e.Name == Key {
		who = "This key"
	}
	seconds := "second"
	if e.RetryAfter() > 1 {
		seconds = "seconds"
	}
	return apierr.New(apierr.QuotaExceeded, apierr.CodeRateExceeded, "%s may send %d requests per second, and %d at once. Try again in %d %s.",
		who, e.PerSecond, e.Limit, e.RetryAfter(), seconds)
}

// RetryAfter returns the value of the Retry-After header: the seconds until a token is there,
// rounded up.
func (e *ExceededError) RetryAfter() int64 {
	return max(int64((e.wait+time.Second-1)/time.Second), 1)
}
