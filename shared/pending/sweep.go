package pending

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	Now        func() time.Time
	// GiveUp records that w will not be done, after it has been pending for longer
	// than Patience. It must remove the pending item.
	GiveUp   func(ctx context.Context, w Work) error
	Patience func(k Kind) time.Duration // 0: never give up

	resumed time.Time // when Resume was called
}

// Result counts what one Sweep did.
type Result struct {
	Sent, GivenUp int
	// Oldest is the age of the oldest pending item, or 0 if none is older than Grace.
	// It ignores syncs, rebuilds and documents that wait for vectors, which may be pending
	// for hours.
	Oldest time.Duration
	// Left is the number of documents that pending rebuilds still have to index.
	Left int64
}

// The numbers of a pending item that the sweeper keeps.
const (
	sendsField = "sends" // number of times it was sent again
	nextField  = "next"  // Unix milliseconds before which it is not sent again
)

// Sweep checks everything that has been pending for longer than Grace. It sends work
// 1, 2, 4 … minutes after its write, at most an hour apart, so that a long queue is
// not filled with copies. It continues after failures and returns them joined.
func (s *Sweeper) Sweep(ctx context.Context) (Result, error) {
	var result Result
	now := s.Now()
	err := s.each(ctx, fmt.Sprintf("%013d", now.Add(-Grace).UnixMilli()+1), func(q queue.Queue, item table.Item, w Work) error {
		return s.one(ctx, q, item, w, now, &result)
	})
	return result, err
}

// Resume sends all pending work, except syncs that are not due yet, and returns the
// number of messages. It is for a process with queues in memory, which are empty at
// its start: call it before any work. Patience counts from now, because no work was
// done while no process ran.
func (s *Sweeper) Resume(ctx context.Context) (sent int, err error) {
	s.resumed = s.Now()
	err = s.each(ctx, "", func(q queue.Queue, _ table.Item, w Work) error {
		if w.Kind == SyncSource && w.Since().After(s.resumed) {
			return nil
		}
		if err := q.Send(ctx, queue.Outgoing{Body: w.Message()}); err != nil {
			return fmt.Errorf("send %s %s: %w", w.Kind, w.ID, err)
		}
		sent++
		return nil
	})
	return sent, err
}

// each calls do for the pending work of every queue up to the sort key to; empty: all
// of it. It continues after failures and returns them joined.
func (s *Sweeper) each(ctx context.Context, to string, do func(queue.Queue, table.Item, Work) error) error {
	var errs []error
	for name, q := range s.Queues {
		for shard := range shards {
			query := table.Query{Table: name, Partition: fmt.Sprintf("pending/%d", shard), To: to}
			for item, err := range table.All(ctx, s.Table, query) {
				if err != nil {
					errs = append(errs, fmt.Errorf("list pending work: %w", err))
					break
				}
				w, err := Decode(item.Body)
				switch {
				case err != nil:
					err = fmt.Errorf("pending item %s: %w", item.Sort, err)
				case !w.Meaning:
					err = do(q, item, w)
				case s.Embeddings != nil:
					err = do(s.Embeddings, item, w)
				}
				if err != nil {
					errs = append(errs, err)
				}
			}
			if ctx.Err() != nil {
				return errors.Join(append(errs, ctx.Err())...)
			}
		}
	}
	return errors.Join(errs...)
}

func (s *Sweeper) one(ctx context.Context, q queue.Queue, item table.Item, w Work, now time.Time, result *Result) error {
	age := now.Sub(w.Since())
	if w.Kind != SyncSource && w.Kind != RebuildIndex && !w.Meaning {
		result.Oldest = max(result.Oldest, age)
	}
	result.Left += item.Numbers[leftField]
	if patience := s.Patience(w.Kind); patience > 0 && !w.Meaning && min(age, now.Sub(s.resumed)) > patience {
		if err := s.GiveUp(ctx, w); err != nil {
			return fmt.Errorf("give up %s %s: %w", w.Kind, w.ID, err)
		}
		result.GivenUp++
		return nil
	}
	if now.UnixMilli() < item.Numbers[nextField] {
		return nil
	}
	if err := q.Send(ctx, queue.Outgoing{Body: item.Body}); err != nil {
		return fmt.Errorf("send %s %s again: %w", w.Kind, w.ID, err)
	}
	result.Sent++
	wait := min(Grace<<min(item.Numbers[sendsField], 10), maxWait)
	_, err := s.Table.Add(ctx, table.Add{Key: item.Key, If: table.Exists(),
		By: map[string]int64{sendsField: 1}, Numbers: map[string]int64{nextField: now.Add(wait).UnixMilli()}})
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("record that %s %s was sent again: %w", w.Kind, w.ID, err)
	}
	return nil
}
