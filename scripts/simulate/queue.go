package simulate

import (
	"bytes"
	"container/heap"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"docent/shared/queue"
	"docent/shared/table"
)

var _ queue.Queue = (*Queue)(nil)

// QueueOptions are the settings of a Queue.
type QueueOptions struct {
	Visibility time.Duration       // how long a delivered message is hidden
	Unfair     bool                // ignore the groups of messages, as before fair queues
	Dead       func(queue.Message) // called with each dead letter; may be nil
}

// Queue is a standard queue of SQS. With groups it is a fair queue, by the rule that AWS publishes (assumptions.go).
type Queue struct {
	o      QueueOptions
	chance *Chance

	mu       sync.Mutex
	later    messages            // not receivable yet: delayed or in flight
	quiet    messages            // receivable, of groups that are not noisy
	groups   map[string]*group   // by name; messages without a group are not counted
	noisy    map[string]*group   // those that are noisy
	byID     map[string]*message // all
	inFlight int
	sent     int64
	spent    decayed // processing time of all groups
	woken    chan struct{}
}

// group is whose messages they are.
type group struct {
	waiting  messages // receivable; used while the group is noisy
	isNoisy  bool
	backlog  int // messages that are not in flight
	inFlight int
	spent    decayed
	lastSent time.Time
}

// decayed is a sum that loses half of itself in each half of recently.
type decayed struct {
	sum float64
	at  time.Time
}

func (d *decayed) value(now time.Time) float64 {
	const halfLife = recently / 2
	for ; d.sum > 0 && now.Sub(d.at) >= halfLife; d.at = d.at.Add(halfLife) {
		d.sum /= 2
		if d.sum < 1e-6 {
			d.sum = 0
		}
	}
	if d.sum == 0 {
		d.at = now
	}
	return d.sum
}

func (d *decayed) add(now time.Time, x float64) {
	d.value(now)
	d.sum += x
}

type message struct {
	id       string
	number   int64
	body     []byte
	group    string
	due      time.Time
	sentAt   time.Time
	receives int
	flying   bool
	since    time.Time // of the delivery
	in       *messages // the heap that it is in
	place    int
}

// messages is a heap by the time at which they are due, and then by the order in which they were sent.
type messages []*message

func (h messages) Len() int { return len(h) }
func (h messages) Less(i, j int) bool {
	if !h[i].due.Equal(h[j].due) {
		return h[i].due.Before(h[j].due)
	}
	return h[i].number < h[j].number
}
func (h messages) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *messages) Push(x any) {
	m := x.(*message)
	m.place, m.in = len(*h), h
	*h = append(*h, m)
}

// Pop implements heap.Interface.
func (h *messages) Pop() any {
	last := len(*h) - 1
	m := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	m.in = nil
	return m
}

// NewQueue returns an empty queue, whose calls take the time that chance draws.
func NewQueue(chance *Chance, o QueueOptions) *Queue {
	return &Queue{o: o, chance: chance, groups: map[string]*group{}, noisy: map[string]*group{}, byID: map[string]*message{}, woken: make(chan struct{})}
}

// Waiting returns how many messages are in the queue, those in flight included.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.byID)
}

// Send implements queue.Queue.
func (q *Queue) Send(ctx context.Context, out ...queue.Outgoing) error {
	if err := queue.CheckSend(out); err != nil {
		return err
	}
	defer table.MeterFrom(ctx).Begin()()
	if err := q.chance.take(ctx, queueLatency); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for _, o := range out {
		q.sent++
		m := &message{id: "m" + strconv.FormatInt(q.sent, 10), number: q.sent, body: bytes.Clone(o.Body), due: now.Add(o.Delay), sentAt: now}
		if !q.o.Unfair {
			m.group = o.Group
		}
		q.byID[m.id] = m
		if g := q.group(m); g != nil {
			g.backlog++
			g.lastSent = now
		}
		heap.Push(&q.later, m)
	}
	q.wake()
	return nil
}

// group returns the group of m, nil if it has none. The caller holds the lock, as of all that follow.
func (q *Queue) group(m *message) *group {
	if m.group == "" {
		return nil
	}
	g := q.groups[m.group]
	if g == nil {
		g = &group{}
		q.groups[m.group] = g
	}
	return g
}

func (q *Queue) wake() {
	close(q.woken)
	q.woken = make(chan struct{})
}

// Receive implements queue.Queue.
func (q *Queue) Receive(ctx context.Context, limit int, wait time.Duration) ([]queue.Message, error) {
	wait, err := queue.CheckReceive(limit, wait)
	if err != nil {
		return nil, err
	}
	defer table.MeterFrom(ctx).Begin()()
	if err := q.chance.take(ctx, queueLatency); err != nil {
		return nil, err
	}
	waited, due := time.NewTimer(wait), time.NewTimer(wait)
	defer waited.Stop()
	defer due.Stop()
	for {
		claimed, next, woken := q.claim(limit)
		if len(claimed) > 0 || wait == 0 {
			return claimed, nil
		}
		due.Stop()
		if !next.IsZero() {
			due.Reset(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-waited.C:
			return nil, nil
		case <-woken:
		case <-due.C:
		}
	}
}

func (q *Queue) claim(limit int) (claimed []queue.Message, next time.Time, woken <-chan struct{}) {
	var dead []queue.Message
	defer func() {
		for _, m := range dead {
			if q.o.Dead != nil {
				q.o.Dead(m)
			}
		}
	}()
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for len(q.later) > 0 {
		m := q.later[0]
		if m.due.After(now) {
			next = m.due
			break
		}
		heap.Pop(&q.later)
		q.landed(m, now)
		q.ready(m)
	}
	for len(claimed) < limit && q.inFlight < mostInFlight {
		m := q.first()
		if m == nil {
			break
		}
		heap.Remove(m.in, m.place)
		if m.receives == queue.MaxReceives {
			q.forget(m)
			dead = append(dead, m.delivery())
			continue
		}
		m.receives++
		m.due, m.since, m.flying = now.Add(q.o.Visibility), now, true
		q.inFlight++
		heap.Push(&q.later, m)
		if g := q.group(m); g != nil {
			g.backlog--
			g.inFlight++
		}
		claimed = append(claimed, m.delivery())
	}
	if len(claimed) > 0 {
		q.judge(now)
	}
	return claimed, next, q.woken
}

// landed ends the flight of m, if it was delivered.
func (q *Queue) landed(m *message, now time.Time) {
	if !m.flying {
		return
	}
	m.flying = false
	q.inFlight--
	spent := now.Sub(m.since).Seconds()
	q.spent.add(now, spent)
	if g := q.group(m); g != nil {
		g.inFlight--
		g.backlog++
		g.spent.add(now, spent)
	}
}

// ready makes m receivable.
func (q *Queue) ready(m *message) {
	if g := q.group(m); g != nil && g.isNoisy {
		heap.Push(&g.waiting, m)
		return
	}
	heap.Push(&q.quiet, m)
}

// forget removes m, which is in no heap and not in flight.
func (q *Queue) forget(m *message) {
	delete(q.byID, m.id)
	if g := q.group(m); g != nil {
		g.backlog--
	}
}

// first returns the next message to deliver: the one of a quiet group that waits longest, otherwise one of the noisy
// group with the fewest in flight.
func (q *Queue) first() *message {
	if len(q.quiet) > 0 {
		return q.quiet[0]
	}
	var best *group
	for _, g := range q.noisy {
		if len(g.waiting) > 0 && (best == nil || g.inFlight < best.inFlight || g.inFlight == best.inFlight && g.waiting[0].number < best.waiting[0].number) {
			best = g
		}
	}
	if best == nil {
		return nil
	}
	return best.waiting[0]
}

// judge decides which groups are noisy.
func (q *Queue) judge(now time.Time) {
	all := q.spent.value(now)
	for name, g := range q.groups {
		switch {
		case g.isNoisy && (g.backlog == 0 || now.Sub(g.lastSent) > quietAfter):
			g.isNoisy = false
			delete(q.noisy, name)
			for len(g.waiting) > 0 {
				heap.Push(&q.quiet, heap.Pop(&g.waiting))
			}
		case !g.isNoisy && g.backlog > 0 &&
			(g.inFlight >= noisyMessages && float64(g.inFlight) > noisyShare*float64(q.inFlight) || all > 0 && g.spent.value(now) > noisyShare*all):
			g.isNoisy = true
			q.noisy[name] = g
			ready := q.quiet
			q.quiet = nil
			for _, m := range ready {
				q.ready(m)
			}
		case g.backlog == 0 && g.inFlight == 0 && g.spent.value(now) == 0:
			delete(q.groups, name)
		}
	}
}

func (m *message) delivery() queue.Message {
	return queue.Message{ID: m.id, Receipt: fmt.Sprintf("%s#%d", m.id, m.receives), Body: bytes.Clone(m.body), Receives: m.receives}
}

// Done implements queue.Queue.
func (q *Queue) Done(ctx context.Context, done ...queue.Message) error {
	return q.settle(ctx, done, func(m *message, now time.Time) {
		heap.Remove(m.in, m.place)
		q.landed(m, now)
		q.forget(m)
	})
}

// Retry implements queue.Queue.
func (q *Queue) Retry(ctx context.Context, delay time.Duration, again ...queue.Message) error {
	if err := queue.CheckDelay(delay); err != nil {
		return err
	}
	return q.settle(ctx, again, func(m *message, now time.Time) {
		if !m.flying {
			return
		}
		heap.Remove(m.in, m.place)
		m.due = now.Add(delay)
		if delay == 0 { // extending a flight does not end it
			q.landed(m, now)
		}
		heap.Push(&q.later, m)
	})
}

// settle calls do with each message whose receipt is of its latest delivery.
func (q *Queue) settle(ctx context.Context, delivered []queue.Message, do func(*message, time.Time)) error {
	for _, m := range delivered {
		id, receives, ok := strings.Cut(m.Receipt, "#")
		if _, err := strconv.Atoi(receives); !ok || err != nil || !strings.HasPrefix(id, "m") {
			return fmt.Errorf("%w: malformed receipt", queue.ErrInvalid)
		}
	}
	defer table.MeterFrom(ctx).Begin()()
	if err := q.chance.take(ctx, queueLatency); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for _, d := range delivered {
		id, receives, _ := strings.Cut(d.Receipt, "#")
		if m := q.byID[id]; m != nil && strconv.Itoa(m.receives) == receives {
			do(m, now)
		}
	}
	q.wake()
	return nil
}
