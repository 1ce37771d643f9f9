package pending_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func work(kind pending.Kind, id string, at time.Time) pending.Work {
	w := pending.Work{Kind: kind, TeamID: "team", ID: id, Version: 7, At: at.UnixMilli()}
	if kind == pending.RemoveDocument || kind == pending.RemoveChunks {
		w.Old = &pending.Version{Version: 6}
	}
	return w
}

// fixture is a store with both queues and a sweeper, at a time that the test moves.
type fixture struct {
	*pending.Sweeper
	store   table.Store
	queues  map[string]*local.Queue
	now     time.Time
	givenUp []string
}

func newFixture(t *testing.T) *fixture {
	r := &fixture{now: start}
	now := func() time.Time { return r.now }
	r.store = bolttest.OpenAt(t, now)
	r.queues = map[string]*local.Queue{}
	r.Sweeper = &pending.Sweeper{Table: r.store, Now: now, Queues: map[string]queue.Queue{},
		Patience: func(k pending.Kind) time.Duration {
			if k == pending.AnswerQuestion {
				return time.Hour
			}
			return 0
		},
		GiveUp: func(ctx context.Context, w pending.Work) error {
			r.givenUp = append(r.givenUp, w.ID)
			return r.store.Write(ctx, w.Complete())
		}}
	for _, name := range []string{table.Answers, table.Documents} {
		q := local.New(local.Options{Now: now})
		r.queues[name], r.Queues[name] = q, q
	}
	return r
}

func (r *fixture) promise(t *testing.T, w pending.Work) {
	t.Helper()
	if err := r.store.Write(t.Context(), w.Promise()); err != nil {
		t.Fatal(err)
	}
}

// sent receives and completes everything in the queues.
func (r *fixture) sent(t *testing.T) (ids []string) {
	t.Helper()
	for _, q := range r.queues {
		for {
			batch, err := q.Receive(t.Context(), queue.MaxBatch, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(batch) == 0 {
				break
			}
			for _, m := range batch {
				w, err := pending.Decode(m.Body)
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, w.ID)
			}
			if err := q.Done(t.Context(), batch...); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

func (r *fixture) sweep(t *testing.T) pending.Result {
	t.Helper()
	result, err := r.Sweep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// sweepFor sweeps every minute for d, each time in another process, and returns how much was given up.
func (r *fixture) sweepFor(t *testing.T, d time.Duration) (givenUp int) {
	t.Helper()
	for end := r.now.Add(d); r.now.Before(end); {
		r.now = r.now.Add(time.Minute)
		another := *r.Sweeper
		r.Sweeper = &another
		givenUp += r.sweep(t).GivenUp
	}
	return givenUp
}

func TestPendingWorkIsSentAgainAfterAMinute(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	var want []string
	for i := range 30 { // over all shards
		id := fmt.Sprintf("%02d", i)
		r.promise(t, work(pending.AnswerQuestion, id, start))
		r.promise(t, work(pending.IndexDocument, "doc"+id, start))
		want = append(want, id, "doc"+id)
	}
	slices.Sort(want)
	r.now = start.Add(pending.Grace - time.Second)
	if r.sweep(t); len(r.sent(t)) != 0 {
		t.Fatal("sent before a minute had passed")
	}
	r.now = start.Add(pending.Grace + time.Millisecond)
	if result := r.sweep(t); result.Sent != len(want) || result.Oldest < pending.Grace {
		t.Errorf("result %+v", result)
	}
	if got := r.sent(t); !slices.Equal(got, want) {
		t.Fatalf("sent %v, want %v", got, want)
	}
}

// A long queue must not be filled with copies.
func TestWorkIsSentLessAndLessOften(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.promise(t, work(pending.RemoveDocument, "doc", start))
	var minutes []int
	for minute := 1; minute <= 240; minute++ {
		r.now = start.Add(time.Duration(minute)*time.Minute + time.Second)
		if r.sweep(t); len(r.sent(t)) > 0 {
			minutes = append(minutes, minute)
		}
	}
	if want := []int{1, 2, 4, 8, 16, 32, 64, 124, 184}; !slices.Equal(minutes, want) {
		t.Errorf("sent in minutes %v, want %v", minutes, want)
	}
}

func TestCompletedWorkIsNotSent(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	w := work(pending.AnswerQuestion, "a", start)
	r.promise(t, w)
	if err := r.store.Write(t.Context(), w.Complete()); err != nil {
		t.Fatal(err)
	}
	if err := r.store.Write(t.Context(), w.Complete()); table.AsConditionFailed(err) == nil {
		t.Errorf("completed twice: %v", err)
	}
	r.now = start.Add(time.Hour)
	if result := r.sweep(t); result != (pending.Result{}) {
		t.Errorf("result %+v", result)
	}
}

func TestImpatientWorkIsGivenUp(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.promise(t, work(pending.AnswerQuestion, "question", start))
	r.promise(t, work(pending.RemoveCollection, "collection", start))
	r.sweep(t)
	if n := r.sweepFor(t, time.Hour); n != 0 {
		t.Errorf("%d given up within an hour", n)
	}
	r.sent(t)
	r.now = start.Add(64 * time.Minute)
	if result := r.sweep(t); result.GivenUp != 1 || result.Sent != 1 {
		t.Errorf("result %+v", result)
	}
	if !slices.Equal(r.givenUp, []string{"question"}) {
		t.Errorf("given up: %v", r.givenUp)
	}
	if got := r.sent(t); !slices.Equal(got, []string{"collection"}) {
		t.Errorf("sent: %v", got)
	}
}

// deafQueue fails to send.
type deafQueue struct{ queue.Queue }

func (deafQueue) Send(context.Context, ...queue.Outgoing) error { return errors.New("no queue") }

func TestOneFailingQueueDoesNotStopTheOther(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.promise(t, work(pending.AnswerQuestion, "question", start))
	r.promise(t, work(pending.IndexDocument, "document", start))
	r.Queues[table.Answers] = deafQueue{}
	r.now = start.Add(2 * time.Minute)
	if _, err := r.Sweep(t.Context()); err == nil {
		t.Error("no error for the failing queue")
	}
	if got := r.sent(t); !slices.Equal(got, []string{"document"}) {
		t.Errorf("sent: %v", got)
	}
	r.Queues[table.Answers] = r.queues[table.Answers]
	if r.sweep(t); !slices.Equal(r.sent(t), []string{"question"}) {
		t.Error("not sent once the queue is back")
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	t.Parallel()
	for _, kind := range []pending.Kind{pending.AnswerQuestion, pending.IndexDocument, pending.RemoveDocument, pending.RemoveChunks, pending.RemoveCollection, pending.SyncSource, pending.RebuildIndex} {
		w := work(kind, "id", start)
		got, err := pending.Decode(w.Message())
		if err != nil || got.Key() != w.Key() {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
}

func TestDecodeRejectsInvalidMessages(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing": "", "no object": "[]", "an unknown kind": `{"kind":"x","teamId":"t","id":"i","at":1}`,
		"no team": `{"kind":"answer-question","id":"i","at":1}`, "no id": `{"kind":"answer-question","teamId":"t","at":1}`,
		"a time before 1970":             `{"kind":"answer-question","teamId":"t","id":"i","at":-1}`,
		"removal of nothing":             `{"kind":"remove-document","teamId":"t","id":"i","at":1}`,
		"a message that is too long":     `{"kind":"answer-question","teamId":"` + string(make([]byte, 20<<10)) + `"}`,
		"a version that is not a number": `{"kind":"index-document","teamId":"t","id":"i","at":1,"version":"7"}`,
	} {
		if w, err := pending.Decode([]byte(body)); err == nil {
			t.Errorf("%s was accepted: %+v", name, w)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(work(pending.RemoveDocument, "id", start).Message())
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		w, err := pending.Decode(body)
		if err != nil {
			return
		}
		again, err := pending.Decode(w.Message())
		if err != nil || again.Key() != w.Key() {
			t.Errorf("%+v became %+v, %v", w, again, err)
		}
	})
}

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

func TestAnUnreadableItemDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	unknown := work(pending.IndexDocument, "unknown", start)
	item := unknown.Promise()
	item.Item.Body = []byte(`{"kind":"of a later version"}`)
	if err := r.store.Write(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	r.promise(t, work(pending.IndexDocument, "z", start))
	sent, err := r.Resume(t.Context())
	if err == nil || sent != 1 || !slices.Equal(r.sent(t), []string{"z"}) {
		t.Errorf("sent %d, %v", sent, err)
	}
}

// Syncs are pending for as long as their source exists.
func TestSyncsDoNotCountAsOldestWork(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	q := local.New(local.Options{Now: func() time.Time { return r.now }})
	r.queues[table.Collections], r.Queues[table.Collections] = q, q
	r.promise(t, work(pending.SyncSource, "source", start))
	r.promise(t, work(pending.IndexDocument, "doc", start.Add(time.Hour)))
	r.now = start.Add(time.Hour + 2*time.Minute)
	if result := r.sweep(t); result.Sent != 2 || result.Oldest != 2*time.Minute {
		t.Errorf("result %+v", result)
	}
}

// A rebuild is pending for hours. It is sent again only if its worker has not extended
// it for a while.
func TestExtendedRebuildsAreNotSent(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	q := local.New(local.Options{Now: func() time.Time { return r.now }})
	r.queues[table.Index], r.Queues[table.Index] = q, q
	w := pending.Work{Kind: pending.RebuildIndex, TeamID: "team", ID: "source#documentation", At: start.UnixMilli()}
	going := func(left int64, until time.Time) error {
		return r.store.Write(t.Context(), w.Extend(left, until), keep(w))
	}
	if err := going(1, start); table.AsConditionFailed(err) == nil {
		t.Errorf("extended what is not pending: %v", err)
	}
	if err := r.store.Write(t.Context(), w.PromiseLeft(500)); err != nil {
		t.Fatal(err)
	}
	r.now = start.Add(2 * time.Minute)
	if result := r.sweep(t); result != (pending.Result{Sent: 1, Left: 500}) {
		t.Errorf("before it starts: %+v", result)
	}
	for minute := 3; minute < 30; minute++ {
		r.now = start.Add(time.Duration(minute) * time.Minute)
		if err := going(int64(500-minute), r.now.Add(2*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if result := r.sweep(t); result.Sent != 0 || result.Left != int64(500-minute) || result.Oldest != 0 {
			t.Errorf("while it runs: %+v", result)
		}
	}
	r.sent(t)
	r.now = r.now.Add(2 * time.Minute)
	if result := r.sweep(t); result.Sent != 1 || !slices.Equal(r.sent(t), []string{w.ID}) {
		t.Errorf("stopped: %+v", result)
	}
}

// keep writes one more operation.
func keep(w pending.Work) table.Op {
	return table.Check{Key: table.Key{Table: table.Index, Partition: "team", Sort: w.ID}, If: table.Absent()}
}

// countedQueue keeps how many messages each send has.
type countedQueue struct {
	queue.Queue
	mu    sync.Mutex
	sizes []int
}

func (q *countedQueue) Send(ctx context.Context, messages ...queue.Outgoing) error {
	q.mu.Lock()
	q.sizes = append(q.sizes, len(messages))
	q.mu.Unlock()
	return q.Queue.Send(ctx, messages...)
}

// A sweep sends batches of all shards, at the same time or one after the other; a sweep whose time
// is over leaves the rest to the next one.
func TestASweepSendsBatchesOfEveryShard(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{0, 16} {
		r := newFixture(t)
		r.Parallel = parallel
		counted := &countedQueue{Queue: r.queues[table.Documents]}
		r.Queues[table.Documents] = counted
		var want []string
		for i := range 800 {
			id := fmt.Sprintf("%03d", i)
			r.promise(t, work(pending.IndexDocument, id, start))
			want = append(want, id)
		}
		r.now = start.Add(2 * time.Minute)
		if result := r.sweep(t); result.Sent != len(want) || result.Oldest != 2*time.Minute {
			t.Errorf("%d at a time: result %+v", parallel, result)
		}
		if got := r.sent(t); !slices.Equal(got, want) {
			t.Errorf("%d at a time: sent %d, want %d", parallel, len(got), len(want))
		}
		if sends := len(counted.sizes); sends > len(want)/queue.MaxBatch+8 {
			t.Errorf("%d at a time: %d sends for %d messages", parallel, sends, len(want))
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		r.now = start.Add(5 * time.Minute)
		if _, err := r.Sweep(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%d at a time: %v", parallel, err)
		}
		if r.sweep(t); len(r.sent(t)) != len(want) {
			t.Errorf("%d at a time: not sent by the next sweep", parallel)
		}
	}
}
