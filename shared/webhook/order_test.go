package webhook_test

import (
	"context"
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/webhook"
)

// aboutOne returns an event about one user.
func aboutOne(kind audit.Type) audit.Event {
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetUser, ID: "ada"}}}
}

// TestATurnEndsInTimeForASlowReceiver has many events about one user, which are posted one after the other, and a receiver that
// takes nearly all of its time for each. A turn ends before its lease, and before the time of the function on AWS.
func TestATurnEndsInTimeForASlowReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.endpoint("https://a.test/", "scim.user.updated")
	receive := w.Post
	w.Post = func(ctx context.Context, r webhook.Request) webhook.Reply {
		w.clock.Advance(14 * time.Second)
		return receive(ctx, r)
	}
	const events = 10
	for range events {
		if err := w.log.Write(t.Context(), team, []audit.Event{aboutOne(audit.SCIMUserUpdated)}); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 * events {
		batch, err := w.queue.Receive(t.Context(), 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(batch) == 0 {
			break
		}
		before := w.clock.Now()
		if failed := w.Batch(t.Context(), batch); len(failed) > 0 {
			t.Fatal("a turn failed")
		}
		if took := w.clock.Now().Sub(before); took > 40*time.Second {
			t.Errorf("a turn took %s", took)
		}
		if err := w.queue.Done(t.Context(), batch...); err != nil {
			t.Fatal(err)
		}
	}
	if posts := w.taken(); len(posts) != events {
		t.Errorf("%d posts, want %d", len(posts), events)
	}
	if n := w.pendingItems(); n != 0 {
		t.Errorf("%d items are still pending", n)
	}
}
