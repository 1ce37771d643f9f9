package local_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/clocktest"
	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/queue/queuetest"
	"docent/shared/table"
	"docent/shared/table/bolt"
	"docent/shared/table/bolt/bolttest"
)

func newClock() *clocktest.Clock { return clocktest.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)) }

// open opens the queue "work" on a store of its own, with a clock and with ids
// that count up.
func open(t *testing.T) (*local.Queue, *clocktest.Clock, *bolt.Store) {
	t.Helper()
	c := newClock()
	store := bolttest.OpenAt(t, c.Now, local.Table)
	last := 0
	q, err := local.Open(store, "work", local.Options{Now: c.Now, NewID: func() string {
		last++
		return fmt.Sprintf("id%03d", last)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return q, c, store
}

func send(t *testing.T, q *local.Queue, bodies ...string) {
	t.Helper()
	var messages []queue.Outgoing
	for _, body := range bodies {
		messages = append(messages, queue.Outgoing{Body: []byte(body)})
	}
	if err := q.Send(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
}

func take(t *testing.T, q *local.Queue, limit int) []queue.Message {
	t.Helper()
	got, err := q.Receive(t.Context(), limit, 0)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// receive returns "{body} {receives}" of what can be received now.
func receive(t *testing.T, q *local.Queue, limit int) []string {
	t.Helper()
	var got []string
	for _, m := range take(t, q, limit) {
		got = append(got, fmt.Sprintf("%s %d", m.Body, m.Receives))
	}
	return got
}

func wantStats(t *testing.T, q *local.Queue, want local.Stats) {
	t.Helper()
	got, err := q.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}

// kill lets every message in the queue become a dead letter.
func kill(t *testing.T, q *local.Queue, c *clocktest.Clock) {
	t.Helper()
	for range queue.MaxReceives {
		if len(take(t, q, 10)) == 0 {
			t.Fatal("nothing to receive")
		}
		c.Advance(time.Minute)
	}
	if got := take(t, q, 10); len(got) != 0 {
		t.Fatalf("received %d messages after the last delivery", len(got))
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, queuetest.Options{
		Around: synctest.Test,
		Open: func(t *testing.T, visibility time.Duration) queuetest.Fixture {
			q, err := local.Open(bolttest.OpenAt(t, time.Now, local.Table), "work", local.Options{Visibility: visibility})
			if err != nil {
				t.Fatal(err)
			}
			return queuetest.Fixture{Queue: q, Dead: func(ctx context.Context) ([]string, error) {
				letters, err := q.Dead(ctx)
				var bodies []string
				for _, letter := range letters {
					bodies = append(bodies, string(letter.Body))
				}
				return bodies, err
			}}
		},
	})
}

func TestReceiveInTheOrderOfDueTimes(t *testing.T) {
	t.Parallel()
	q, c, _ := open(t)
	if err := q.Send(t.Context(), queue.Outgoing{Body: []byte("third"), Delay: 2 * time.Second}, queue.Outgoing{Body: []byte("second"), Delay: 1}); err != nil {
		t.Fatal(err)
	}
	send(t, q, "first")
	c.Advance(2 * time.Second)
	if got := receive(t, q, 10); !slices.Equal(got, []string{"first 1", "second 1", "third 1"}) {
		t.Errorf("received %q", got)
	}
}

func TestADelayEndsToTheNanosecond(t *testing.T) {
	t.Parallel()
	q, c, _ := open(t)
	if err := q.Send(t.Context(), queue.Outgoing{Body: []byte("x"), Delay: time.Second}); err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Second - 1)
	if got := receive(t, q, 1); len(got) != 0 {
		t.Errorf("received %q early", got)
	}
	c.Advance(1)
	if got := receive(t, q, 1); len(got) != 1 {
		t.Error("not received when due")
	}
}

// The receipt of an earlier delivery neither finishes nor frees a later one,
// even when both end at the same instant.
func TestOldReceiptsDoNothing(t *testing.T) {
	t.Parallel()
	q, c, _ := open(t)
	send(t, q, "x")
	first := take(t, q, 1)
	if err := q.Retry(t.Context(), 0, first...); err != nil {
		t.Fatal(err)
	}
	second := take(t, q, 1)
	for _, stale := range [][]queue.Message{first, {first[0], first[0]}} {
		if err := q.Done(t.Context(), stale...); err != nil {
			t.Errorf("Done: %v", err)
		}
		if err := q.Retry(t.Context(), 0, stale...); err != nil {
			t.Errorf("Retry: %v", err)
		}
	}
	wantStats(t, q, local.Stats{InFlight: 1})
	// Named together, the later receipt counts.
	if err := q.Done(t.Context(), first[0], second[0], first[0]); err != nil {
		t.Errorf("Done: %v", err)
	}
	wantStats(t, q, local.Stats{})
	c.Advance(time.Hour)
	if got := receive(t, q, 1); len(got) != 0 {
		t.Errorf("received %q after Done", got)
	}
}

func TestRetryAtTheSameInstant(t *testing.T) {
	t.Parallel()
	q, c, _ := open(t)
	send(t, q, "x")
	if err := q.Retry(t.Context(), time.Minute, take(t, q, 1)...); err != nil { // the default visibility timeout
		t.Fatal(err)
	}
	wantStats(t, q, local.Stats{Waiting: 1})
	c.Advance(time.Minute)
	if got := receive(t, q, 1); !slices.Equal(got, []string{"x 2"}) {
		t.Errorf("received %q", got)
	}
}

func TestDoneRemovesLargeBodies(t *testing.T) {
	t.Parallel()
	q, _, store := open(t)
	send(t, q, strings.Repeat("x", queue.MaxBytes))
	parts := table.Query{Table: local.Table, Partition: "work/body"}
	page, err := store.Query(t.Context(), parts)
	if err != nil || len(page.Items) == 0 {
		t.Fatalf("%d parts of a large body, %v", len(page.Items), err)
	}
	if err := q.Done(t.Context(), take(t, q, 1)...); err != nil {
		t.Fatal(err)
	}
	page, err = store.Query(t.Context(), parts)
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%d parts left after Done, %v", len(page.Items), err)
	}
}

func TestRecoverFreesOnlyWhatIsInFlight(t *testing.T) {
	t.Parallel()
	q, _, _ := open(t)
	for range 9 {
		send(t, q, slices.Repeat([]string{"flying"}, 10)...)
	}
	for range 9 {
		take(t, q, 10)
	}
	send(t, q, "waiting")
	if err := q.Send(t.Context(), queue.Outgoing{Body: []byte("delayed"), Delay: time.Second}); err != nil {
		t.Fatal(err)
	}
	wantStats(t, q, local.Stats{Waiting: 2, InFlight: 90})
	for _, want := range []int{90, 0} {
		if n, err := q.Recover(t.Context()); n != want || err != nil {
			t.Errorf("Recover = %d, %v, want %d", n, err, want)
		}
	}
	wantStats(t, q, local.Stats{Waiting: 92})
	count := map[string]int{}
	for {
		got := receive(t, q, 10)
		if len(got) == 0 {
			break
		}
		for _, m := range got {
			count[m]++
		}
	}
	if count["flying 2"] != 90 || count["waiting 1"] != 1 || len(count) != 2 {
		t.Errorf("received %v", count)
	}
}

func TestDeadAndRedrive(t *testing.T) {
	t.Parallel()
	q, c, _ := open(t)
	large := strings.Repeat("large", 100_000)
	began := c.Now()
	send(t, q, "one", large, "three")
	kill(t, q, c)
	wantStats(t, q, local.Stats{Dead: 3})
	letters, err := q.Dead(t.Context())
	if err != nil || len(letters) != 3 {
		t.Fatalf("%d dead letters, %v", len(letters), err)
	}
	for i, want := range []string{"one", large, "three"} {
		l := letters[i]
		if string(l.Body) != want || l.ID != fmt.Sprintf("id%03d", i+1) || l.Receives != queue.MaxReceives ||
			!l.Sent.Equal(began) || !l.Died.Equal(c.Now()) {
			t.Errorf("letter %d: %.200v", i, l)
		}
	}
	if n, err := q.Redrive(t.Context(), "id002", "id002", "unknown", ""); n != 1 || err != nil {
		t.Errorf("Redrive of one = %d, %v", n, err)
	}
	wantStats(t, q, local.Stats{Waiting: 1, Dead: 2})
	got := take(t, q, 10)
	if len(got) != 1 || string(got[0].Body) != large || got[0].Receives != 1 || got[0].ID != "id002" {
		t.Fatalf("redriven: %.200v", got)
	}
	if err := q.Done(t.Context(), got...); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Redrive(t.Context()); n != 2 || err != nil {
		t.Errorf("Redrive of all = %d, %v", n, err)
	}
	if got := receive(t, q, 10); !slices.Equal(got, []string{"one 1", "three 1"}) {
		t.Errorf("redriven: %q", got)
	}
	wantStats(t, q, local.Stats{InFlight: 2})
}

func TestUnreadableRecordsHoldUpNothing(t *testing.T) {
	t.Parallel()
	q, _, store := open(t)
	send(t, q, "before", strings.Repeat("x", 5000))
	bad := []table.Item{
		{Key: table.Key{Sort: "0"}, Body: []byte("no time")},
		{Key: table.Key{Sort: table.Padded(1) + "#"}, Version: 1, Body: []byte("no id")},
		{Key: table.Key{Sort: table.Padded(1) + "#a"}, Version: 1},
		{Key: table.Key{Sort: table.Padded(1) + "#b"}, Version: 1, Body: []byte("x"), Numbers: map[string]int64{"receives": 6}},
		{Key: table.Key{Sort: table.Padded(1) + "#c"}, Version: 1, Numbers: map[string]int64{"parts": 2}}, // without the parts
	}
	for _, item := range bad {
		item.Table, item.Partition = local.Table, "work/due"
		if err := store.Write(t.Context(), table.Put{Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Write(t.Context(), table.Delete{Key: table.Key{Table: local.Table, Partition: "work/body", Sort: "id002#0"}}); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, q, 1); !slices.Equal(got, []string{"before 1"}) {
		t.Errorf("received %.100q", got)
	}
	if got := receive(t, q, 10); len(got) != 0 {
		t.Errorf("received %.100q", got)
	}
	wantStats(t, q, local.Stats{InFlight: 1, Dead: len(bad) + 1})
	letters, err := q.Dead(t.Context())
	if err != nil || len(letters) != len(bad)+1 {
		t.Errorf("%d dead letters, %v", len(letters), err)
	}
	if _, err := q.Redrive(t.Context()); err != nil {
		t.Errorf("Redrive: %v", err)
	}
	// One lacked only the id that it got as a dead letter.
	if got := receive(t, q, 10); !slices.Equal(got, []string{"no id 1"}) {
		t.Errorf("received %.100q", got)
	}
}

func TestQueuesOfOneStoreAreApart(t *testing.T) {
	t.Parallel()
	_, c, store := open(t)
	var queues []*local.Queue
	for _, name := range []string{"a", "a-b", "b"} {
		q, err := local.Open(store, name, local.Options{Now: c.Now})
		if err != nil {
			t.Fatal(err)
		}
		send(t, q, name)
		queues = append(queues, q)
	}
	for i, want := range []string{"a 1", "a-b 1", "b 1"} {
		if got := receive(t, queues[i], 10); !slices.Equal(got, []string{want}) {
			t.Errorf("received %q, want %q", got, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	_, _, store := open(t)
	for _, name := range []string{"", "a/b", "A", "a b", strings.Repeat("a", 81)} {
		if _, err := local.Open(store, name, local.Options{}); !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("Open(%q): %v, want ErrInvalid", name, err)
		}
	}
	if _, err := local.Open(store, "a", local.Options{Visibility: -1}); !errors.Is(err, queue.ErrInvalid) {
		t.Errorf("Open with a negative visibility timeout: %v, want ErrInvalid", err)
	}
	if _, err := local.Open(bolttest.Open(t), "a", local.Options{}); !errors.Is(err, table.ErrInvalid) {
		t.Errorf("Open without the table: %v, want the store's ErrInvalid", err)
	}
}

// Two processes share no lock, nor do several Queues on one store.
func TestConditionsAloneKeepDeliveriesApart(t *testing.T) {
	t.Parallel()
	const total = 100
	store := bolttest.OpenAt(t, time.Now, local.Table)
	var mu sync.Mutex
	deliveries := map[string]int{}
	var wait sync.WaitGroup
	var queues []*local.Queue
	for range 8 {
		q, err := local.Open(store, "work", local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		queues = append(queues, q)
	}
	for range total / 10 {
		send(t, queues[0], slices.Repeat([]string{"x"}, 10)...)
	}
	for _, q := range queues {
		wait.Go(func() {
			for {
				got, err := q.Receive(t.Context(), 3, 0)
				if err != nil {
					t.Error(err)
				}
				if len(got) == 0 {
					return
				}
				mu.Lock()
				for _, m := range got {
					deliveries[m.ID]++
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	for id, n := range deliveries {
		if n != 1 {
			t.Errorf("message %s was delivered %d times", id, n)
		}
	}
	if len(deliveries) != total {
		t.Errorf("%d messages were delivered, want %d", len(deliveries), total)
	}
}

// A waiting receiver returns at the instant when there is something, for each
// way in which that can come about.
func TestWakesAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(t *testing.T, q *local.Queue)
		during func(t *testing.T, q *local.Queue)
		after  time.Duration
	}{
		"sent": {
			before: func(*testing.T, *local.Queue) {},
			during: func(t *testing.T, q *local.Queue) { send(t, q, "x") },
		},
		"delayed": {
			before: func(t *testing.T, q *local.Queue) {
				if err := q.Send(t.Context(), queue.Outgoing{Body: []byte("x"), Delay: 7 * time.Second}); err != nil {
					t.Fatal(err)
				}
			},
			during: func(*testing.T, *local.Queue) {},
			after:  7 * time.Second,
		},
		"visibility timeout": {
			before: func(t *testing.T, q *local.Queue) { send(t, q, "x"); take(t, q, 1) },
			during: func(*testing.T, *local.Queue) {},
			after:  15 * time.Second,
		},
		"recovered": {
			before: func(t *testing.T, q *local.Queue) { send(t, q, "x"); take(t, q, 1) },
			during: func(t *testing.T, q *local.Queue) {
				if _, err := q.Recover(t.Context()); err != nil {
					t.Error(err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q, err := local.Open(bolttest.OpenAt(t, time.Now, local.Table), "work", local.Options{Visibility: 15 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				c.before(t, q)
				began := time.Now()
				received := make(chan int, 1)
				go func() {
					got, err := q.Receive(t.Context(), 1, queue.MaxWait)
					if err != nil {
						t.Error(err)
					}
					received <- len(got)
				}()
				synctest.Wait() // the receiver waits
				c.during(t, q)
				if n := <-received; n != 1 {
					t.Errorf("received %d messages", n)
				}
				if waited := time.Since(began); waited != c.after {
					t.Errorf("woke after %s, want %s", waited, c.after)
				}
			})
		})
	}
}
