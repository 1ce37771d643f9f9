package webhook_test

import (
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/webhook"
)

const day = 24 * time.Hour

// TestTimeWithoutAWorkerIsNoFailureOfTheEndpoint stops the server while an endpoint fails, and starts it again days later.
func TestTimeWithoutAWorkerIsNoFailureOfTheEndpoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ failing, off, then time.Duration }{
		"at once":       {0, 4 * day, 60 * time.Hour},
		"after a while": {2 * day, 2 * day, 12 * time.Hour},
		"for a month":   {day, 29 * day, day},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			e := w.endpoint("https://a.test/", "answer.asked")
			w.answer = func(webhook.Request) webhook.Reply { return webhook.Reply{Status: 503} }
			fail := func(d time.Duration) {
				for range d / (4 * time.Hour) { // something happens all the time
					w.happen(audit.AnswerAsked, 1)
					w.pass(4*time.Hour, 5*time.Minute)
				}
			}
			w.happen(audit.AnswerAsked, 1)
			w.work()
			fail(c.failing)
			w.clock.Advance(c.off)
			w.restart()
			fail(c.then)
			if got, err := w.Get(t.Context(), team, e.ID); err != nil || got.Disabled {
				t.Fatalf("disabled too early: %+v %v", got, err)
			}
			fail(3 * day)
			if got, err := w.Get(t.Context(), team, e.ID); err != nil || got.DisabledReason != webhook.Failing {
				t.Errorf("endpoint %+v %v", got, err)
			}
		})
	}
}

// TestWhatWaitedWhileNoWorkerRanIsDelivered stops the server for longer than deliveries wait for a disabled endpoint. The receiver
// is down for a while afterwards.
func TestWhatWaitedWhileNoWorkerRanIsDelivered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.endpoint("https://a.test/", "answer.asked")
	w.answer = func(webhook.Request) webhook.Reply { return webhook.Reply{Status: 503} }
	w.happen(audit.AnswerAsked, 1)
	w.work()
	w.happen(audit.AnswerAsked, 30) // the endpoint rests
	w.clock.Advance(10 * day)
	w.restart()
	w.work()
	w.pass(12*time.Hour, time.Minute)
	w.answer = nil
	w.pass(12*time.Hour, time.Minute)
	all := w.deliveries(e.ID)
	for _, d := range all {
		if d.Status != webhook.Delivered {
			t.Errorf("delivery %+v", d)
		}
	}
	if n := w.pendingItems(); len(all) != 31 || n != 0 {
		t.Errorf("%d deliveries, %d items are still pending", len(all), n)
	}
}
