package local_test

import (
	"testing"
	"time"

	"docent/shared/clocktest"
	"docent/shared/queue"
	"docent/shared/queue/local"
)

// worked is a message that was worked on: when it was begun, and its group.
type worked struct {
	group string
	at    time.Duration
}

// workOff works off n messages of q, one after the other, each for as long as its group's messages take.
func workOff(t *testing.T, q *local.Queue, clock *clocktest.Clock, n int, takes map[string]time.Duration) (order []worked) {
	t.Helper()
	begin := clock.Now()
	for range n {
		got := take(t, q, 1)
		if len(got) != 1 {
			t.Fatalf("%d messages", len(got))
		}
		group := string(got[0].Body[:1])
		order = append(order, worked{group, clock.Now().Sub(begin)})
		clock.Advance(takes[group] / 2)
		if err := q.Retry(t.Context(), queue.MaxDelay, got...); err != nil { // as Work does for a message that takes long
			t.Fatal(err)
		}
		clock.Advance(takes[group] / 2)
		if err := q.Done(t.Context(), got...); err != nil {
			t.Fatal(err)
		}
	}
	return order
}

func sendGroup(t *testing.T, q *local.Queue, group string, from, n int) {
	t.Helper()
	for i := range n {
		if err := q.Send(t.Context(), queue.Outgoing{Body: []byte(group + string(rune(from+i))), Group: group}); err != nil {
			t.Fatal(err)
		}
	}
}

// last returns when the last message of group was begun.
func last(order []worked, group string) (at time.Duration) {
	for _, w := range order {
		if w.group == group {
			at = w.at
		}
	}
	return at
}

// TestCostlyMessagesDoNotHoldUpAnothersSmallOnes has a team whose files take 45 seconds each, before one with many small ones.
func TestCostlyMessagesDoNotHoldUpAnothersSmallOnes(t *testing.T) {
	t.Parallel()
	clock := clocktest.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))
	q := local.New(local.Options{Now: clock.Now, Timed: true})
	takes := map[string]time.Duration{"a": 45 * time.Second, "b": 10 * time.Millisecond, "c": 10 * time.Millisecond}
	sendGroup(t, q, "a", '0', 50)
	sendGroup(t, q, "b", '0', 500)
	order := workOff(t, q, clock, 100, takes)
	sendGroup(t, q, "c", '0', 500) // it comes later, and is not behind what the others waited for
	order = append(order, workOff(t, q, clock, 800, takes)...)
	if b, c := last(order[:100], "b"), last(order[100:], "c"); b > 47*time.Second || c > 47*time.Second || order[len(order)-1].group == "a" {
		t.Errorf("the last one of 99 small files after %s, of another 500 after %s", b, c)
	}
	rest := workOff(t, q, clock, 150, takes)
	if len(take(t, q, 10)) != 0 {
		t.Error("there are more messages")
	}
	if got := last(rest, "a"); got == 0 {
		t.Error("the costly files were not read")
	}
}

// TestTimeIsNotSavedUp: a team that was idle while another used much time takes turns with it, and a quiet hour is forgotten.
func TestTimeIsNotSavedUp(t *testing.T) {
	t.Parallel()
	clock := clocktest.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))
	q := local.New(local.Options{Now: clock.Now, Timed: true})
	takes := map[string]time.Duration{"a": 10 * time.Second, "b": 10 * time.Second}
	sendGroup(t, q, "a", '0', 30)
	workOff(t, q, clock, 20, takes)
	sendGroup(t, q, "b", '0', 20)
	if order := workOff(t, q, clock, 10, takes); last(order, "a") < 60*time.Second {
		t.Errorf("the turns are %v", order)
	}
	workOff(t, q, clock, 20, takes)
	sendGroup(t, q, "b", 'a', 10)
	sendGroup(t, q, "a", 'a', 10)
	if order := workOff(t, q, clock, 4, takes); last(order, "a") < 10*time.Second || last(order, "b") < 10*time.Second {
		t.Errorf("after all was done the turns are %v", order)
	}
}
