package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/table"
)

// Worker makes the deliveries.
type Worker struct {
	*Service
	// Post sends a request and returns the reply. It reaches public addresses only, follows no
	// redirects, and bounds time and size.
	Post func(ctx context.Context, r Request) Reply
	// Jitter returns a random part of d, so that retries spread; nil: none.
	Jitter func(d time.Duration) time.Duration
	// Alone is the time since which this process alone makes deliveries, from a queue in its memory; zero: others do as
	// well. What an earlier process leased or scheduled, and was killed with, then delays nothing.
	Alone time.Time
	// Workers is how many call Batch at the same time, with a message each; 0: any number.
	Workers int
	Log     *slog.Logger

	room  room
	woken sync.Map // if Alone, in place of the wakeField: int64 by endpoint id
}

// Request is a post to an endpoint.
type Request struct {
	URL    string
	Header map[string]string
	Body   []byte
}

// Reply is what an endpoint answered.
type Reply struct {
	Status     int    // 0: there is no reply
	RetryAfter string // the header
	Error      string // why there is no reply: one of the errors below
}

// The errors of a Reply.
const (
	TimedOut         = "timeout"
	BlockedAddress   = "blocked-address" // the host is not on the public internet
	ConnectionFailed = "connection-failed"
)

// Batch does the work of a batch of messages, all at the same time, and returns the ids of the
// messages that failed.
func (w *Worker) Batch(ctx context.Context, batch []queue.Message) []string {
	var all sync.WaitGroup
	failed := make([]bool, len(batch))
	for i, m := range batch {
		all.Go(func() { failed[i] = !w.handle(ctx, m) })
	}
	all.Wait()
	var ids []string
	for i, m := range batch {
		if failed[i] {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// handle reports whether the work of m is done. Work that is not done stays pending.
func (w *Worker) handle(ctx context.Context, m queue.Message) bool {
	work, err := pending.Decode(m.Body)
	switch {
	case err != nil:
	case work.Kind == pending.AnnounceEvents:
		err = w.announce(ctx, work)
	case work.Kind == pending.DeliverWebhooks:
		err = w.turn(ctx, work)
	default:
		err = fmt.Errorf("the queue of deliveries carries no %s", work.Kind)
	}
	if err != nil {
		pending.Worker{Log: w.Log}.Fail(ctx, m, work, err)
	}
	return err == nil
}

// announce turns each notice of work into the deliveries of the endpoints that want it, in one
// Write. If a delivery exists, an earlier attempt has made all of that notice.
func (w *Worker) announce(ctx context.Context, work pending.Work) error {
	all, err := w.endpoints(ctx, work.TeamID)
	if err != nil {
		return err
	}
	now := w.now()
	told := map[string]bool{}
	var turns []pending.Work
	for _, n := range work.Notices {
		d, err := w.newDelivery(work.TeamID, n, now)
		if err != nil {
			return err
		}
		var ops []table.Op
		for _, e := range all.all {
			if !e.wants(n.Type) {
				continue
			}
			item, err := d.item(work.TeamID, e.ID)
			if err != nil {
				return err
			}
			ops = append(ops, table.Put{Item: item, If: table.Absent()}, d.wait(work.TeamID, e.ID), flagPut(work.TeamID, e.ID))
			if !told[e.ID] {
				told[e.ID], turns = true, append(turns, flag(work.TeamID, e.ID))
			}
		}
		if len(ops) == 0 {
			continue
		}
		if err := w.Table.Write(ctx, ops...); err != nil && table.AsConditionFailed(err) == nil {
			return fmt.Errorf("store deliveries: %w", err)
		}
	}
	if err := w.Table.Write(ctx, table.Delete{Key: work.Key()}); err != nil {
		return fmt.Errorf("end the announcement: %w", err)
	}
	w.Outbox.Send(ctx, turns...)
	return nil
}
