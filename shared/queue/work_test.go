package queue_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/queue"
	"docent/shared/queue/local"
)

// testQueue is a queue with the bodies of its dead letters.
type testQueue struct {
	*local.Queue
	dead []string
}

// inBubble runs a case with a queue on a fake clock.
func inBubble(t *testing.T, run func(t *testing.T, q *testQueue)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &testQueue{}
		q.Queue = local.New(local.Options{Visibility: 15 * time.Second, Dead: func(m queue.Message) { q.dead = append(q.dead, string(m.Body)) }})
		run(t, q)
	})
}

func send(t *testing.T, q queue.Queue, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if err := q.Send(t.Context(), queue.Outgoing{Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
}

// wantLeft fails the test unless these messages can be received now, and no others later.
func wantLeft(t *testing.T, q *testQueue, want ...string) {
	t.Helper()
	for _, wait := range []time.Duration{0, queue.MaxWait} { // past the visibility timeout
		batch, err := q.Receive(t.Context(), queue.MaxBatch, wait)
		var got []string
		for _, m := range batch {
			got = append(got, string(m.Body))
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("received %q, %v, want %q", got, err, want)
		}
		if err := q.Done(t.Context(), batch...); err != nil {
			t.Error(err)
		}
		want = nil
	}
}

func logTo(b *bytes.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

// faulty is a queue whose chosen calls fail.
type faulty struct {
	queue.Queue
	receive, done, retry func() error
}

func (f faulty) Receive(ctx context.Context, limit int, wait time.Duration) ([]queue.Message, error) {
	if err := f.receive(); err != nil {
		return nil, err
	}
	return f.Queue.Receive(ctx, limit, wait)
}

func (f faulty) Done(ctx context.Context, messages ...queue.Message) error {
	return errors.Join(f.done(), f.Queue.Done(ctx, messages...))
}

func (f faulty) Retry(ctx context.Context, delay time.Duration, messages ...queue.Message) error {
	return errors.Join(f.retry(), f.Queue.Retry(ctx, delay, messages...))
}

var errBroken = errors.New("broken on purpose")

func TestBackoff(t *testing.T) {
	t.Parallel()
	for receives, want := range map[int]time.Duration{
		-1: time.Second, 0: time.Second, 1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second,
		6: 32 * time.Second, 7: time.Minute, 100: time.Minute,
	} {
		if got := queue.Backoff(receives); got != want {
			t.Errorf("Backoff(%d) = %s, want %s", receives, got, want)
		}
	}
}

func TestWorkBacksOffUntilTheMessageIsDead(t *testing.T) {
	inBubble(t, func(t *testing.T, q *testQueue) {
		send(t, q, "poison", "good")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		var log bytes.Buffer
		var at []time.Duration
		good := 0
		queue.Work(ctx, q, func(_ context.Context, batch []queue.Message) (failed []string) {
			for _, m := range batch {
				if string(m.Body) == "poison" {
					at = append(at, time.Since(began))
					failed = append(failed, m.ID)
				} else {
					good++
				}
			}
			return failed
		}, queue.WorkOptions{Batch: 10, Log: logTo(&log)})
		want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second}
		if !slices.Equal(at, want) {
			t.Errorf("handled at %v, want %v", at, want)
		}
		if good != 1 {
			t.Errorf("the good message was handled %d times", good)
		}
		wantLeft(t, q)
		if !slices.Equal(q.dead, []string{"poison"}) {
			t.Errorf("dead letters %q", q.dead)
		}
		if n := strings.Count(log.String(), "message failed"); n != queue.MaxReceives {
			t.Errorf("%d failures logged, want %d:\n%s", n, queue.MaxReceives, &log)
		}
	})
}

func TestWorkFailsTheBatchOfAPanic(t *testing.T) {
	inBubble(t, func(t *testing.T, q *testQueue) {
		send(t, q, "a", "b", "c")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var log bytes.Buffer
		var handled []string
		queue.Work(ctx, q, func(_ context.Context, batch []queue.Message) []string {
			for _, m := range batch {
				handled = append(handled, string(m.Body))
				batch[0] = queue.Message{} // the handler's own copy
			}
			if len(handled) == 3 {
				panic("on purpose")
			}
			return nil
		}, queue.WorkOptions{Batch: 10, Log: logTo(&log)})
		if want := []string{"a", "b", "c", "a", "b", "c"}; !slices.Equal(handled, want) {
			t.Errorf("handled %q, want %q", handled, want)
		}
		wantLeft(t, q)
		if strings.Count(log.String(), "level=") != 1 || !strings.Contains(log.String(), "on purpose") {
			t.Errorf("want the panic logged once:\n%s", &log)
		}
	})
}

func TestWorkSurvivesQueueErrors(t *testing.T) {
	inBubble(t, func(t *testing.T, q *testQueue) {
		send(t, q, "good", "bad")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		var tries []time.Duration
		var log bytes.Buffer
		f := faulty{
			Queue: q,
			receive: func() error {
				if tries = append(tries, time.Since(began)); len(tries) <= 4 || len(tries) == 6 {
					return errBroken
				}
				return nil
			},
			done:  func() error { return errBroken },
			retry: func() error { return errBroken },
		}
		handled := 0
		queue.Work(ctx, f, func(_ context.Context, batch []queue.Message) (failed []string) {
			if handled++; string(batch[0].Body) == "bad" && batch[0].Receives == 1 {
				failed = append(failed, batch[0].ID)
			}
			return failed
		}, queue.WorkOptions{Log: logTo(&log)})
		if want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 15 * time.Second, 16 * time.Second}; !slices.Equal(tries[:7], want) {
			t.Errorf("tried at %v, want %v first: a success ends the doubling", tries[:7], want)
		}
		if handled != 3 {
			t.Errorf("handled %d times, want 3", handled)
		}
		for what, want := range map[string]int{"receive from queue": 5, "mark messages done": 2, "put messages back": 1, "message failed": 1} {
			if n := strings.Count(log.String(), what); n != want {
				t.Errorf("%q logged %d times, want %d", what, n, want)
			}
		}
	})
}

func TestWorkFinishesTheBatchInHand(t *testing.T) {
	inBubble(t, func(t *testing.T, q *testQueue) {
		send(t, q, "current", "left")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		queue.Work(ctx, q, func(handling context.Context, _ []queue.Message) []string {
			cancel()
			select {
			case <-time.After(9 * time.Second):
			case <-handling.Done():
				t.Error("the handler's context ended within the grace")
			}
			return nil
		}, queue.WorkOptions{Grace: 10 * time.Second})
		wantLeft(t, q, "left")
	})
}

func TestWorkEndsTheHandlerAfterTheGrace(t *testing.T) {
	inBubble(t, func(t *testing.T, q *testQueue) {
		send(t, q, "endless", "endless")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		var log bytes.Buffer
		queue.Work(ctx, q, func(handling context.Context, batch []queue.Message) []string {
			cancel()
			<-handling.Done()
			return []string{batch[0].ID, batch[1].ID}
		}, queue.WorkOptions{Batch: 2, Grace: 10 * time.Second, Log: logTo(&log)})
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("ended after %s, want the grace of 10 s", took)
		}
		began = time.Now()
		if got, err := q.Receive(t.Context(), 2, queue.MaxWait); err != nil || len(got) != 2 || time.Since(began) != queue.Backoff(1) {
			t.Errorf("received %d messages after %s, %v; want both put back at once, not after the visibility timeout", len(got), time.Since(began), err)
		}
		if text := log.String(); strings.Count(text, "level=") != 1 || !strings.Contains(text, "level=INFO") || !strings.Contains(text, "messages=2") {
			t.Errorf("want one line, which is no warning, for a batch that stopping cut off:\n%s", text)
		}
	})
}

func TestWorkGathersABatch(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second int           // messages at the start, and half a second later
		sizes         []int         // of the batches
		took          time.Duration // to the start of the last one
	}{
		{"nothing more comes", 1, 0, []int{1}, time.Second},
		{"more comes", 1, 2, []int{3}, time.Second},
		{"more than a batch comes", 1, 4, []int{3, 2}, 2 * time.Second},
		{"a full batch waits for nothing", 3, 0, []int{3}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, q *testQueue) {
				send(t, q, slices.Repeat([]string{"x"}, c.first)...)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				time.AfterFunc(time.Second/2, func() { send(t, q, slices.Repeat([]string{"x"}, c.second)...) })
				began := time.Now()
				var sizes []int
				var took time.Duration
				queue.Work(ctx, q, func(_ context.Context, batch []queue.Message) []string {
					sizes, took = append(sizes, len(batch)), time.Since(began)
					return nil
				}, queue.WorkOptions{Batch: 3, Gather: time.Second})
				if !slices.Equal(sizes, c.sizes) || took != c.took {
					t.Errorf("batches of %v, the last after %s, want %v after %s", sizes, took, c.sizes, c.took)
				}
			})
		})
	}
}

func TestWorkThatGathersStopsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, q *testQueue) {
		send(t, q, "current")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		handled := 0
		queue.Work(ctx, q, func(context.Context, []queue.Message) []string { handled++; return nil }, queue.WorkOptions{Batch: 3, Gather: time.Minute})
		if took := time.Since(began); took != time.Second || handled != 1 {
			t.Errorf("handled %d batches in %s, want the current one at the end of its context", handled, took)
		}
	})
}

func TestWorkStopsWhileItWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, q *testQueue) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		var log bytes.Buffer
		queue.Work(ctx, q, func(context.Context, []queue.Message) []string {
			t.Error("handled nothing")
			return nil
		}, queue.WorkOptions{Log: logTo(&log)})
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("ended after %s, want 5 s", took)
		}
		if log.Len() > 0 {
			t.Errorf("the end was logged as a failure:\n%s", &log)
		}
	})
}

func TestAttempt(t *testing.T) {
	t.Parallel()
	batch := []queue.Message{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	for name, c := range map[string]struct {
		answer []string
		failed []queue.Message
		err    string
	}{
		"all done":        {nil, nil, ""},
		"some failed":     {[]string{"c", "a", "c"}, []queue.Message{{ID: "a"}, {ID: "c"}}, ""},
		"an unknown id":   {[]string{"a", "x"}, batch, `"x"`},
		"an empty id":     {[]string{""}, batch, `""`},
		"a panic instead": {[]string{"panic"}, batch, "panicked: really"},
	} {
		failed, err := queue.Attempt(t.Context(), func(context.Context, []queue.Message) []string {
			if slices.Contains(c.answer, "panic") {
				panic("really")
			}
			return c.answer
		}, batch)
		same := slices.EqualFunc(failed, c.failed, func(a, b queue.Message) bool { return a.ID == b.ID })
		if !same || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: failed %v, %v", name, failed, err)
		}
	}
}

func TestABatchInProgressIsNotDeliveredAgain(t *testing.T) {
	for name, extend := range map[string]time.Duration{"extended": time.Minute, "not extended": 0} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, q *testQueue) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				send(t, q, "slow")
				var delivered atomic.Int64
				slow := func(ctx context.Context, _ []queue.Message) []string {
					if delivered.Add(1) == 1 {
						time.Sleep(3 * time.Minute) // of the bubble
					}
					return nil
				}
				for range 2 {
					go queue.Work(ctx, q, slow, queue.WorkOptions{Extend: extend, Log: slog.New(slog.DiscardHandler)})
				}
				time.Sleep(4 * time.Minute)
				if deliveries := delivered.Load(); extend > 0 && deliveries != 1 || extend == 0 && deliveries == 1 {
					t.Errorf("delivered %d times", deliveries)
				}
				cancel()
				synctest.Wait()
				wantLeft(t, q)
			})
		})
	}
}

func TestAFailedBatchIsNotExtended(t *testing.T) {
	inBubble(t, func(t *testing.T, q *testQueue) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		send(t, q, "fails")
		var at []time.Duration
		begun := time.Now()
		fails := func(_ context.Context, batch []queue.Message) []string {
			at = append(at, time.Since(begun))
			time.Sleep(11 * time.Second) // of the bubble: it is extended once
			if len(at) == 1 {
				return []string{batch[0].ID}
			}
			return nil
		}
		go queue.Work(ctx, q, fails, queue.WorkOptions{Extend: time.Minute, Log: slog.New(slog.DiscardHandler)})
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []time.Duration{0, 12 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("delivered after %v, want %v", at, want)
		}
		cancel()
		synctest.Wait()
	})
}
