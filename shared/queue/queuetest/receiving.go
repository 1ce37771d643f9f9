package queuetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"docent/shared/queue"
)

func redelivery(t *testing.T, f Fixture) {
	f.send(t, "again")
	first := f.receive(t)
	began := time.Now()
	f.wantNone(t, 0)
	second := f.receive(t)
	if hidden := time.Since(began); hidden < short*9/10 || hidden > soon {
		t.Errorf("came again after %s, want %s", hidden, short)
	}
	if second.ID != first.ID || string(second.Body) != "again" || second.Receives != 2 {
		t.Errorf("received %+v after %+v", second, first)
	}
	if second.Receipt == first.Receipt {
		t.Error("two deliveries have one receipt")
	}
	f.done(t, second)
	f.wantNone(t, 2*short)
}

func retries(t *testing.T, f Fixture) {
	f.send(t, "again")
	first := f.receive(t)
	f.retry(t, 0, first)
	second := f.receive(t)
	if second.ID != first.ID || second.Receives != 2 {
		t.Errorf("received %+v after %+v", second, first)
	}
	began := time.Now()
	f.retry(t, 2*time.Second, second)
	f.wantNone(t, 0)
	third := f.receive(t)
	if waited := time.Since(began); waited < 1900*time.Millisecond || waited > soon {
		t.Errorf("came again after %s, want 2 s", waited)
	}
	if third.ID != first.ID || third.Receives != 3 {
		t.Errorf("received %+v after %+v", third, second)
	}
	f.done(t, third)
	f.wantNone(t, time.Second)
}

func retryDone(t *testing.T, f Fixture) {
	f.send(t, "done")
	m := f.receive(t)
	f.done(t, m)
	f.retry(t, 0, m)
	f.wantNone(t, time.Second)
}

func deadLetter(t *testing.T, f Fixture) {
	f.send(t, "poison")
	for n := 1; n <= queue.MaxReceives; n++ {
		m := f.receive(t)
		if m.Receives != n || string(m.Body) != "poison" {
			t.Fatalf("delivery %d: %+v", n, m)
		}
		f.retry(t, 0, m)
	}
	f.wantNone(t, time.Second)
	f.send(t, "next") // a dead letter does not block later messages
	if m := f.receive(t); string(m.Body) != "next" {
		t.Errorf("received %q", m.Body)
	}
	f.wantDead(t, "poison")
}

func abandoned(t *testing.T, f Fixture) {
	f.send(t, "poison")
	for n := 1; n <= queue.MaxReceives; n++ {
		if m := f.receive(t); m.Receives != n {
			t.Fatalf("delivery %d: %+v", n, m)
		}
	}
	f.wantNone(t, 2*short)
	f.wantDead(t, "poison")
}

func deleted(t *testing.T, f Fixture) {
	f.send(t, "done", "kept")
	messages := f.receiveAll(t, 2)
	done := slices.IndexFunc(messages, func(m queue.Message) bool { return string(m.Body) == "done" })
	f.done(t, messages[done])
	f.done(t, messages[done])
	m := f.receive(t) // after the visibility timeout
	if string(m.Body) != "kept" {
		t.Fatalf("received %q", m.Body)
	}
	f.done(t, m)
	f.wantNone(t, 2*short)
}

// partialFailure runs the worker loop: a handler that fails two of five once.
func partialFailure(t *testing.T, f Fixture) {
	f.send(t, numbered(5)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failing := []string{"message 01", "message 03"}
	var handled []string
	handle := func(_ context.Context, batch []queue.Message) (failed []string) {
		for _, m := range batch {
			handled = append(handled, string(m.Body))
			if m.Receives == 1 && slices.Contains(failing, string(m.Body)) {
				failed = append(failed, m.ID)
			}
		}
		if len(handled) == 7 {
			cancel()
		}
		return failed
	}
	stop := time.AfterFunc(4*soon, cancel)
	defer stop.Stop()
	queue.Work(ctx, f.Queue, handle, queue.WorkOptions{
		Batch: queue.MaxBatch, Wait: soon, Backoff: func(int) time.Duration { return 0 }, Log: quiet,
	})
	slices.Sort(handled)
	want := append(numbered(5), failing...)
	slices.Sort(want)
	if !slices.Equal(handled, want) {
		t.Errorf("handled %q, want %q", handled, want)
	}
	f.wantNone(t, 0)
}

func waking(t *testing.T, f Fixture) {
	type result struct {
		messages []queue.Message
		err      error
		waited   time.Duration
	}
	results := make(chan result, 1)
	go func() {
		began := time.Now()
		messages, err := f.Queue.Receive(t.Context(), 1, queue.MaxWait)
		results <- result{messages, err, time.Since(began)}
	}()
	f.send(t, "wake up")
	r := <-results
	if r.err != nil || len(r.messages) != 1 || string(r.messages[0].Body) != "wake up" {
		t.Fatalf("Receive = %v, %v", r.messages, r.err)
	}
	if r.waited > soon {
		t.Errorf("woke after %s", r.waited)
	}
}

// sharing wants every message delivered to one of eight receivers, and to no second one unless
// the engine may repeat itself.
func sharing(t *testing.T, f Fixture, mayRepeat bool) {
	const total = 60
	for range total / queue.MaxBatch {
		f.send(t, numbered(queue.MaxBatch)...)
	}
	var mu sync.Mutex
	deliveries := map[string]int{} // by message id
	done := make(chan struct{})
	var wait sync.WaitGroup
	for n := range 8 {
		wait.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				got, err := f.Queue.Receive(t.Context(), 1+n%3, time.Second)
				if err != nil {
					t.Errorf("Receive: %v", err)
					return
				}
				mu.Lock()
				for _, m := range got {
					deliveries[m.ID]++
					if len(deliveries) == total && deliveries[m.ID] == 1 {
						close(done)
					}
				}
				mu.Unlock()
				if len(got) == 0 {
					return
				}
			}
		})
	}
	wait.Wait()
	if len(deliveries) != total {
		t.Errorf("%d of %d messages were delivered", len(deliveries), total)
	}
	for id, n := range deliveries {
		if n != 1 && !mayRepeat {
			t.Errorf("message %s was delivered to %d receivers", id, n)
		}
	}
	f.wantNone(t, 0)
}
