package webhook_test

import (
	"context"
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/webhook"
)

// TestAClockThatWasAhead: what failed while the clock was a year ahead is tried again soon after the clock was set right, and holds up
// nothing that happens then.
func TestAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for name, after := range map[string]func(w *world){
		"the process goes on": func(*world) {},
		"it starts again":     (*world).restart,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.restart()
			w.endpoint("https://a.test", "answer.asked")
			w.answer = func(webhook.Request) webhook.Reply { return webhook.Reply{Status: 500} }
			w.clock.Advance(year)
			w.happen(audit.AnswerAsked, 1)
			w.pass(2*time.Hour, time.Minute) // its next attempt is further away than messages are sent ahead
			w.clock.Advance(-year)
			after(w)
			w.answer = nil
			w.taken()
			w.happen(audit.AnswerAsked, 1)
			w.pass(2*time.Hour, 5*time.Second)
			if got := w.taken(); len(got) != 2 {
				t.Errorf("within two hours: %d posts, want that of before and the new one", len(got))
			}
		})
	}
}

// TestALeaseOfAClockThatWasAhead: a process that was killed in a turn while its clock was a year ahead holds no later one up.
func TestALeaseOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	w := newWorld(t)
	w.restart()
	w.endpoint("https://a.test", "answer.asked")
	w.clock.Advance(year)
	post := w.Post
	w.Post = func(ctx context.Context, r webhook.Request) webhook.Reply { // it stands still, as if it was killed
		w.clock.Advance(-year)
		w.restart()
		w.pass(time.Minute, 5*time.Second)
		return post(ctx, r)
	}
	w.happen(audit.AnswerAsked, 1)
	w.work()
	if got := w.taken(); len(got) != 2 {
		t.Errorf("%d posts, want those of both processes", len(got))
	}
}
