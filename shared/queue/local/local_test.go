package local_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"docent/shared/clocktest"
	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/queue/queuetest"
)

// fixture is a queue with a clock and the dead letters so far.
type fixture struct {
	*local.Queue
	clock *clocktest.Clock
	dead  []queue.Message
}

func open() *fixture {
	f := &fixture{clock: clocktest.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))}
	f.Queue = local.New(local.Options{Now: f.clock.Now, Dead: func(m queue.Message) { f.dead = append(f.dead, m) }})
	return f
}

// TestARepeatedReminderIsHeldOnce sends a message again while it waits, is delivered, and waits for another delivery.
func TestARepeatedReminderIsHeldOnce(t *testing.T) {
	t.Parallel()
	clock := clocktest.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))
	q := local.New(local.Options{Now: clock.Now, Once: true})
	for range 100 {
		send(t, q, "a", "b")
	}
	first := take(t, q, 10)
	if len(first) != 2 {
		t.Fatalf("%d messages", len(first))
	}
	for range 100 {
		send(t, q, "a") // while it is worked on, which may have read what was stored before
	}
	second := take(t, q, 10)
	if len(second) != 1 || string(second[0].Body) != "a" {
		t.Fatalf("while it is worked on: %d messages", len(second))
	}
	if err := q.Done(t.Context(), append(first, second...)...); err != nil {
		t.Fatal(err)
	}
	delayed := queue.Outgoing{Body: []byte("c"), Delay: time.Minute}
	if err := q.Send(t.Context(), delayed, delayed); err != nil {
		t.Fatal(err)
	}
	send(t, q, "c", "c") // one without a delay does not wait for those
	if got := take(t, q, 10); len(got) != 1 {
		t.Errorf("%d messages at once", len(got))
	}
	clock.Advance(time.Minute)
	if got := take(t, q, 10); len(got) != 3 { // the delayed ones, and the first delivery is over
		t.Errorf("%d messages after a minute", len(got))
	}
}

func send(t *testing.T, q *local.Queue, bodies ...string) {
	t.Helper()
	for some := range slices.Chunk(bodies, queue.MaxBatch) {
		var messages []queue.Outgoing
		for _, body := range some {
			messages = append(messages, queue.Outgoing{Body: []byte(body)})
		}
		if err := q.Send(t.Context(), messages...); err != nil {
			t.Fatal(err)
		}
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

// receive returns "{body} {receives}" of the messages that can be received now.
func receive(t *testing.T, q *local.Queue, limit int) []string {
	t.Helper()
	var got []string
	for _, m := range take(t, q, limit) {
		got = append(got, fmt.Sprintf("%s %d", m.Body, m.Receives))
	}
	return got
}

func TestContract(t *testing.T) {
	t.Parallel()
	for name, timed := range map[string]bool{"by messages": false, "by time": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queuetest.Run(t, queuetest.Options{
				Around: synctest.Test,
				Open: func(_ *testing.T, visibility time.Duration) queuetest.Fixture {
					var dead []string
					q := local.New(local.Options{Visibility: visibility, Timed: timed, Dead: func(m queue.Message) { dead = append(dead, string(m.Body)) }})
					return queuetest.Fixture{Queue: q, Dead: func(context.Context) ([]string, error) { return dead, nil }}
				},
			})
		})
	}
}

func TestReceiveInTheOrderOfDueTimes(t *testing.T) {
	t.Parallel()
	q := open()
	if err := q.Send(t.Context(), queue.Outgoing{Body: []byte("fourth"), Delay: 2 * time.Second}, queue.Outgoing{Body: []byte("third"), Delay: 1}); err != nil {
		t.Fatal(err)
	}
	send(t, q.Queue, "first", "second")
	q.clock.Advance(2 * time.Second)
	if got := receive(t, q.Queue, 10); !slices.Equal(got, []string{"first 1", "second 1", "third 1", "fourth 1"}) {
		t.Errorf("received %q", got)
	}
}

func TestADelayEndsToTheNanosecond(t *testing.T) {
	t.Parallel()
	q := open()
	if err := q.Send(t.Context(), queue.Outgoing{Body: []byte("x"), Delay: time.Second}); err != nil {
		t.Fatal(err)
	}
	q.clock.Advance(time.Second - 1)
	if got := receive(t, q.Queue, 1); len(got) != 0 {
		t.Errorf("received %q early", got)
	}
	q.clock.Advance(1)
	if got := receive(t, q.Queue, 1); len(got) != 1 {
		t.Error("not received when due")
	}
}

// The receipt of an earlier delivery neither finishes a later delivery nor makes it visible, even
// if both end at the same instant.
func TestOldReceiptsDoNothing(t *testing.T) {
	t.Parallel()
	q := open()
	send(t, q.Queue, "x")
	first := take(t, q.Queue, 1)
	if err := q.Retry(t.Context(), 0, first...); err != nil {
		t.Fatal(err)
	}
	second := take(t, q.Queue, 1)
	for _, stale := range [][]queue.Message{first, {first[0], first[0]}} {
		if err := q.Done(t.Context(), stale...); err != nil {
			t.Errorf("Done: %v", err)
		}
		if err := q.Retry(t.Context(), 0, stale...); err != nil {
			t.Errorf("Retry: %v", err)
		}
	}
	if got := receive(t, q.Queue, 1); len(got) != 0 {
		t.Errorf("an old receipt freed %q", got)
	}
	q.clock.Advance(time.Minute)
	third := take(t, q.Queue, 1)
	if len(third) != 1 {
		t.Fatal("an old receipt finished a later delivery")
	}
	// If several receipts of a message are given, the latest one counts.
	if err := q.Done(t.Context(), first[0], third[0], second[0]); err != nil {
		t.Errorf("Done: %v", err)
	}
	q.clock.Advance(time.Hour)
	if got := receive(t, q.Queue, 1); len(got) != 0 {
		t.Errorf("received %q after Done", got)
	}
}

// TestBodiesAreTheQueuesOwn: neither a sender nor a receiver changes what is delivered.
func TestBodiesAreTheQueuesOwn(t *testing.T) {
	t.Parallel()
	q := open()
	sent := []byte("body")
	if err := q.Send(t.Context(), queue.Outgoing{Body: sent}); err != nil {
		t.Fatal(err)
	}
	copy(sent, "SENT")
	copy(take(t, q.Queue, 1)[0].Body, "READ")
	q.clock.Advance(time.Minute)
	if got := receive(t, q.Queue, 1); !slices.Equal(got, []string{"body 2"}) {
		t.Errorf("received %q", got)
	}
}

func TestDeadLettersHoldNothingUp(t *testing.T) {
	t.Parallel()
	q := open()
	var poison []string
	for i := range 25 {
		poison = append(poison, fmt.Sprintf("poison %02d", i))
	}
	send(t, q.Queue, poison...)
	for range queue.MaxReceives {
		for range 3 {
			take(t, q.Queue, 10)
		}
		q.clock.Advance(time.Minute)
	}
	send(t, q.Queue, "next")
	if got := receive(t, q.Queue, 1); !slices.Equal(got, []string{"next 1"}) {
		t.Errorf("received %q", got)
	}
	var bodies []string
	for _, m := range q.dead {
		bodies = append(bodies, string(m.Body))
		if m.Receives != queue.MaxReceives {
			t.Errorf("%s was delivered %d times", m.Body, m.Receives)
		}
	}
	if !slices.Equal(bodies, poison) {
		t.Errorf("dead letters %q", bodies)
	}
}

func TestADeadLetterMayBeSentAgainAtOnce(t *testing.T) {
	t.Parallel()
	clock := clocktest.New(time.Unix(1_700_000_000, 0))
	var q *local.Queue
	q = local.New(local.Options{Now: clock.Now, Dead: func(m queue.Message) {
		if err := q.Send(t.Context(), queue.Outgoing{Body: m.Body}); err != nil {
			t.Error(err)
		}
	}})
	send(t, q, "x")
	for range queue.MaxReceives {
		take(t, q, 1)
		clock.Advance(time.Minute)
	}
	take(t, q, 1)
	if got := receive(t, q, 1); !slices.Equal(got, []string{"x 1"}) {
		t.Errorf("received %q", got)
	}
}

func TestReceipts(t *testing.T) {
	t.Parallel()
	q := open()
	send(t, q.Queue, "x")
	m := take(t, q.Queue, 1)[0]
	for receipt, valid := range map[string]bool{
		m.Receipt: true, m.ID + "#5": true, uuid.NewString() + "#1": true,
		"": false, "#1": false, m.ID: false, m.ID + "#": false, m.ID + "#0": false, m.ID + "#6": false, m.ID + "#01": false, m.ID + "#+1": false,
		m.ID + "#1#": false, "x#1": false, "urn:uuid:" + m.ID + "#x": false,
	} {
		for name, settle := range map[string]func(context.Context, ...queue.Message) error{
			"Retry": func(ctx context.Context, m ...queue.Message) error { return q.Retry(ctx, 0, m...) },
			"Done":  q.Done,
		} {
			if err := settle(t.Context(), queue.Message{Receipt: receipt}); (err == nil) != valid || err != nil && !errors.Is(err, queue.ErrInvalid) {
				t.Errorf("%s of %q: %v", name, receipt, err)
			}
		}
	}
}

// TestNoMessageIsLostOrInTwoHands uses the queue at random and checks its guarantees: until it is
// done or dead, a message is delivered repeatedly, to one receiver at a time, with its deliveries
// counted.
func TestNoMessageIsLostOrInTwoHands(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		f := open()
		type state struct {
			receives int
			from     time.Time // when it may be received again
			latest   queue.Message
		}
		live := map[string]*state{} // by body
		sent := 0
		r.Repeat(map[string]func(*rapid.T){
			"send": func(r *rapid.T) {
				body := fmt.Sprint(sent)
				delay := time.Duration(rapid.IntRange(0, 90).Draw(r, "delay")) * time.Second
				sent++
				if err := f.Send(t.Context(), queue.Outgoing{Body: []byte(body), Delay: delay}); err != nil {
					r.Fatal(err)
				}
				live[body] = &state{from: f.clock.Now().Add(delay)}
			},
			"wait": func(r *rapid.T) {
				f.clock.Advance(time.Duration(rapid.IntRange(0, 70).Draw(r, "seconds")) * time.Second)
			},
			"receive": func(r *rapid.T) {
				got, err := f.Receive(t.Context(), rapid.IntRange(1, 10).Draw(r, "limit"), 0)
				if err != nil {
					r.Fatal(err)
				}
				for _, m := range got {
					s := live[string(m.Body)]
					if s == nil || s.from.After(f.clock.Now()) || m.Receives != s.receives+1 {
						r.Fatalf("received %+v, want %+v", m, s)
					}
					s.receives, s.from, s.latest = m.Receives, f.clock.Now().Add(time.Minute), m
				}
				for _, m := range f.dead {
					if s := live[string(m.Body)]; s == nil || s.receives != queue.MaxReceives || s.from.After(f.clock.Now()) {
						r.Fatalf("%s is dead, %+v", m.Body, s)
					}
					delete(live, string(m.Body))
				}
				f.dead = nil
			},
			"settle": func(r *rapid.T) {
				body := fmt.Sprint(rapid.IntRange(0, max(0, sent-1)).Draw(r, "body"))
				s := live[body]
				if s == nil || s.receives == 0 {
					return
				}
				if rapid.Bool().Draw(r, "done") {
					if err := f.Done(t.Context(), s.latest); err != nil {
						r.Fatal(err)
					}
					delete(live, body)
					return
				}
				delay := time.Duration(rapid.IntRange(0, 90).Draw(r, "delay")) * time.Second
				if err := f.Retry(t.Context(), delay, s.latest); err != nil {
					r.Fatal(err)
				}
				s.from = f.clock.Now().Add(delay)
			},
		})
		f.clock.Advance(time.Hour)
		left := map[string]bool{}
		for range len(live) + 1 {
			got, err := f.Receive(t.Context(), 10, 0)
			if err != nil {
				r.Fatal(err)
			}
			for _, m := range append(got, f.dead...) {
				left[string(m.Body)] = true
			}
			f.dead = nil
		}
		if len(left) != len(live) {
			r.Fatalf("%d messages are left, want %d", len(left), len(live))
		}
	})
}

// A waiting receiver returns at the instant when a message can be received, for each possible
// cause.
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := local.New(local.Options{Visibility: 15 * time.Second})
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

// TestReceiversAndSendersAtOnce: each message has one receiver at a time, and none is left.
func TestReceiversAndSendersAtOnce(t *testing.T) {
	t.Parallel()
	const senders, each = 4, 250
	q := local.New(local.Options{Visibility: time.Hour})
	var all sync.WaitGroup
	for n := range senders {
		all.Go(func() {
			for i := range each {
				send(t, q, fmt.Sprintf("%d/%d", n, i))
			}
		})
	}
	var mu sync.Mutex
	deliveries := map[string]int{}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range senders {
		all.Go(func() {
			for {
				got, err := q.Receive(ctx, 7, queue.MaxWait)
				if err != nil {
					return // stopped
				}
				if err := q.Done(t.Context(), got...); err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, m := range got {
					deliveries[string(m.Body)]++
				}
				if len(deliveries) == senders*each {
					stop()
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for body, n := range deliveries {
		if n != 1 {
			t.Errorf("%s was delivered %d times", body, n)
		}
	}
}

func BenchmarkSendReceiveDone(b *testing.B) {
	q := local.New(local.Options{})
	for range 100_000 { // a backlog that is not touched
		if err := q.Send(b.Context(), queue.Outgoing{Body: []byte("waiting"), Delay: queue.MaxDelay}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := q.Send(b.Context(), queue.Outgoing{Body: []byte("x")}); err != nil {
			b.Fatal(err)
		}
		got, err := q.Receive(b.Context(), 1, 0)
		if err != nil || len(got) != 1 {
			b.Fatal(len(got), err)
		}
		if err := q.Done(b.Context(), got...); err != nil {
			b.Fatal(err)
		}
	}
}

// A batch has the work of few groups, because each team in a batch of documents costs a segment.
func TestATurnFillsABatch(t *testing.T) {
	t.Parallel()
	q := open()
	for i := range 12 {
		for _, group := range []string{"a", "b"} {
			if err := q.Send(t.Context(), queue.Outgoing{Body: fmt.Appendf(nil, "%s%02d", group, i), Group: group}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range [][]string{
		{"a00 1", "a01 1", "a02 1", "a03 1", "a04 1", "a05 1", "a06 1", "a07 1", "a08 1", "a09 1"},
		{"b00 1", "b01 1", "b02 1", "b03 1", "b04 1", "b05 1", "b06 1", "b07 1", "b08 1", "b09 1"},
		{"a10 1", "a11 1", "b10 1", "b11 1"},
	} {
		if got := receive(t, q.Queue, 10); !slices.Equal(got, want) {
			t.Errorf("received %q, want %q", got, want)
		}
	}
}
