package audit_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

const day = 24 * time.Hour

// TestCursorsOutliveNothing: a cursor past retention is refused, and the reply has the oldest
// valid one.
func TestCursorsOutliveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := w.feed(audit.Query{Types: []string{"collection.created"}}).Next
	w.write(numbered(1, 5)...)
	w.claim(2) // tombstones among the trimmed numbers
	w.clock.advance(100 * day)
	w.write("6")
	w.clock.advance(266 * day)
	if err := w.log.Trim(t.Context(), teamID); err != nil {
		t.Fatal(err)
	}
	q := audit.Query{Limit: 10, After: start, Types: []string{"collection.created"}}
	_, err := w.log.Feed(t.Context(), teamID, q)
	wantCode(t, err, apierr.CodeCursorExpired)
	var expired *audit.ExpiredError
	if !errors.As(err, &expired) {
		t.Fatal(err)
	}
	q.After = expired.Oldest
	if got := w.all(q); !slices.Equal(got, []string{"6"}) {
		t.Errorf("from the oldest cursor: %v", got)
	}
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"6"}) {
		t.Errorf("without a cursor: %v", got)
	}
	if got := w.all(audit.Query{Until: stamp(w.clock.now()), Order: audit.Descending}); !slices.Equal(got, []string{"6"}) {
		t.Errorf("downwards: %v", got)
	}
	_, err = w.log.Feed(t.Context(), teamID, audit.Query{Limit: 1, Since: audit.EventID(teamID, 2)})
	wantCode(t, err, apierr.CodeCursorExpired)
}

// TestLateTrimmingIsHarmless: slots expire in any order, some before Trim has run; readers do
// not take them for dead writers.
func TestLateTrimmingIsHarmless(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("1", "2")
	w.clock.advance(3 * day)
	w.write("3", "4")
	w.clock.advance(audit.Retention - 10*day)
	w.write("5")
	w.clock.advance(16 * day) // nine days late for 3 and 4; 1 and 2 are gone
	if _, err := w.store.Get(t.Context(), audit.SlotKey(teamID, 3)); err != nil {
		t.Fatalf("number 3: %v", err)
	}
	for _, q := range []audit.Query{{}, {Until: stamp(w.clock.now())}} {
		if got := w.all(q); !slices.Equal(got, numbered(3, 5)) {
			t.Errorf("before trimming: %v", got)
		}
	}
	for n := int64(1); n <= 2; n++ {
		if _, err := w.store.Get(t.Context(), audit.SlotKey(teamID, n)); !errors.Is(err, table.ErrNotFound) {
			t.Errorf("number %d: %v", n, err)
		}
	}
	if err := w.log.Trim(t.Context(), teamID); err != nil {
		t.Fatal(err)
	}
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"5"}) {
		t.Errorf("after trimming: %v", got)
	}
}

func TestTrimmingKeepsWhatIsYoung(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.log.Trim(t.Context(), teamID); err != nil {
		t.Fatal(err)
	}
	want := numbered(1, 40)
	for _, id := range want {
		w.write(id)
		w.clock.advance(10 * day)
	}
	for range 2 {
		if err := w.log.Trim(t.Context(), teamID); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.all(audit.Query{}); !slices.Equal(got, want[4:]) { // 1 to 4 are 400 to 370 days old
		t.Errorf("%v", got)
	}
}
