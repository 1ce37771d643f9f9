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
