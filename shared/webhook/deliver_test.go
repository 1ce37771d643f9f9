package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/webhook"
)

func TestEventsReachTheEndpointsThatWantThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.endpoint("https://a.test/", "answer.completed")
	w.endpoint("https://b.test/", "answer.asked", "collection.deleted")
	w.endpoint("https://c.test/", "document.indexed")
	w.work()
	w.happen(audit.AnswerAsked, 1)
	w.happen(audit.CollectionDeleted, 1)
	w.happen(audit.TeamUpdated, 1)
	w.work()
	got := map[string]int{}
	for _, p := range w.taken() {
		got[p.url+" "+p.kind]++
		var body struct {
			Timestamp time.Time
			Data      struct {
				TeamID, State, Link string
				IDs                 []pending.Target
			}
		}
		if err := json.Unmarshal(p.body, &body); err != nil {
			t.Fatal(err)
		}
		if p.kind == "answer.completed" && (body.Data.TeamID != team || body.Data.State != "complete" || body.Data.Link != "https://docent.test/v1/answers/q0" ||
			len(body.Data.IDs) != 1 || body.Data.IDs[0] != (pending.Target{Type: "answer", ID: "q0"}) || !body.Timestamp.Equal(w.clock.Now())) {
			t.Errorf("body %s", p.body)
		}
	}
	want := map[string]int{"https://a.test/ answer.completed": 1, "https://b.test/ answer.asked": 1, "https://b.test/ collection.deleted": 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := w.pendingItems(); n != 0 {
		t.Errorf("%d items are still pending", n)
	}
}

func TestATeamWithoutEndpointsStoresNothingForThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.happen(audit.AnswerAsked, 3)
	e := w.endpoint("https://a.test/", "document.indexed")
	w.happen(audit.AnswerAsked, 3) // nobody wants these either
	if err := w.Delete(t.Context(), team, e.ID); err != nil {
		t.Fatal(err)
	}
	w.happen(audit.AnswerAsked, 3)
	if n := w.pendingItems(); n != 0 {
		t.Errorf("%d items are pending", n)
	}
}

// TestAReceiverThatFailsForAWhileGetsEverything has a receiver that is down for 20 hours.
func TestAReceiverThatFailsForAWhileGetsEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.endpoint("https://a.test/", "answer.asked")
	back := w.clock.Now().Add(20 * time.Hour)
	replies := []webhook.Reply{{Status: 500}, {Error: webhook.TimedOut}, {Status: 302}, {Error: webhook.ConnectionFailed}}
	n := 0
	w.answer = func(webhook.Request) webhook.Reply {
		if n++; w.clock.Now().Before(back) {
			return replies[n%len(replies)]
		}
		return webhook.Reply{Status: 200}
	}
	for range 5 {
		w.happen(audit.AnswerAsked, 4)
		w.work()
		w.pass(30*time.Minute, time.Minute)
	}
	w.pass(80*time.Hour, 5*time.Minute)
	ids, after := map[string]bool{}, map[string]int{}
	for _, p := range w.taken() {
		ids[p.id] = true
		if !p.at.Before(back) {
			after[p.id]++
		}
	}
	if len(ids) != 20 || len(after) != 20 {
		t.Errorf("%d ids, %d delivered, want 20", len(ids), len(after))
	}
	for id, times := range after {
		if times != 1 {
			t.Errorf("%s was delivered %d times", id, times)
		}
	}
	for _, d := range w.deliveries(e.ID) {
		if d.Status != webhook.Delivered || d.LastStatus != 200 || d.NextAttemptAt != nil || d.Attempts < 2 || d.Attempts > 9 {
			t.Errorf("delivery %+v", d)
		}
	}
	if n := w.pendingItems(); n != 0 {
		t.Errorf("%d items are still pending", n)
	}
}

func TestAnEndpointThatOnlyFailsIsDisabledAfterThreeDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := w.endpoint("https://bad.test/", "answer.asked")
	w.endpoint("https://good.test/", "webhook_endpoint.disabled")
	w.answer = func(r webhook.Request) webhook.Reply {
		if strings.Contains(r.URL, "bad") {
			return webhook.Reply{Status: 503}
		}
		return webhook.Reply{Status: 200}
	}
	w.happen(audit.AnswerAsked, 1)
	w.work()
	w.pass(71*time.Hour, 5*time.Minute)
	if e, err := w.Get(t.Context(), team, bad.ID); err != nil || e.Disabled {
		t.Fatalf("disabled too early: %+v %v", e, err)
	}
	w.pass(12*time.Hour, 5*time.Minute)
	e, err := w.Get(t.Context(), team, bad.ID)
	if err != nil || !e.Disabled || e.DisabledReason != webhook.Failing {
		t.Errorf("endpoint %+v %v", e, err)
	}
	d := w.deliveries(bad.ID)
	if len(d) != 1 || d[0].Status != webhook.Failed || d[0].Attempts != 10 || d[0].LastStatus != 503 {
		t.Errorf("deliveries %+v", d)
	}
	told := 0
	for _, p := range w.taken() {
		if p.kind == "webhook_endpoint.disabled" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the other endpoint was called %d times", told)
	}
	w.happen(audit.AnswerAsked, 1)
	w.work()
	if n := len(w.taken()); n != 0 {
		t.Errorf("%d posts to a disabled endpoint", n)
	}
}

func TestGoneDisablesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := w.endpoint("https://bad.test/", "answer.asked")
	w.answer = func(webhook.Request) webhook.Reply { return webhook.Reply{Status: 410} }
	w.happen(audit.AnswerAsked, 1)
	w.work()
	if e, err := w.Get(t.Context(), team, bad.ID); err != nil || !e.Disabled || e.DisabledReason != webhook.Gone {
		t.Errorf("endpoint %+v %v", e, err)
	}
	// Enabled again, it gets what happens from then on.
	w.answer = nil
	w.taken()
	if _, err := w.Update(t.Context(), team, bad.ID, func(f *webhook.Fields) error { f.Disabled = false; return nil }); err != nil {
		t.Fatal(err)
	}
	w.happen(audit.AnswerAsked, 1)
	w.work()
	if n := len(w.taken()); n != 1 {
		t.Errorf("%d posts after it was enabled", n)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]string{"seconds": "600", "date": "Mon, 23 Nov 2026 12:10:00 GMT"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.endpoint("https://a.test/", "answer.asked")
			w.answer = func(webhook.Request) webhook.Reply { return webhook.Reply{Status: 429, RetryAfter: wait} }
			w.happen(audit.AnswerAsked, 2)
			w.work()
			first := len(w.taken())
			w.happen(audit.AnswerAsked, 1) // it does not get this one before either
			w.pass(10*time.Minute-time.Second, time.Second)
			if n := len(w.taken()); first == 0 || n != 0 {
				t.Errorf("%d posts, then %d posts before the time", first, n)
			}
			w.answer = nil
			w.pass(3*time.Minute, time.Second)
			if n := len(w.taken()); n != 3 {
				t.Errorf("%d posts afterwards", n)
			}
		})
	}
}

// TestASlowEndpointTakesOneWorker holds the posts to one endpoint while others get theirs.
func TestASlowEndpointTakesOneWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.endpoint("https://slow.test/", "answer.asked")
	w.endpoint("https://quick.test/", "collection.created")
	release, held := make(chan struct{}), make(chan struct{}, 100)
	receive := w.Post
	w.Post = func(ctx context.Context, r webhook.Request) webhook.Reply {
		if strings.Contains(r.URL, "slow") {
			held <- struct{}{}
			<-release
		}
		return receive(ctx, r)
	}
	w.happen(audit.AnswerAsked, 1)
	slow := make(chan struct{})
	go func() { defer close(slow); w.work() }()
	<-held
	w.happen(audit.AnswerAsked, 30) // their messages find the lease held
	w.happen(audit.CollectionCreated, 5)
	w.work()
	if n := len(w.taken()); n != 5 {
		t.Errorf("%d posts to the quick endpoint while the slow one held its worker", n)
	}
	close(release)
	<-slow
	w.work()
	if n := len(w.taken()); n != 31 {
		t.Errorf("%d posts to the slow endpoint at last", n)
	}
}

// TestAFailingEventDoesNotHoldUpOthers has a receiver that never takes one event.
func TestAFailingEventDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.endpoint("https://a.test/", "answer.asked")
	w.answer = func(r webhook.Request) webhook.Reply {
		if strings.Contains(string(r.Body), `"q3"`) {
			return webhook.Reply{Status: 500}
		}
		return webhook.Reply{Status: 200}
	}
	w.happen(audit.AnswerAsked, 12)
	w.work()
	w.pass(90*time.Hour, 10*time.Minute)
	count := map[webhook.Status]int{}
	for _, d := range w.deliveries(e.ID) {
		count[d.Status]++
	}
	if count[webhook.Delivered] != 11 || count[webhook.Failed] != 1 {
		t.Errorf("deliveries: %v", count)
	}
}

func TestBothSecretsSignAfterARotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.endpoint("https://a.test/", "answer.asked")
	old := w.secrets["https://a.test/"][0]
	rotated, secret, err := w.Rotate(t.Context(), team, e.ID, time.Hour)
	if err != nil || secret == old || rotated.PreviousSecretExpiresAt == nil {
		t.Fatalf("%+v %v", rotated, err)
	}
	w.secrets["https://a.test/"] = []string{old, secret}
	for _, want := range []int{2, 1} {
		w.happen(audit.AnswerAsked, 1)
		w.work()
		if p := w.taken(); len(p) != 1 || p[0].signatures != want {
			t.Errorf("posts %+v, want %d signatures", p, want)
		}
		w.clock.Advance(time.Hour)
	}
}

// TestEverySecretSignsForItsOwnOverlap rotates a secret several times. Each one before signs for as long as was said, those of the
// last rotations only, and none after a rotation without an overlap.
func TestEverySecretSignsForItsOwnOverlap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.endpoint("https://a.test/", "answer.asked")
	rotate := func(overlap time.Duration) {
		t.Helper()
		_, secret, err := w.Rotate(t.Context(), team, e.ID, overlap)
		if err != nil {
			t.Fatal(err)
		}
		w.secrets["https://a.test/"] = append(w.secrets["https://a.test/"], secret)
	}
	signs := func(want int) {
		t.Helper()
		w.happen(audit.AnswerAsked, 1)
		w.work()
		if p := w.taken(); len(p) != 1 || p[0].signatures != want {
			t.Errorf("posts %+v, want %d signatures", p, want)
		}
	}
	rotate(24 * time.Hour)
	w.clock.Advance(time.Hour)
	rotate(2 * time.Hour)
	signs(3)
	w.clock.Advance(2 * time.Hour) // that of the first rotation lasts longer than that of the second
	signs(2)
	rotate(time.Hour)
	signs(3)
	w.clock.Advance(21 * time.Hour)
	signs(1)
	for range 10 {
		rotate(time.Hour)
	}
	signs(5)
	rotate(0)
	signs(1)
}

func TestReplayPostsAgainUnderTheSameID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.endpoint("https://a.test/", "answer.asked")
	if _, err := w.Test(t.Context(), team, e.ID); err != nil {
		t.Fatal(err)
	}
	w.work()
	first := w.taken()
	if len(first) != 1 || first[0].kind != webhook.TestEvent {
		t.Fatalf("posts %+v", first)
	}
	for range 2 { // twice at once is once more
		if _, err := w.Replay(t.Context(), team, e.ID, first[0].id); err != nil {
			t.Fatal(err)
		}
	}
	w.work()
	if again := w.taken(); len(again) != 1 || again[0].id != first[0].id {
		t.Errorf("posts %+v", again)
	}
	if _, err := w.Replay(t.Context(), team, e.ID, "msg_unknown"); err == nil {
		t.Error("an unknown delivery was replayed")
	}
	w.clock.Advance(31 * 24 * time.Hour)
	if left := w.deliveries(e.ID); len(left) != 0 {
		t.Errorf("%d deliveries after 30 days", len(left))
	}
}

// TestEveryCallMayFail makes every storage and queue call between an event and its deliveries fail
// in every way, and ends the process there. Every event whose recording succeeded is delivered.
func TestEveryCallMayFail(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, mode faulttest.Mode, at int) (calls []string) {
		w := newWorld(t)
		w.endpoint("https://a.test/", "answer.completed", "answer.asked")
		w.endpoint("https://b.test/", "answer.asked")
		w.work()
		w.plan.Arm(mode, at)
		err := w.log.Write(t.Context(), team, []audit.Event{{Type: audit.AnswerAsked, Targets: []audit.Target{{Type: audit.TargetAnswer, ID: "q"}}}})
		w.work()
		calls = w.plan.Seen()
		w.plan.Disarm()
		w.pass(10*time.Minute, 10*time.Second)
		got := map[string]map[string]bool{}
		for _, p := range w.taken() {
			if got[p.url+p.kind] == nil {
				got[p.url+p.kind] = map[string]bool{}
			}
			got[p.url+p.kind][p.id] = true
		}
		if err != nil && len(got) == 0 {
			return calls // it did not happen
		}
		for _, key := range []string{"https://a.test/answer.completed", "https://a.test/answer.asked", "https://b.test/answer.asked"} {
			if len(got[key]) != 1 {
				t.Errorf("%s: ids %v", key, got[key])
			}
		}
		if n := w.pendingItems(); n != 0 {
			t.Errorf("%d items are still pending", n)
		}
		return calls
	}
	calls := run(t, "", 0)
	if len(calls) < 10 {
		t.Fatalf("calls %v", calls)
	}
	for i, name := range calls {
		for _, mode := range append(faulttest.ModesOf(name), faulttest.EndBefore, faulttest.EndAfter) {
			t.Run(fmt.Sprintf("call %d, %s, %s", i+1, name, mode), func(t *testing.T) {
				t.Parallel()
				run(t, mode, i+1)
			})
		}
	}
}

// TestAProcessAloneGoesOnAtOnce ends a process at every call, with a receiver that fails once. The next process, which knows
// that it is alone, makes the deliveries when they are due, without the sweeper.
func TestAProcessAloneGoesOnAtOnce(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, at int) (calls int) {
		w := newWorld(t)
		w.endpoint("https://a.test/", "answer.asked")
		w.work()
		w.restart()
		refused := false
		w.answer = func(webhook.Request) webhook.Reply {
			if !refused {
				refused = true
				return webhook.Reply{Status: 503}
			}
			return webhook.Reply{Status: 204}
		}
		w.plan.Arm(faulttest.EndAfter, at)
		err := w.log.Write(t.Context(), team, []audit.Event{{Type: audit.AnswerAsked, Targets: []audit.Target{{Type: audit.TargetAnswer, ID: "q"}}}})
		w.work()
		calls = len(w.plan.Seen())
		w.plan.Disarm()
		w.restart()
		w.work()
		w.clock.Advance(6 * time.Second) // after the pause
		w.work()
		if posts := w.taken(); err == nil && len(posts) < 2 {
			t.Errorf("%d posts", len(posts))
		}
		if n := w.pendingItems(); n != 0 {
			t.Errorf("%d items are still pending", n)
		}
		return calls
	}
	calls := run(t, 0)
	if calls < 10 {
		t.Fatalf("%d calls", calls)
	}
	for at := range calls {
		t.Run(fmt.Sprintf("call %d", at+1), func(t *testing.T) {
			t.Parallel()
			run(t, at+1)
		})
	}
}
