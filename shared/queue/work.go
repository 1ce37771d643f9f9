package queue

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"docent/shared/pause"
)

// WorkOptions are the options of Work. A zero value means the default.
type WorkOptions struct {
	Batch   int                              // messages at a time, 1 to MaxBatch; 0: 1
	Wait    time.Duration                    // of one Receive; 0: MaxWait
	Gather  time.Duration                    // how long a batch that is not full waits for more messages; 0: not at all
	Backoff func(receives int) time.Duration // delay of a failed message, cut to MaxDelay; nil: Backoff
	Extend  time.Duration                    // how long a batch in progress is hidden again and again, so that it is not delivered twice; 0: it never is
	Grace   time.Duration                    // time for the batch in progress when ctx ends; 0: 20 s
	Log     *slog.Logger                     // nil: slog.Default()
}

const (
	defaultGrace  = 20 * time.Second
	extensions    = 6                // of a batch in the time of one: some may fail
	settleTimeout = 10 * time.Second // to report a batch's outcome to the queue
)

// Backoff returns 1 s after the first delivery and doubles with each one, up to 1 min.
func Backoff(receives int) time.Duration {
	return min(time.Second<<min(max(receives-1, 0), 6), time.Minute)
}

// Work receives messages, runs h on them and reports the outcome to q until ctx ends. Then it
// finishes the batch in progress, with Grace as the limit of h's context, and returns. If h
// panics, its batch fails. After a failure of the queue it waits 1 s, doubling to 1 min. Each
// failure is logged once; a batch that Grace cut off is not one. Several Works may run on one queue. Without Extend, the queue's
// visibility timeout must be longer than h takes, otherwise messages are delivered twice. With
// it, the timeout must be longer than a sixth of Extend.
func Work(ctx context.Context, q Queue, h Handler, o WorkOptions) {
	w := worker{q, h, o.withDefaults()}
	handling, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(w.o.Grace):
			cancel()
		case <-handling.Done():
		}
	})()
	faults := 0 // consecutive failures of the queue
	for ctx.Err() == nil {
		batch, err := q.Receive(ctx, w.o.Batch, w.o.Wait)
		if ctx.Err() != nil && len(batch) == 0 {
			return
		}
		if err != nil {
			faults++
			w.o.Log.ErrorContext(ctx, "receive from queue", "err", err, "faults", faults)
			_ = pause.For(ctx, Backoff(faults)) // the loop checks ctx
			continue
		}
		faults = 0
		if len(batch) > 0 {
			w.do(handling, w.gather(ctx, batch))
		}
	}
}

type worker struct {
	q Queue
	h Handler
	o WorkOptions
}

func (o WorkOptions) withDefaults() WorkOptions {
	if o.Batch == 0 {
		o.Batch = 1
	}
	if o.Wait == 0 {
		o.Wait = MaxWait
	}
	if o.Backoff == nil {
		o.Backoff = Backoff
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// gather waits for more messages if batch is not full. It returns at once when ctx ends.
func (w worker) gather(ctx context.Context, batch []Message) []Message {
	if w.o.Gather == 0 || len(batch) == w.o.Batch || pause.For(ctx, w.o.Gather) != nil {
		return batch
	}
	more, err := w.q.Receive(ctx, w.o.Batch-len(batch), 0)
	if err != nil && ctx.Err() == nil {
		w.o.Log.WarnContext(ctx, "gather a batch", "err", err)
	}
	return append(batch, more...)
}

// extend hides batch for Extend again and again, until the returned function is called, which
// waits for a request in progress: the outcome must be the last that the queue learns.
func (w worker) extend(ctx context.Context, batch []Message) (end func()) {
	if w.o.Extend == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var extending sync.WaitGroup
	extending.Go(func() {
		every := time.NewTicker(w.o.Extend / extensions)
		defer every.Stop()
		for {
			select {
			case <-every.C:
			case <-ctx.Done():
				return
			}
			if err := w.q.Retry(ctx, w.o.Extend, batch...); err != nil && ctx.Err() == nil {
				w.o.Log.WarnContext(ctx, "extend the time of a batch", "err", err, "messages", len(batch))
			}
		}
	})
	return func() { cancel(); extending.Wait() }
}

// do handles batch and reports the outcome to the queue. If that fails, the messages
// are delivered again after the visibility timeout.
func (w worker) do(ctx context.Context, batch []Message) {
	extended := w.extend(ctx, batch)
	failed, err := Attempt(ctx, w.h, batch)
	extended()
	if err != nil {
		w.o.Log.ErrorContext(ctx, "handle batch", "err", err, "messages", len(batch))
	}
	again := map[int][]Message{} // by deliveries so far
	isFailed := map[string]bool{}
	cutOff := err == nil && len(failed) > 0 && ctx.Err() != nil
	if cutOff {
		w.o.Log.InfoContext(ctx, "work was cut off; it is begun again later", "messages", len(failed))
	}
	for _, m := range failed {
		again[m.Receives] = append(again[m.Receives], m)
		isFailed[m.ID] = true
		if err == nil && !cutOff {
			w.o.Log.WarnContext(ctx, "message failed", "id", m.ID, "receives", m.Receives)
		}
	}
	done := slices.DeleteFunc(slices.Clone(batch), func(m Message) bool { return isFailed[m.ID] })
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if len(done) > 0 {
		if err := w.q.Done(ctx, done...); err != nil {
			w.o.Log.ErrorContext(ctx, "mark messages done", "err", err, "messages", len(done))
		}
	}
	for receives, messages := range again {
		delay := min(max(w.o.Backoff(receives), 0), MaxDelay)
		if err := w.q.Retry(ctx, delay, messages...); err != nil {
			w.o.Log.ErrorContext(ctx, "put messages back", "err", err, "messages", len(messages))
		}
	}
}
