package webhook_test

import (
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/queue"
	"docent/shared/webhook"
)

// TestATeamLeavesWorkersToOthers has two workers. While one posts to an endpoint of a team that is slow to answer, the other one is
// kept from another endpoint of this team, but not from one of another team. However many events there are, one message waits.
func TestATeamLeavesWorkersToOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Workers = 2
	held, release := make(chan string), make(chan struct{})
	w.answer = func(r webhook.Request) webhook.Reply {
		w.mu.Unlock() // of receive, so that others can post in the meantime
		defer w.mu.Lock()
		held <- r.URL
		<-release
		return webhook.Reply{Status: 204}
	}
	for _, url := range []string{"https://one.test/", "https://two.test/"} {
		w.endpoint(url, "answer.asked")
	}
	if _, secret, err := w.Create(t.Context(), other, webhook.Fields{URL: "https://other.test/", EventTypes: []string{"answer.asked"}}); err != nil {
		t.Fatal(err)
	} else {
		w.secrets["https://other.test/"] = []string{secret}
	}
	handle := func() (done chan struct{}) {
		done = make(chan struct{})
		go func() { defer close(done); w.work() }()
		return done
	}
	w.happen(audit.AnswerAsked, 1)
	first := handle()
	slow := <-held
	for range 5 {
		w.happen(audit.AnswerAsked, 1)
		w.work() // posts nothing, or it would not end
	}
	if err := w.log.Write(t.Context(), other, []audit.Event{{Type: audit.AnswerAsked, Targets: []audit.Target{{Type: audit.TargetAnswer, ID: "q"}}}}); err != nil {
		t.Fatal(err)
	}
	second := handle()
	if url := <-held; url != "https://other.test/" {
		t.Errorf("posted to %s while %s is slow", url, slow)
	}
	close(release)
	go func() {
		for range held { // the rest of the first turn
		}
	}()
	<-first
	<-second
	w.clock.Advance(time.Second)
	if waiting, err := w.queue.Receive(t.Context(), queue.MaxBatch, 0); err != nil || len(waiting) == 0 || len(waiting) > 2 {
		t.Errorf("%d messages wait: %v", len(waiting), err)
	} else if err := w.queue.Retry(t.Context(), 0, waiting...); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		w.work()
		w.clock.Advance(time.Second)
	}
	close(held)
	got := map[string]int{}
	for _, p := range w.taken() {
		got[p.url]++
	}
	if got["https://one.test/"] != 6 || got["https://two.test/"] != 6 || got["https://other.test/"] != 1 {
		t.Errorf("posts: %v", got)
	}
	if n := w.pendingItems(); n != 0 {
		t.Errorf("%d items are pending", n)
	}
}

// TestATurnWithoutRoomIsNotLostWhenTheClockIsSetBack: its message is received before the time for which it was sent, and there
// still is no room.
func TestATurnWithoutRoomIsNotLostWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Workers = 2
	w.clock.Advance(500 * time.Millisecond)
	var back atomic.Int64
	w.Worker.Now = func() time.Time { return w.clock.Now().Add(-time.Duration(back.Load())) } // the queue's clock goes on
	held, release := make(chan struct{}), make(chan struct{})
	w.answer = func(webhook.Request) webhook.Reply {
		w.mu.Unlock() // of receive, so that others can post in the meantime
		defer w.mu.Lock()
		select {
		case held <- struct{}{}:
			<-release
		case <-release:
		}
		return webhook.Reply{Status: 204}
	}
	w.endpoint("https://one.test/", "answer.asked")
	w.endpoint("https://two.test/", "answer.asked")
	w.happen(audit.AnswerAsked, 1)
	done := make(chan struct{})
	go func() { defer close(done); w.work() }()
	<-held
	w.happen(audit.AnswerAsked, 1)
	w.work() // both endpoints are to be tried again at the next second
	back.Store(int64(800 * time.Millisecond))
	w.clock.Advance(500 * time.Millisecond)
	w.work()
	close(release)
	<-done
	for range 5 { // less than a minute: nothing is swept
		w.clock.Advance(time.Second)
		w.work()
	}
	got := map[string]int{}
	for _, p := range w.taken() {
		got[p.url]++
	}
	if got["https://one.test/"] != 2 || got["https://two.test/"] != 2 {
		t.Errorf("posts: %v", got)
	}
}
