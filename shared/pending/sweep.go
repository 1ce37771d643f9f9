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

// Sweeper sends again what has been pending too long.
type Sweeper struct {
	Table  table.Store
	Queues map[string]queue.Queue // by the table of the pending items
	Now    func() time.Time
	// GiveUp records that w will not be done, once it has been pending for
	// longer than Patience; it ends the pending item itself.
	GiveUp   func(ctx context.Context, w Work) error
	Patience func(k Kind) time.Duration // 0: never give up
}

// Result counts what one Sweep did.
type Result struct {
	Sent, GivenUp int
	// Oldest is the age of the oldest pending item, 0 when there is none past Grace.
	// Syncs are left out: each is pending until its source is read, for hours the first time.
	Oldest time.Duration
}

// Sweep goes once over everything that has been pending for longer than Grace.
// Work is sent 1, 2, 4 … minutes after its write, at most an hour apart, so that
// a long queue is not filled with copies. It goes on past single failures and
// returns them joined.
func (s *Sweeper) Sweep(ctx context.Context) (Result, error) { return s.sweep(ctx, Grace) }

// SweepAll is Sweep without the grace: for the start of the only process, when
// nobody else can be about to send.
func (s *Sweeper) SweepAll(ctx context.Context) (Result, error) { return s.sweep(ctx, 0) }

func (s *Sweeper) sweep(ctx context.Context, grace time.Duration) (Result, error) {
	var result Result
	var errs []error
	now := s.Now()
	for name, q := range s.Queues {
		for shard := range shards {
			query := table.Query{Table: name, Partition: fmt.Sprintf("pending/%d", shard),
				To: fmt.Sprintf("%013d", now.Add(-grace).UnixMilli()+1)}
			for item, err := range table.All(ctx, s.Table, query) {
				if err != nil {
					errs = append(errs, fmt.Errorf("list pending work: %w", err))
					break
				}
				if err := s.one(ctx, q, item, now, &result); err != nil {
					errs = append(errs, err)
				}
			}
			if ctx.Err() != nil {
				return result, errors.Join(append(errs, ctx.Err())...)
			}
		}
	}
	return result, errors.Join(errs...)
}

func (s *Sweeper) one(ctx context.Context, q queue.Queue, item table.Item, now time.Time, result *Result) error {
	w, err := Decode(item.Body)
	if err != nil {
		return fmt.Errorf("pending item %s: %w", item.Sort, err)
	}
	age := now.Sub(w.Since())
	if w.Kind != SyncSource {
		result.Oldest = max(result.Oldest, age)
	}
	if patience := s.Patience(w.Kind); patience > 0 && age > patience {
		if err := s.GiveUp(ctx, w); err != nil {
			return fmt.Errorf("give up %s %s: %w", w.Kind, w.ID, err)
		}
		result.GivenUp++
		return nil
	}
	if now.UnixMilli() < item.Numbers["next"] {
		return nil
	}
	if err := q.Send(ctx, queue.Outgoing{Body: item.Body}); err != nil {
		return fmt.Errorf("send %s %s again: %w", w.Kind, w.ID, err)
	}
	result.Sent++
	wait := min(Grace<<min(item.Numbers["sends"], 10), maxWait)
	_, err = s.Table.Add(ctx, table.Add{Key: item.Key, If: table.Exists(),
		By: map[string]int64{"sends": 1}, Numbers: map[string]int64{"next": now.Add(wait).UnixMilli()}})
	if err != nil && table.Failed(err) == nil {
		return fmt.Errorf("note that %s %s was sent again: %w", w.Kind, w.ID, err)
	}
	return nil
}
