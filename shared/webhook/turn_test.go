package webhook_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/webhook"
)

const oldURL, newURL = "https://old.test/", "https://new.test/"

// move gives an endpoint another URL, with the same secret.
func (w *world) move(e webhook.Endpoint) {
	w.t.Helper()
	w.mu.Lock()
	w.secrets[newURL] = w.secrets[oldURL]
	w.mu.Unlock()
	if _, err := w.Update(w.t.Context(), team, e.ID, func(f *webhook.Fields) error { f.URL = newURL; return nil }); err != nil {
		w.t.Error(err)
	}
}

// enableAgain disables an endpoint and enables it.
func (w *world) enableAgain(e webhook.Endpoint) {
	w.t.Helper()
	for _, disabled := range []bool{true, false} {
		if _, err := w.Update(w.t.Context(), team, e.ID, func(f *webhook.Fields) error { f.Disabled = disabled; return nil }); err != nil {
			w.t.Error(err)
		}
	}
}

// TestATurnUnderWayDoesNotUndoARepair repairs an endpoint while a post to it waits for its reply. The reply changes nothing of the
// endpoint.
func TestATurnUnderWayDoesNotUndoARepair(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failing time.Duration // before the repair
		repair  func(*world, webhook.Endpoint)
		url     string // afterwards
		reply   webhook.Reply
	}{
		"gone":                     {0, (*world).move, newURL, webhook.Reply{Status: 410}},
		"gone, enabled again":      {0, (*world).enableAgain, oldURL, webhook.Reply{Status: 410}},
		"failing for three days":   {73 * time.Hour, (*world).move, newURL, webhook.Reply{Status: 503}},
		"asks for a pause":         {0, (*world).move, newURL, webhook.Reply{Status: 429, RetryAfter: "3600"}},
		"fails for the first time": {0, (*world).move, newURL, webhook.Reply{Error: webhook.TimedOut}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			e := w.endpoint(oldURL, "answer.asked")
			if c.failing > 0 {
				w.answer = func(webhook.Request) webhook.Reply { return webhook.Reply{Status: 503, RetryAfter: "86400"} }
				w.happen(audit.AnswerAsked, 1)
				w.work()
				w.clock.Advance(c.failing)
				w.answer = nil
			}
			receive := w.Post
			var first sync.Once
			w.Post = func(ctx context.Context, r webhook.Request) webhook.Reply {
				reply := receive(ctx, r)
				first.Do(func() {
					c.repair(w, e)
					reply = c.reply
				})
				return reply
			}
			w.happen(audit.AnswerAsked, 1)
			w.work()
			w.taken()
			w.happen(audit.AnswerAsked, 1)
			w.work()
			if posts := w.taken(); len(posts) != 1 || posts[0].url != c.url {
				t.Errorf("posts after the repair: %+v", posts)
			}
			if got, err := w.Get(t.Context(), team, e.ID); err != nil || got.Disabled || got.DisabledReason != "" || got.URL != c.url {
				t.Errorf("endpoint %+v %v", got, err)
			}
			// The failures before do not count afterwards either.
			w.Post = func(context.Context, webhook.Request) webhook.Reply { return webhook.Reply{Status: 500} }
			w.happen(audit.AnswerAsked, 1)
			w.work()
			if got, err := w.Get(t.Context(), team, e.ID); err != nil || got.Disabled {
				t.Errorf("after the first failure: %+v %v", got, err)
			}
		})
	}
}

// TestATurnPostsToTheURLThatItsLeaseIsFor changes the URL after a turn has read the endpoint and before it acquires the lease.
func TestATurnPostsToTheURLThatItsLeaseIsFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.endpoint(oldURL, "answer.asked")
	open := w.Open
	var first sync.Once
	w.Open = func(ctx context.Context, sealed []byte, about string) ([]byte, error) {
		first.Do(func() { w.move(e) })
		return open(ctx, sealed, about)
	}
	w.answer = func(r webhook.Request) webhook.Reply {
		if r.URL == oldURL {
			return webhook.Reply{Status: 410}
		}
		return webhook.Reply{Status: 204}
	}
	w.happen(audit.AnswerAsked, 1) // one turn, so that no other one is before the change
	w.work()
	if posts := w.taken(); len(posts) != 1 || posts[0].url != newURL {
		t.Errorf("posts %+v", posts)
	}
	for _, d := range w.deliveries(e.ID) {
		if d.Status != webhook.Delivered {
			t.Errorf("delivery %+v", d)
		}
	}
	if got, err := w.Get(t.Context(), team, e.ID); err != nil || got.Disabled {
		t.Errorf("endpoint %+v %v", got, err)
	}
	if n := w.pendingItems(); n != 0 {
		t.Errorf("%d items are still pending", n)
	}
}

// TestATurnGivesBackItsOwnLeaseOnly has a turn that takes longer than its lease, and another one after it.
func TestATurnGivesBackItsOwnLeaseOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.endpoint(oldURL, "answer.asked")
	held, release := make(chan int, 2), []chan struct{}{make(chan struct{}), make(chan struct{})}
	posts := 0
	receive := w.Post
	w.Post = func(ctx context.Context, r webhook.Request) webhook.Reply {
		w.mu.Lock()
		n := posts
		posts++
		w.mu.Unlock()
		if n < len(release) {
			held <- n
			<-release[n]
		}
		return receive(ctx, r)
	}
	ended := []chan struct{}{make(chan struct{}), make(chan struct{})}
	for n := range ended { // the second turn begins when the first one's lease is over
		w.happen(audit.AnswerAsked, 1)
		go func() { defer close(ended[n]); w.work() }()
		<-held
		w.clock.Advance(time.Duration(1-n) * 2 * time.Minute)
	}
	close(release[0])
	<-ended[0]
	w.taken()
	w.happen(audit.AnswerAsked, 1)
	w.work()
	if got := w.taken(); len(got) != 0 {
		t.Errorf("%d posts while the second turn has the lease", len(got))
	}
	close(release[1])
	<-ended[1]
	w.pass(2*time.Minute, 10*time.Second)
	all := w.deliveries(e.ID)
	for _, d := range all {
		if d.Status != webhook.Delivered {
			t.Errorf("delivery %+v", d)
		}
	}
	if n := w.pendingItems(); len(all) != 3 || n != 0 {
		t.Errorf("%d deliveries, %d items are still pending", len(all), n)
	}
}

// TestWhatTheOldURLRefusesForGoodReachesTheNewOne changes the URL while a post to the old one waits for its reply, which is 410.
func TestWhatTheOldURLRefusesForGoodReachesTheNewOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.endpoint(oldURL, "answer.asked")
	receive := w.Post
	w.Post = func(ctx context.Context, r webhook.Request) webhook.Reply {
		reply := receive(ctx, r)
		if r.URL == oldURL {
			w.move(e)
			reply = webhook.Reply{Status: 410}
		}
		return reply
	}
	w.happen(audit.AnswerAsked, 1)
	w.work()
	w.pass(time.Minute, time.Second)
	if posts := w.taken(); len(posts) != 2 || posts[1].url != newURL || posts[1].id != posts[0].id {
		t.Errorf("posts %+v", posts)
	}
	for _, d := range w.deliveries(e.ID) {
		if d.Status != webhook.Delivered {
			t.Errorf("delivery %+v", d)
		}
	}
	if n := w.pendingItems(); n != 0 {
		t.Errorf("%d items are still pending", n)
	}
}

// TestTheLastAttemptAtTheOldURLIsNotTheLastAtTheNewOne changes the URL while the last post to the old one waits for its reply.
// The new URL gets the delivery, with all attempts.
func TestTheLastAttemptAtTheOldURLIsNotTheLastAtTheNewOne(t *testing.T) {
	t.Parallel()
	for _, last := range []int{410, 503} {
		w := newWorld(t)
		e := w.endpoint(oldURL, "answer.asked")
		receive := w.Post
		old, refused := 0, false
		w.Post = func(ctx context.Context, r webhook.Request) webhook.Reply {
			reply := receive(ctx, r)
			if r.URL == newURL {
				if !refused {
					refused, reply.Status = true, 500
				}
				return reply
			}
			if old++; old < 10 {
				return webhook.Reply{Status: 503}
			}
			w.move(e)
			return webhook.Reply{Status: last}
		}
		w.happen(audit.AnswerAsked, 1)
		for range 10 {
			w.work()
			w.pass(8*time.Hour, 5*time.Minute)
		}
		w.pass(10*time.Hour, 5*time.Minute)
		posts := w.taken()
		if n := len(posts); old != 10 || n != 12 || posts[n-1].url != newURL {
			t.Errorf("after %d: %d posts to the old URL, %d in all", last, old, n)
		}
		if d := w.deliveries(e.ID); len(d) != 1 || d[0].Status != webhook.Delivered {
			t.Errorf("after %d: deliveries %+v", last, d)
		}
		if got, err := w.Get(t.Context(), team, e.ID); err != nil || got.Disabled {
			t.Errorf("after %d: endpoint %+v %v", last, got, err)
		}
	}
}

// TestSecurityEventsGoOnlyToAnEndpointThatHasTheirType: also those that wait, and those that are replayed. Whoever may not read security
// events may change the address of an endpoint that has no types of them any more.
func TestSecurityEventsGoOnlyToAnEndpointThatHasTheirType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		down   bool       // the first address: the deliveries wait
		types  [][]string // that the endpoint gets, one change after the other; the last one with the other address
		replay bool
		want   string
	}{
		"wait":            {true, [][]string{{"answer.completed"}}, false, "answer.completed"},
		"wait, two steps": {true, [][]string{{"answer.completed"}, {"answer.completed"}}, false, "answer.completed"},
		"wait, kept":      {true, [][]string{{"answer.asked"}}, false, "answer.asked answer.completed"},
		"replayed":        {false, [][]string{{"answer.failed"}}, true, "answer.completed webhook.test"},
		"replayed, kept":  {false, [][]string{{"answer.asked"}}, true, "answer.asked answer.completed webhook.test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			const here, there = "https://here.test/", "https://there.test/"
			e := w.endpoint(here, "answer.completed", "answer.asked")
			w.secrets[there] = w.secrets[here]
			w.answer = func(r webhook.Request) webhook.Reply {
				if c.down && r.URL == here {
					return webhook.Reply{Status: 503}
				}
				return webhook.Reply{Status: 204}
			}
			w.happen(audit.AnswerAsked, 1)
			if c.replay {
				if _, err := w.Test(t.Context(), team, e.ID); err != nil {
					t.Fatal(err)
				}
			}
			w.work()
			for i, types := range c.types {
				_, err := w.Update(t.Context(), team, e.ID, func(f *webhook.Fields) error {
					f.EventTypes = types
					if i == len(c.types)-1 {
						f.URL = there
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			w.taken()
			if c.replay {
				for _, d := range w.deliveries(e.ID) {
					if _, err := w.Replay(t.Context(), team, e.ID, d.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
			w.pass(10*time.Minute, time.Second)
			var kinds []string
			for _, p := range w.taken() {
				if p.url == there {
					kinds = append(kinds, p.kind)
				}
			}
			slices.Sort(kinds)
			if got := strings.Join(kinds, " "); got != c.want {
				t.Errorf("posted %q, want %q", got, c.want)
			}
			if n := w.pendingItems(); n != 0 {
				t.Errorf("%d items are still pending", n)
			}
		})
	}
}
