// Package local keeps a queue in a table: the engine of a single machine, on
// the file that holds everything else. Every step is one conditional Write, so
// accepted messages survive a crash and no delivery is given out twice.
package local

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	"docent/shared/queue"
	"docent/shared/table"

	"github.com/google/uuid"
)

// Table is where queues live; a store is opened with it beside table.Names.
const Table = "queue"

const defaultVisibility = 60 * time.Second

var _ queue.Queue = (*Queue)(nil)

// Options changes how a queue works; the zero value is right for production.
type Options struct {
	Visibility time.Duration    // how long a delivered message is hidden; 0: 60 s
	Now        func() time.Time // nil: time.Now; waiting is by the standard timers
	NewID      func() string    // of messages, unique; nil: UUID version 7
}

// Queue is one named queue. Waiting receivers are woken by what happens through
// the same Queue: a process opens each queue once and shares it.
type Queue struct {
	store      table.Store
	name       string
	visibility time.Duration
	now        func() time.Time
	newID      func() string

	taking sync.Mutex // one receiver looks and takes at a time

	mu    sync.Mutex
	woken chan struct{} // closed when there may be something new to receive
}

var validName = regexp.MustCompile(`\A[a-z0-9-]{1,80}\z`)

// Open returns the queue of that name, 1 to 80 of a-z, 0-9 and -, in store,
// which must have the table Table.
func Open(store table.Store, name string, o Options) (*Queue, error) {
	if !validName.MatchString(name) {
		return nil, fmt.Errorf("%w: queue name %q", queue.ErrInvalid, name)
	}
	if o.Visibility < 0 {
		return nil, fmt.Errorf("%w: visibility timeout %s", queue.ErrInvalid, o.Visibility)
	}
	q := &Queue{store: store, name: name, visibility: o.Visibility, now: o.Now, newID: o.NewID, woken: make(chan struct{})}
	if q.visibility == 0 {
		q.visibility = defaultVisibility
	}
	if q.now == nil {
		q.now = time.Now
	}
	if q.newID == nil {
		q.newID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if _, err := store.Query(context.Background(), q.query(due, 1)); err != nil {
		return nil, fmt.Errorf("open queue %s: %w", name, err)
	}
	return q, nil
}

// Send stores messages; see queue.Queue. All of them are stored or none.
func (q *Queue) Send(ctx context.Context, messages ...queue.Outgoing) error {
	if err := queue.CheckSend(messages); err != nil {
		return err
	}
	ctx, end := q.count(ctx)
	defer end()
	now := q.now()
	var ops []table.Op
	for _, m := range messages {
		r := record{id: q.newID(), due: now.Add(m.Delay), version: 1, sent: now, body: m.Body}
		if len(m.Body) > inlineBytes {
			parts := q.partsOf(r.id, m.Body)
			ops = append(ops, parts...)
			r.parts, r.body = len(parts), nil
		}
		ops = append(ops, table.Put{Item: r.fields(q.dueKey(r)), If: table.Absent()})
	}
	if err := q.store.Write(ctx, ops...); err != nil {
		return fmt.Errorf("send to queue %s: %w", q.name, err)
	}
	q.wake()
	return nil
}

// Receive returns messages that are due; see queue.Queue.
func (q *Queue) Receive(ctx context.Context, limit int, wait time.Duration) ([]queue.Message, error) {
	wait, err := queue.CheckReceive(limit, wait)
	if err != nil {
		return nil, err
	}
	ctx, end := q.count(ctx)
	defer end()
	waited := time.NewTimer(wait)
	defer waited.Stop()
	for {
		woken := q.wakeUp() // before looking, so that nothing sent after the look is missed
		messages, next, err := q.take(ctx, limit)
		if err != nil {
			return nil, fmt.Errorf("receive from queue %s: %w", q.name, err)
		}
		if len(messages) > 0 || wait == 0 {
			return messages, nil
		}
		var nextDue <-chan time.Time
		if !next.IsZero() {
			nextDue = time.After(next.Sub(q.now()))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-waited.C:
			return nil, nil
		case <-woken:
		case <-nextDue:
		}
	}
}

// Done deletes delivered messages; see queue.Queue. What has been delivered
// again since stays, for the later delivery to finish.
func (q *Queue) Done(ctx context.Context, messages ...queue.Message) error {
	ctx, end := q.count(ctx)
	defer end()
	err := q.each(messages, func(delivered []record) error {
		groups := make([][]table.Op, len(delivered))
		for i, r := range delivered {
			groups[i] = append(groups[i], table.Delete{Key: q.dueKey(r), If: table.VersionIs(r.version)})
			for part := range r.parts {
				groups[i] = append(groups[i], table.Delete{Key: q.partKey(r.id, part)})
			}
		}
		_, err := q.writeEach(ctx, groups)
		return err
	})
	if err != nil {
		return fmt.Errorf("finish messages of queue %s: %w", q.name, err)
	}
	return nil
}

// Retry makes delivered messages visible after delay; see queue.Queue. What is
// done or has been delivered again since stays as it is.
func (q *Queue) Retry(ctx context.Context, delay time.Duration, messages ...queue.Message) error {
	if err := queue.CheckDelay(delay); err != nil {
		return err
	}
	ctx, end := q.count(ctx)
	defer end()
	err := q.each(messages, func(delivered []record) error {
		var keys []table.Key
		versions := map[string]int64{}
		for _, r := range delivered {
			keys = append(keys, q.dueKey(r))
			versions[r.id] = r.version
		}
		items, err := q.store.BatchGet(ctx, keys)
		if err != nil {
			return err
		}
		var groups [][]table.Op
		for _, item := range items {
			r, err := decode(item)
			if err != nil || r.version != versions[r.id] {
				continue // Receive puts away what is unreadable
			}
			groups = append(groups, q.move(r, q.now().Add(delay), false))
		}
		_, err = q.writeEach(ctx, groups)
		return err
	})
	if err != nil {
		return fmt.Errorf("put messages of queue %s back: %w", q.name, err)
	}
	q.wake()
	return nil
}

// wakeUp returns a channel that the next wake closes.
func (q *Queue) wakeUp() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.woken
}

func (q *Queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	close(q.woken)
	q.woken = make(chan struct{})
}

// count reports one request to the meter of ctx, and returns a context under
// which the store's share of it is not counted again: a queue on AWS is one
// request that costs no table units.
func (q *Queue) count(ctx context.Context) (context.Context, func()) {
	end := table.MeterFrom(ctx).Begin()
	inner, _ := table.WithMeter(ctx)
	return inner, end
}
