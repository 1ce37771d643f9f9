package memory

import (
	"context"
	"sync"
	"time"
)

// Work is what one request uses while it is handled: a place among the running
// requests, and memory. The first bytes are free. A large request gives up its place
// and waits for a turn: few large ones run at a time, so that small ones find a free
// processor.
type Work struct {
	room  *Room
	place *Lease
	turn  *Lease
	write *Lease
	bytes *Lease

	waiting  sync.Mutex    // held while waiting for the turn
	resuming chan struct{} // has one while waiting for a place after Pause

	mu      sync.Mutex
	used    int64 // the free part included
	asked   int64 // what Reserve waits for
	placed  bool  // it has a place
	paused  bool  // it has none because of Pause
	inTurn  bool
	yielded bool // it continues without a place and a turn
}

// Room holds the pools that the work of requests uses.
type Room struct {
	Places   *Pool         // requests that are handled at a time
	Turns    *Pool         // large ones among them
	Writes   *Pool         // large writes, which mostly wait for the disk
	Bytes    *Pool         // memory of all requests
	Free     int64         // bytes of each request that are not taken from Bytes
	Small    int64         // bytes that a request may use without a turn, at least Free
	Patience time.Duration // how long a request waits for each of these
}

// Work returns the work of one request of the owner.
func (r *Room) Work(owner string) *Work {
	return &Work{room: r, resuming: make(chan struct{}, 1), place: r.Places.Lease(owner), turn: r.Turns.Lease(owner), write: r.Writes.Lease(owner), bytes: r.Bytes.Lease(owner)}
}

// Begin waits for a place. It returns ErrBusy if none becomes free in time.
func (w *Work) Begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.room.Patience)
	defer cancel()
	err := w.place.Take(ctx, 1)
	w.setPlaced(err == nil)
	return err
}

func (w *Work) setPlaced(placed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.placed, w.paused = placed, false
}

// Pause gives up the place of the work of ctx while it waits for the disk, for another machine
// or for the model, so that requests that need a processor are handled in the meantime. The
// caller must call resume when the wait is over. resume waits until the work has a place
// again; resumed work precedes new requests. The wait is bounded, because the caller may hold
// something for which the work with the places waits. After the bound, and when ctx has ended, the work takes
// a place although none is free. Then two places must become free, apart from spare ones, before others get one.
func Pause(ctx context.Context) (resume func()) {
	if w := workOf(ctx); w != nil {
		return w.pauseFor(ctx)
	}
	return func() {}
}

// pauseFor is Pause for the work w.
func (w *Work) pauseFor(ctx context.Context) (resume func()) {
	if !w.pause() {
		return func() {}
	}
	return func() {
		w.resuming <- struct{}{} // two that resume at once wait for the same place
		defer func() { <-w.resuming }()
		if !w.needsPlace() {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, min(resumeTime, w.room.Patience))
		defer cancel()
		w.place.retake(ctx, 1)
		w.setResumed()
	}
}

// resumeTime is how long work waits for a place again after Pause.
const resumeTime = 2 * time.Second

// pause gives up the place, and reports whether the work is of those that take one again.
func (w *Work) pause() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.placed {
		w.placed, w.paused = false, true
		w.place.Shrink(0)
	}
	return w.paused
}

// setResumed notes that the work has a place again, unless it gave it up permanently in the meantime.
func (w *Work) setResumed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.placed, w.paused = w.paused, false
}

func (w *Work) needsPlace() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.paused
}

// End returns the place, the turn and all bytes.
func (w *Work) End() {
	w.turn.End()
	w.write.End()
	w.bytes.End()
	w.place.End()
}

type (
	workKey  struct{}
	readsKey struct{}
	ownerKey struct{}
	partKey  struct{}
)

// WithWork returns a context whose Reserve charges w.
func WithWork(ctx context.Context, w *Work) context.Context {
	return context.WithValue(ctx, workKey{}, w)
}

func workOf(ctx context.Context) *Work {
	w, _ := ctx.Value(workKey{}).(*Work)
	return w
}

// WithOwner returns a context for what is done for an owner without the work of a request.
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// Owner returns the owner of the work of ctx; without work that of WithOwner, or the empty name.
func Owner(ctx context.Context) string {
	if w := workOf(ctx); w != nil {
		return w.place.owner
	}
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}

// Reserve charges n bytes to the work of ctx before they are allocated, until the work
// ends or Return is called. If the process is busy it waits, and returns ErrBusy if
// that takes too long. Without work in ctx it charges nothing.
func Reserve(ctx context.Context, n int64) error {
	w := workOf(ctx)
	if w == nil {
		return nil
	}
	if err := w.reserve(ctx, n); err != nil {
		return err
	}
	partOf(ctx).add(n)
	return nil
}

// Return returns n reserved bytes that are no longer in use.
func Return(ctx context.Context, n int64) {
	partOf(ctx).add(-n)
	returnBytes(ctx, n)
}

func returnBytes(ctx context.Context, n int64) {
	if w := workOf(ctx); w != nil {
		w.mu.Lock()
		w.used -= n
		over := max(w.used-w.room.Free, 0)
		w.mu.Unlock()
		w.bytes.Shrink(over)
	}
}

// part is a part of a work that returns its bytes before the work ends.
type part struct {
	mu   sync.Mutex
	used int64
}

func partOf(ctx context.Context) *part {
	p, _ := ctx.Value(partKey{}).(*part)
	return p
}

func (p *part) add(n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used += n
}

// Part returns a context for a part of the work of ctx after which nothing that it reserves is in use. The caller must call
// end, which returns what is still reserved then, when the part is over. Of works that consist of many parts, each would
// otherwise keep what all of its parts need, and wait for what the others keep.
func Part(ctx context.Context) (in context.Context, end func()) {
	p := &part{}
	return context.WithValue(ctx, partKey{}, p), func() {
		p.mu.Lock()
		used := p.used
		p.used = 0
		p.mu.Unlock()
		returnBytes(ctx, used)
	}
}

// WithReads returns a context in which reads from the table are charged too, with cost bytes
// per byte. Use it for work that keeps the items in memory.
func WithReads(ctx context.Context, cost int64) context.Context {
	return context.WithValue(ctx, readsKey{}, cost)
}

// ReserveRead reserves memory for n bytes that an engine has read, if ctx is from WithReads.
func ReserveRead(ctx context.Context, n int64) error {
	if cost, _ := ctx.Value(readsKey{}).(int64); cost > 0 {
		return Reserve(ctx, n*cost)
	}
	return nil
}

// WaitTurn waits for a turn for the work of ctx, however little memory it uses, because it
// will use a processor for a long time. It returns ErrBusy if the wait takes too long.
func WaitTurn(ctx context.Context) error {
	w := workOf(ctx)
	if w == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.room.Patience)
	defer cancel()
	return w.takeTurn(ctx)
}

// LeaveTurn gives up the turn of the work of ctx before it waits for what other work holds, which may need the turn to continue. The
// caller must call retake when the wait is over. If the work had a turn, retake waits for one again, and returns ErrBusy if that takes
// too long.
func LeaveTurn(ctx context.Context) (retake func() error) {
	w := workOf(ctx)
	if w == nil || !w.leaveTurn() {
		return func() error { return nil }
	}
	return func() error { return WaitTurn(ctx) }
}

// leaveTurn reports whether there was a turn to give up.
func (w *Work) leaveTurn() bool {
	w.waiting.Lock()
	defer w.waiting.Unlock()
	w.mu.Lock()
	had := w.inTurn
	w.inTurn = false
	w.mu.Unlock()
	if had {
		w.turn.Shrink(0)
	}
	return had
}

// Yield gives up the place and the turn of the work of ctx, which will mostly wait for
// other machines or for an answer. It keeps its bytes.
func Yield(ctx context.Context) {
	if w := workOf(ctx); w != nil {
		w.yield()
	}
}

func (w *Work) yield() {
	w.mu.Lock()
	w.yielded, w.placed, w.paused = true, false, false
	w.mu.Unlock()
	w.turn.End()
	w.place.End()
}

// WaitWrites is Yield for work that will write much. It waits for one of the few places for
// large writes, and returns ErrBusy if that takes too long.
func WaitWrites(ctx context.Context) error {
	w := workOf(ctx)
	if w == nil {
		return nil
	}
	w.yield()
	ctx, cancel := context.WithTimeout(ctx, w.room.Patience)
	defer cancel()
	return w.write.Take(ctx, 1-w.write.Held())
}

func (w *Work) reserve(ctx context.Context, n int64) error {
	w.mu.Lock()
	all := w.used + w.asked + n
	more := min(n, all-w.room.Free)
	large := all > w.room.Small
	if more <= 0 {
		w.used += n
		w.mu.Unlock()
		return nil
	}
	w.asked += n
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, w.room.Patience)
	defer cancel()
	err := error(nil)
	if large {
		// The turn comes first: work that waits for it with bytes would keep them from the
		// work that has the turn.
		err = w.takeTurn(ctx)
	}
	if err == nil {
		err = w.takeBytes(ctx, more)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked -= n
	if err == nil {
		w.used += n
	}
	return err
}

// takeBytes takes n bytes. While it waits for them, it gives up its place: of an owner with few places, all other requests would wait too.
func (w *Work) takeBytes(ctx context.Context, n int64) error {
	if w.bytes.Try(n) == nil {
		return nil
	}
	resume := w.pauseFor(ctx)
	if err := w.bytes.Take(ctx, n); err != nil {
		return err // what is left to do is to tell the client
	}
	resume()
	return nil
}

// takeTurn waits for the turn, once for the whole work.
func (w *Work) takeTurn(ctx context.Context) error {
	w.waiting.Lock()
	defer w.waiting.Unlock()
	w.mu.Lock()
	needless := w.inTurn || w.yielded
	w.mu.Unlock()
	if needless {
		return nil
	}
	w.setPlaced(false)
	w.place.End() // for a small request
	if err := w.turn.Take(ctx, 1); err != nil {
		return err
	}
	w.mu.Lock()
	w.inTurn = true
	w.mu.Unlock()
	return nil
}
