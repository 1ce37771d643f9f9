// Package local keeps a queue in memory: the engine of a single machine. Its messages are
// lost when the process ends, so each must be only a reminder of pending work that is stored
// elsewhere. Package pending sends all pending work when a process starts.
package local

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"docent/shared/queue"
	"docent/shared/table"

	"github.com/google/uuid"
)

const defaultVisibility = 60 * time.Second

var _ queue.Queue = (*Queue)(nil)

// Options changes how a queue works; the zero value is right for production.
type Options struct {
	Visibility time.Duration       // how long a delivered message is hidden; 0: 60 s
	Now        func() time.Time    // nil: time.Now; waits use the standard timers
	Dead       func(queue.Message) // called with each dead letter, which the queue then drops; may be nil
	// Once leaves out a message without a delay while one with the same body waits for its first delivery, whose
	// receiver sees all that is stored by then. So a long queue is not filled with copies of reminders that are sent again.
	Once bool
	// Timed has the groups take turns by the time from the delivery of their messages to Done or Retry: the one that used the
	// least is next. So a group whose messages take long does not hold up one with many short ones. It is for a queue with
	// one receiver: a message that is worked on counts only afterwards.
	Timed bool
}

// Queue is one queue.
type Queue struct {
	visibility time.Duration
	now        func() time.Time
	dead       func(queue.Message)
	once       bool

	mu      sync.Mutex // guards the fields below
	later   dueHeap    // messages that cannot be received yet
	ready   turns      // those that can
	byID    map[string]*message
	waiting map[string]*message // those without a delay that were never delivered, by body, if once
	sent    int64
	woken   chan struct{} // closed when there may be something new to receive
}

// New returns an empty queue.
func New(o Options) *Queue {
	q := &Queue{visibility: o.Visibility, now: o.Now, dead: o.Dead, once: o.Once, byID: map[string]*message{}, waiting: map[string]*message{},
		ready: newTurns(o.Timed), woken: make(chan struct{})}
	if q.visibility <= 0 {
		q.visibility = defaultVisibility
	}
	if q.now == nil {
		q.now = time.Now
	}
	if q.dead == nil {
		q.dead = func(queue.Message) {}
	}
	return q
}

// Send accepts messages; see queue.Queue. All of them are accepted or none.
func (q *Queue) Send(ctx context.Context, messages ...queue.Outgoing) error {
	if err := queue.CheckSend(messages); err != nil {
		return err
	}
	defer table.MeterFrom(ctx).Begin()()
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for _, m := range messages {
		body, once := string(m.Body), q.once && m.Delay == 0
		if once && q.waiting[body] != nil {
			continue
		}
		q.sent++
		sent := &message{id: uuid.Must(uuid.NewV7()).String(), number: q.sent, due: now.Add(m.Delay), body: body, group: m.Group}
		q.byID[sent.id] = sent
		if once {
			q.waiting[body] = sent
		}
		heap.Push(&q.later, sent)
	}
	q.wake()
	return nil
}

// Receive returns due messages; see queue.Queue. The groups take turns: in its turn a group gives
// as many as fit, those due longest first, so that a batch has work of few teams.
func (q *Queue) Receive(ctx context.Context, limit int, wait time.Duration) ([]queue.Message, error) {
	wait, err := queue.CheckReceive(limit, wait)
	if err != nil {
		return nil, err
	}
	defer table.MeterFrom(ctx).Begin()()
	waited := time.NewTimer(wait)
	defer waited.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		messages, next, woken := q.claim(limit)
		if len(messages) > 0 || wait == 0 {
			return messages, nil
		}
		var nextDue <-chan time.Time
		if !next.IsZero() {
			nextDue = time.After(next.Sub(q.now()))
		}
		select {
		case <-ctx.Done():
		case <-waited.C:
			return nil, nil
		case <-woken:
		case <-nextDue:
		}
	}
}

// claim hides up to limit due messages and returns them. If no message is due, it returns the
// time of the next one, zero if the queue is empty, and a channel that is closed when another
// message may be received. A message that has been delivered queue.MaxReceives times becomes
// a dead letter.
func (q *Queue) claim(limit int) (claimed []queue.Message, next time.Time, woken <-chan struct{}) {
	var dead []queue.Message
	defer func() {
		for _, m := range dead { // without the lock: Dead may use the queue
			q.dead(m)
		}
	}()
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for len(q.later) > 0 {
		m := q.later[0]
		if m.due.After(now) {
			next = m.due
			break
		}
		q.take(m)
		q.ready.push(m)
	}
	for len(claimed) < limit {
		m := q.ready.first()
		if m == nil {
			break
		}
		q.take(m)
		if m.receives == queue.MaxReceives {
			delete(q.byID, m.id)
			dead = append(dead, m.delivery())
			continue
		}
		if q.waiting[m.body] == m {
			delete(q.waiting, m.body)
		}
		m.receives++
		m.given = now
		m.due = now.Add(q.visibility)
		heap.Push(&q.later, m)
		claimed = append(claimed, m.delivery())
	}
	q.ready.end()
	return claimed, next, q.woken
}

// Done deletes delivered messages; see queue.Queue. A message that has been
// delivered again since stays, for the later delivery to finish.
func (q *Queue) Done(ctx context.Context, messages ...queue.Message) error {
	return q.settle(ctx, messages, q.remove)
}

// Retry makes delivered messages visible after delay; see queue.Queue. A message that
// is done or has been delivered again since stays as it is.
func (q *Queue) Retry(ctx context.Context, delay time.Duration, messages ...queue.Message) error {
	if err := queue.CheckDelay(delay); err != nil {
		return err
	}
	return q.settle(ctx, messages, func(m *message) {
		q.take(m)
		m.due = q.now().Add(delay)
		heap.Push(&q.later, m)
	})
}

// settle calls do with each message whose receipt is from its latest delivery.
func (q *Queue) settle(ctx context.Context, messages []queue.Message, do func(*message)) error {
	receipts := make([]receipt, len(messages))
	for i, m := range messages {
		var err error
		if receipts[i], err = parseReceipt(m.Receipt); err != nil {
			return err
		}
	}
	defer table.MeterFrom(ctx).Begin()()
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for _, r := range receipts {
		if m := q.byID[r.id]; m != nil && m.receives == r.receives {
			q.ready.spend(m.group, now.Sub(m.given))
			m.given = now // a Retry may come while it is worked on
			do(m)
		}
	}
	if len(q.byID) == 0 {
		q.ready.forget()
	}
	q.wake()
	return nil
}

// remove removes m from the queue. The caller holds the lock.
func (q *Queue) remove(m *message) {
	q.take(m)
	delete(q.byID, m.id)
}

// take takes m out of the heap that it is in. The caller holds the lock.
func (q *Queue) take(m *message) {
	if m.ready {
		q.ready.remove(m)
		return
	}
	heap.Remove(&q.later, m.place)
}

// wake makes every waiting receiver check the queue again. The caller holds the lock.
func (q *Queue) wake() {
	close(q.woken)
	q.woken = make(chan struct{})
}
