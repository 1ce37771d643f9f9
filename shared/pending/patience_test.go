package pending_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"docent/shared/pending"
	"docent/shared/queue/local"
	"docent/shared/table"
)

// resume starts a process: the queues are empty.
func (r *fixture) resume(t *testing.T) (ids []string) {
	t.Helper()
	r.sent(t)
	sent, err := r.Resume(t.Context())
	ids = r.sent(t)
	if err != nil || sent != len(ids) {
		t.Fatalf("sent %d, %d are in the queues, %v", sent, len(ids), err)
	}
	return ids
}

func TestTheOnlyProcessSendsEverythingWhenItStarts(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	syncs := local.New(local.Options{Now: func() time.Time { return r.now }})
	r.queues[table.Collections], r.Queues[table.Collections] = syncs, syncs
	r.promise(t, work(pending.RemoveDocument, "sent before", start.Add(-2*pending.Grace)))
	r.sweep(t) // not again for a minute
	r.promise(t, work(pending.AnswerQuestion, "just written", start))
	r.promise(t, work(pending.IndexDocument, "of a clock ahead", start.Add(time.Hour)))
	r.promise(t, work(pending.SyncSource, "due", start))
	r.promise(t, work(pending.SyncSource, "not due", start.Add(time.Minute)))
	want := []string{"due", "just written", "of a clock ahead", "sent before"}
	for range 2 { // and each one that starts
		if got := r.resume(t); !slices.Equal(got, want) {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
}

// No work could be done while no process ran.
func TestPatienceCountsFromTheStartOfTheProcess(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.promise(t, work(pending.AnswerQuestion, "question", start))
	r.now = start.Add(24 * time.Hour)
	if got := r.resume(t); !slices.Equal(got, []string{"question"}) {
		t.Errorf("sent %q", got)
	}
	if n := r.sweepFor(t, time.Hour); n != 0 {
		t.Errorf("%d given up within an hour of the start", n)
	}
	if result := r.sweep(t); result.GivenUp != 0 || result.Oldest != 25*time.Hour {
		t.Errorf("within an hour of the start: %+v", result)
	}
	r.now = r.now.Add(time.Millisecond)
	if result := r.sweep(t); result.GivenUp != 1 {
		t.Errorf("after an hour: %+v", result)
	}
}

// No work could be done while the machine was suspended, and none was late while its clock jumped ahead.
func TestPatienceCountsFromTheEndOfAStandstill(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"ahead": 90 * time.Minute, "back": -90 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFixture(t)
			r.sweep(t)
			r.now = r.now.Add(time.Minute)
			if jump < 0 { // the work is of a clock that was right
				r.promise(t, work(pending.AnswerQuestion, "question", r.now.Add(jump)))
			} else {
				r.promise(t, work(pending.AnswerQuestion, "question", r.now))
			}
			r.now = r.now.Add(jump)
			if result := r.sweep(t); result.GivenUp != 0 {
				t.Errorf("given up after a jump by %v", jump)
			}
			for range 70 {
				r.now = r.now.Add(time.Minute)
				r.sweep(t)
			}
			if !slices.Equal(r.givenUp, []string{"question"}) {
				t.Errorf("given up after an hour of sweeps: %v", r.givenUp)
			}
		})
	}
}

// No work could be done while nothing ran: a process that starts late tries old work before it gives it up.
func TestPatienceOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*testing.T, *fixture){
		"never swept before": func(*testing.T, *fixture) {},
		"swept before":       func(t *testing.T, r *fixture) { r.sweepFor(t, 30*time.Minute) },
		"swept for long before": func(t *testing.T, r *fixture) {
			r.now = r.now.Add(-3 * time.Hour)
			r.sweepFor(t, 3*time.Hour)
		},
		"swept by a clock ahead": func(t *testing.T, r *fixture) {
			r.now = r.now.Add(20 * time.Hour)
			r.sweepFor(t, 2*time.Hour)
			r.now = start
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFixture(t)
			before(t, r)
			r.promise(t, work(pending.AnswerQuestion, "question", start))
			r.now = start.Add(7 * time.Hour)
			if result := r.sweep(t); result.GivenUp != 0 || result.Sent != 1 {
				t.Errorf("the first sweep of a process: %+v", result)
			}
			if n := r.sweepFor(t, time.Hour); n != 0 {
				t.Errorf("%d given up within an hour", n)
			}
			if n := r.sweepFor(t, time.Minute); n != 1 {
				t.Errorf("%d given up after an hour of sweeps", n)
			}
		})
	}
}

// Two processes sweep, and their clocks differ a little.
func TestSweepsOfTwoProcessesAreRegular(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.promise(t, work(pending.AnswerQuestion, "question", start))
	r.sweep(t)
	for range 65 {
		r.now = r.now.Add(time.Minute)
		r.sweep(t)
		r.now = r.now.Add(-10 * time.Second)
		r.sweep(t)
		r.now = r.now.Add(10 * time.Second)
	}
	if !slices.Equal(r.givenUp, []string{"question"}) {
		t.Errorf("given up after an hour of sweeps: %v", r.givenUp)
	}
}

// A sweep that cannot read or note how regular sweeps are gives nothing up, and still sends.
func TestASweepThatIsNotNotedGivesNothingUp(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.promise(t, work(pending.AnswerQuestion, "question", start))
	r.sweep(t)
	r.sweepFor(t, time.Hour)
	r.sent(t)
	r.now = start.Add(64 * time.Minute)
	whole := r.Table
	for name, broken := range map[string]table.Store{"read": unread{whole}, "noted": unnoted{whole}} {
		r.Table = broken
		result, err := r.Sweep(t.Context())
		if !errors.Is(err, errBroken) || result.GivenUp != 0 {
			t.Errorf("not %s: %+v, %v", name, result, err)
		}
	}
	if len(r.sent(t)) != 1 {
		t.Error("not sent")
	}
	r.Table = whole
	if result := r.sweep(t); result.GivenUp != 1 {
		t.Errorf("once it is noted again: %+v", result)
	}
}

var errBroken = errors.New("broken")

// unread fails to read how regular sweeps are.
type unread struct{ table.Store }

func (s unread) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	if k == pending.SweepsKey {
		return table.Item{}, errBroken
	}
	return s.Store.Get(ctx, k, opts...)
}

// unnoted fails to store it.
type unnoted struct{ table.Store }

func (s unnoted) Write(ctx context.Context, ops ...table.Op) error {
	if table.KeyOf(ops[0]) == pending.SweepsKey {
		return errBroken
	}
	return s.Store.Write(ctx, ops...)
}

// crowded is a table on a full disk.
type crowded struct{ table.Store }

func (s crowded) Write(ctx context.Context, ops ...table.Op) error {
	if !table.IsFreeing(ctx) {
		return errBroken
	}
	return s.Store.Write(ctx, ops...)
}

// A sweep is noted on a full disk too.
func TestASweepIsNotedOnAFullDisk(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.Table = crowded{r.Table}
	for range 2 {
		if _, err := r.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// Sweeps at the same time wait for nobody, and agree since when they are regular.
func TestSweepsAtTheSameTimeAreNoted(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	var all sync.WaitGroup
	for range 4 {
		another := *r.Sweeper
		all.Go(func() {
			if _, err := another.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
