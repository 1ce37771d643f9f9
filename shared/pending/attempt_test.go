package pending_test

import (
	"testing"
	"time"

	"docent/shared/pending"
	"docent/shared/queue/local"
)

func TestWorkThatIsBegunIsCounted(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	files := local.New(local.Options{Now: func() time.Time { return r.now }})
	r.queues["files"], r.Extractions = files, files
	w := work(pending.ExtractDocument, "file", start)
	begin := func(others bool, want int64) {
		t.Helper()
		if got, err := pending.Begin(t.Context(), r.store, w, r.now, r.now.Add(5*time.Minute), others); got != want || err != nil {
			t.Errorf("attempt %d, %v, want %d", got, err, want)
		}
	}
	leave := func() {
		t.Helper()
		if err := pending.Leave(t.Context(), r.store, w); err != nil {
			t.Error(err)
		}
	}
	begin(true, 0) // it is not pending
	leave()
	r.promise(t, w)
	begin(true, 1)
	begin(true, 0) // another worker is at it
	begin(false, 2)
	leave()
	begin(true, 2)
	leave()
	begin(true, 2)
	r.now = r.now.Add(4 * time.Minute)
	if result := r.sweep(t); result != (pending.Result{}) || len(r.sent(t)) != 0 {
		t.Errorf("while it is done: %+v", result)
	}
	r.now = r.now.Add(time.Minute)
	if result := r.sweep(t); result.Sent != 1 || result.Oldest != 0 || len(r.sent(t)) != 1 {
		t.Errorf("after its time: %+v", result)
	}
	begin(true, 3)
	if err := r.store.Write(t.Context(), w.Complete()); err != nil {
		t.Fatal(err)
	}
	begin(true, 0)
}

// What is to be removed later is not removed because the process starts.
func TestRemovalsAreNotResumedBeforeTheyAreDue(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.promise(t, work(pending.RemoveChunks, "due", start))
	r.promise(t, work(pending.RemoveChunks, "later", start.Add(time.Minute)))
	if got := r.resume(t); len(got) != 1 || got[0] != "due" {
		t.Errorf("sent %q", got)
	}
}
