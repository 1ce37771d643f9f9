package pending

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/queue"
	"docent/shared/table"
)

// Grace is how long work may be pending before it is sent again.
const Grace = time.Minute

// maxWait bounds the doubling time between two sends of the same work.
const maxWait = time.Hour

// Sweeper sends work again that has been pending too long.
type Sweeper struct {
	Table  table.Store
	Queues map[string]queue.Queue // by the table of the pending items
	// Embeddings is the queue of documents that wait for vectors. If it is nil, they wait.
	Embeddings queue.Queue
	// Extractions is the queue of files whose text is to be read. If it is nil, they wait.
	Extractions queue.Queue
	Now         func() time.Time
	// GiveUp records that w will not be done, after it has been pending for longer
	// than Patience. It must remove the pending item.
	GiveUp   func(ctx context.Context, w Work) error
	Patience func(k Kind) time.Duration // 0: never give up
	// Parallel is how many shards are swept at the same time, and how many items of each are marked
	// at the same time; 0: one. The items themselves keep the place: what was sent is not due, so a
	// sweep that runs out of time leaves the rest of each shard to the next one.
	Parallel int
}

// Result counts what one Sweep did.
type Result struct {
	Sent, GivenUp int
	// Oldest is the age of the oldest pending item, or 0 if none is older than Grace.
	// It ignores syncs, rebuilds, deliveries to webhook endpoints, files and documents that wait
	// for vectors, which may be pending for hours.
	Oldest time.Duration
	// Left is the number of documents that pending rebuilds still have to index.
	Left int64
}

// maxAhead is above the longest time for which work is not sent again, that of deliveries of webhooks. A later time is of a clock that
// was ahead, and over.
const maxAhead = 28 * time.Hour

// The numbers of a pending item that the sweeper keeps.
const (
	sendsField = "sends" // number of times it was sent again
	nextField  = "next"  // Unix milliseconds before which it is not sent again
)

// Sweep checks everything that has been pending for longer than Grace. It sends work
// 1, 2, 4 … minutes after its write, at most an hour apart, so that a long queue is
// not filled with copies. It continues after failures and returns them joined.
func (s *Sweeper) Sweep(ctx context.Context) (Result, error) {
	now := s.Now()
	patient, noted := s.note(ctx, now, false)
	r := &sweep{Sweeper: s, now: now, patient: patient}
	err := s.each(ctx, fmt.Sprintf("%013d", r.now.Add(-Grace).UnixMilli()+1), func(q queue.Queue, items []pendingItem) error {
		return r.some(ctx, q, items)
	})
	return r.result, errors.Join(noted, err)
}

// Resume sends all pending work, except syncs and removals that are not due yet, and returns
// the number of messages. It is for a process with queues in memory, which are empty at
// its start: call it before any work. Patience counts from now, because no work was
// done while no process ran.
func (s *Sweeper) Resume(ctx context.Context) (sent int, err error) {
	now := s.Now()
	_, noted := s.note(ctx, now, true)
	var count sync.Mutex
	err = s.each(ctx, "", func(q queue.Queue, items []pendingItem) error {
		items = slices.DeleteFunc(items, func(i pendingItem) bool {
			return (i.work.Kind == SyncSource || i.work.Kind == RemoveChunks) && i.work.Since().After(now)
		})
		if len(items) == 0 {
			return nil
		}
		messages := make([]queue.Outgoing, len(items))
		for n, i := range items {
			messages[n] = i.work.Outgoing(0)
		}
		if err := q.Send(ctx, messages...); err != nil {
			return fmt.Errorf("send %d pieces of work, the first %s %s: %w", len(items), items[0].work.Kind, items[0].work.ID, err)
		}
		count.Lock()
		defer count.Unlock()
		sent += len(items)
		return nil
	})
	return sent, errors.Join(noted, err)
}

// pendingItem is a pending item and the work in it.
type pendingItem struct {
	table.Item
	work Work
}

// each calls do with the pending work of every queue up to the sort key to; empty: all of it. It
// gives up to queue.MaxBatch items of one queue at a time. It continues after failures and returns
// them joined.
func (s *Sweeper) each(ctx context.Context, to string, do func(queue.Queue, []pendingItem) error) error {
	var shardsOf errgroup.Group
	shardsOf.SetLimit(max(s.Parallel, 1))
	var mu sync.Mutex
	var errs []error
	failed := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Queues)) {
		for _, partition := range Partitions(name) {
			// Eventual: most sweeps find nothing, and what was written in the last second is not due.
			shardsOf.Go(func() error {
				s.shard(ctx, s.Queues[name], table.Query{Table: name, Partition: partition, To: to, Eventual: true}, do, failed)
				return nil
			})
		}
	}
	_ = shardsOf.Wait() // failed has the errors
	return errors.Join(append(errs, ctx.Err())...)
}

// shard calls do with the pending work that query finds; see each.
func (s *Sweeper) shard(ctx context.Context, q queue.Queue, query table.Query, do func(queue.Queue, []pendingItem) error, failed func(error)) {
	if ctx.Err() != nil {
		return
	}
	waiting := map[queue.Queue][]pendingItem{}
	flush := func(to queue.Queue) {
		if items := waiting[to]; len(items) > 0 {
			if err := do(to, items); err != nil {
				failed(err)
			}
			waiting[to] = nil
		}
	}
	for item, err := range table.All(ctx, s.Table, query) {
		if err != nil {
			failed(fmt.Errorf("list pending work: %w", err)) // what is damaged hides nothing else
			continue
		}
		w, err := Decode(item.Body)
		to := q
		switch {
		case err != nil:
			failed(fmt.Errorf("pending item %s: %w", item.Sort, err))
			continue
		case w.Kind == ExtractDocument:
			to = s.Extractions
		case w.Meaning:
			to = s.Embeddings
		}
		if to == nil {
			continue
		}
		if waiting[to] = append(waiting[to], pendingItem{item, w}); len(waiting[to]) == queue.MaxBatch {
			flush(to)
		}
		if ctx.Err() != nil {
			return
		}
	}
	for to := range waiting {
		flush(to)
	}
}

// sweep is one call of Sweep.
type sweep struct {
	*Sweeper
	now     time.Time
	patient time.Time // since when patience counts

	mu     sync.Mutex
	result Result
}

// some handles up to queue.MaxBatch items of a queue.
func (s *sweep) some(ctx context.Context, q queue.Queue, items []pendingItem) error {
	var errs []error
	var due []pendingItem
	for _, i := range items {
		send, err := s.isDue(ctx, i)
		if send {
			due = append(due, i)
		}
		errs = append(errs, err)
	}
	if len(due) == 0 {
		return errors.Join(errs...)
	}
	messages := make([]queue.Outgoing, len(due))
	for n, i := range due {
		messages[n] = queue.Outgoing{Body: i.Body, Group: i.work.TeamID}
	}
	if err := q.Send(ctx, messages...); err != nil {
		return errors.Join(append(errs, fmt.Errorf("send %d pieces of work again, the first %s %s: %w", len(due), due[0].work.Kind, due[0].work.ID, err))...)
	}
	s.mu.Lock()
	s.result.Sent += len(due)
	s.mu.Unlock()
	marked := make([]error, len(due))
	var marks errgroup.Group
	marks.SetLimit(max(s.Parallel, 1))
	for n, i := range due {
		marks.Go(func() error {
			marked[n] = s.mark(ctx, i)
			return nil
		})
	}
	_ = marks.Wait() // marked has the errors
	return errors.Join(append(errs, marked...)...)
}

// isDue counts an item, gives its work up if it waits for too long, and reports whether it is to be
// sent now.
func (s *sweep) isDue(ctx context.Context, i pendingItem) (bool, error) {
	w, age := i.work, s.now.Sub(i.work.Since())
	s.mu.Lock()
	if w.Kind != SyncSource && w.Kind != RebuildIndex && w.Kind != DeliverWebhooks && w.Kind != ExtractDocument && !w.Meaning {
		s.result.Oldest = max(s.result.Oldest, age)
	}
	s.result.Left += i.Numbers[leftField]
	s.mu.Unlock()
	if patience := s.Patience(w.Kind); patience > 0 && !w.Meaning && min(age, s.now.Sub(s.patient)) > patience {
		if err := s.GiveUp(ctx, w); err != nil {
			return false, fmt.Errorf("give up %s %s: %w", w.Kind, w.ID, err)
		}
		s.mu.Lock()
		s.result.GivenUp++
		s.mu.Unlock()
		return false, nil
	}
	wait := time.UnixMilli(i.Numbers[nextField]).Sub(s.now)
	return wait <= 0 || wait > maxAhead, nil
}

// mark records that an item was sent.
func (s *sweep) mark(ctx context.Context, i pendingItem) error {
	wait := min(Grace<<min(i.Numbers[sendsField], 10), maxWait)
	_, err := s.Table.Add(ctx, table.Add{Key: i.Key, If: table.Exists(),
		By: map[string]int64{sendsField: 1}, Numbers: map[string]int64{nextField: s.now.Add(wait).UnixMilli()}})
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("record that %s %s was sent again: %w", i.work.Kind, i.work.ID, err)
	}
	return nil
}
