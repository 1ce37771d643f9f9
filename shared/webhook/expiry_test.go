package webhook_test

import (
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/webhook"
)

// TestAReplayOfAnOldEventIsRetried replays an event that is older than what waits for a disabled endpoint may be, and one that
// would be listed for a day only, to an endpoint that is down for a while.
func TestAReplayOfAnOldEventIsRetried(t *testing.T) {
	t.Parallel()
	for age, down := range map[time.Duration]time.Duration{10 * 24 * time.Hour: time.Minute, 29 * 24 * time.Hour: 36 * time.Hour} {
		w := newWorld(t)
		e := w.endpoint("https://a.test/", "answer.asked")
		w.happen(audit.AnswerAsked, 1)
		w.work()
		w.clock.Advance(age)
		up := w.clock.Now().Add(down)
		w.answer = func(webhook.Request) webhook.Reply {
			if w.clock.Now().Before(up) {
				return webhook.Reply{Status: 503}
			}
			return webhook.Reply{Status: 204}
		}
		if _, err := w.Replay(t.Context(), team, e.ID, w.taken()[0].id); err != nil {
			t.Fatal(err)
		}
		w.work()
		w.pass(60*time.Hour, 4*time.Minute)
		if posts := w.taken(); len(posts) < 2 || posts[len(posts)-1].at.Before(up) {
			t.Errorf("posts after the replay of an event %s old: %+v", age, posts)
		}
		if d := w.deliveries(e.ID); len(d) != 1 || d[0].Status != webhook.Delivered {
			t.Errorf("deliveries %+v", d)
		}
	}
}

// TestWhatExpiredHidesNothing enables an endpoint so long after it was disabled that what waited for it has expired.
func TestWhatExpiredHidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.endpoint("https://a.test/", "answer.asked")
	w.answer = func(webhook.Request) webhook.Reply { return webhook.Reply{Status: 503} }
	const before = 120
	w.happen(audit.AnswerAsked, before)
	w.work()
	disable := func(disabled bool) {
		if _, err := w.Update(t.Context(), team, e.ID, func(f *webhook.Fields) error { f.Disabled = disabled; return nil }); err != nil {
			t.Fatal(err)
		}
		w.work()
	}
	disable(true)
	w.clock.Advance(31 * 24 * time.Hour)
	disable(false)
	w.taken()
	w.happen(audit.AnswerAsked, 1) // it fails once more
	w.work()
	if n := len(w.taken()); n != 1 {
		t.Errorf("%d posts after it was enabled", n)
	}
	w.answer = nil
	w.pass(time.Hour, time.Minute)
	if d := w.deliveries(e.ID); len(d) != 1 || d[0].Status != webhook.Delivered {
		t.Errorf("deliveries %+v", d)
	}
}

// TestWhatWaitedForLongIsGivenUp enables endpoints long after they were disabled, with deliveries that were attempted and that
// were not.
func TestWhatWaitedForLongIsGivenUp(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int{6 * 24 * time.Hour: 2, 8 * 24 * time.Hour: 0} {
		w := newWorld(t)
		e := w.endpoint("https://a.test/", "answer.asked")
		w.answer = func(webhook.Request) webhook.Reply { return webhook.Reply{Status: 503} }
		w.happen(audit.AnswerAsked, 1)
		w.work()
		w.happen(audit.AnswerAsked, 1) // the endpoint rests
		w.work()
		disable := func(disabled bool) {
			if _, err := w.Update(t.Context(), team, e.ID, func(f *webhook.Fields) error { f.Disabled = disabled; return nil }); err != nil {
				t.Fatal(err)
			}
			w.work()
		}
		disable(true)
		w.clock.Advance(wait)
		w.answer = nil
		w.taken()
		disable(false)
		if n := len(w.taken()); n != want {
			t.Errorf("%d posts after %s, want %d", n, wait, want)
		}
		if n := w.pendingItems(); n != 0 {
			t.Errorf("%d items are still pending", n)
		}
	}
}
