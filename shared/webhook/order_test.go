package webhook_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/queue"
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

// TestEventsAboutOneSubjectArriveInOrder records several events about one user in one Write and in several, and handles the
// messages about them in every order.
func TestEventsAboutOneSubjectArriveInOrder(t *testing.T) {
	t.Parallel()
	kinds := []audit.Type{audit.SCIMUserCreated, audit.SCIMUserUpdated, audit.UserRoleChanged, audit.SCIMUserDeactivated, audit.SCIMUserDeleted}
	var want []string
	for _, k := range kinds {
		want = append(want, string(k))
	}
	for name, together := range map[string]bool{"in one write": true, "in several": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 5 {
				w := newWorld(t)
				w.endpoint("https://a.test/", want...)
				w.work()
				if together {
					var all []audit.Event
					for _, k := range kinds {
						all = append(all, aboutOne(k))
					}
					if err := w.log.Write(t.Context(), team, all); err != nil {
						t.Fatal(err)
					}
				} else {
					for _, k := range kinds {
						if err := w.log.Write(t.Context(), team, []audit.Event{aboutOne(k)}); err != nil {
							t.Fatal(err)
						}
					}
				}
				w.announceFirst()
				w.work()
				var got []string
				for _, p := range w.taken() {
					got = append(got, p.kind)
				}
				if !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

// announceFirst handles the messages that are in the queue, those sent last first, before any that they lead to.
func (w *world) announceFirst() {
	w.t.Helper()
	batch, err := w.queue.Receive(w.t.Context(), queue.MaxBatch, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Reverse(batch)
	for _, m := range batch {
		if failed := w.Batch(w.t.Context(), []queue.Message{m}); len(failed) > 0 {
			w.t.Fatal("an announcement failed")
		}
		if err := w.queue.Done(w.t.Context(), m); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestManyEventsOfOneMomentArriveInOrder records more events about one user in one Write than a turn posts at the same time.
func TestManyEventsOfOneMomentArriveInOrder(t *testing.T) {
	t.Parallel()
	kinds := []audit.Type{audit.SCIMUserCreated, audit.SCIMUserUpdated, audit.UserRoleChanged, audit.SCIMUserDeactivated, audit.SCIMUserReactivated}
	var types, want []string
	var all []audit.Event
	for _, k := range kinds {
		types = append(types, string(k))
	}
	for i := range 30 {
		want = append(want, types[i%len(types)])
		all = append(all, aboutOne(kinds[i%len(kinds)]))
	}
	w := newWorld(t)
	w.endpoint("https://a.test/", types...)
	w.work()
	if err := w.log.Write(t.Context(), team, all); err != nil {
		t.Fatal(err)
	}
	w.work()
	var got []string
	for _, p := range w.taken() {
		got = append(got, p.kind)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
