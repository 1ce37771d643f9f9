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

func (w *world) trim() {
	w.t.Helper()
	if err := w.log.Trim(w.t.Context(), teamID); err != nil {
		w.t.Fatal(err)
	}
}

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

// TestExpiredSlotsThatAreStillStored: a store removes what has expired late, and returns empty
// pages in the meantime. An old cursor is still refused as soon as Trim has run.
func TestExpiredSlotsThatAreStillStored(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]struct {
		later time.Duration // when there is one more event; 0: never
		trim  time.Duration // the first time; 0: when all have expired
		want  []string
	}{
		"nothing is left, and Trim is late": {0, 0, nil},
		"nothing is left":                   {0, 366 * day, nil},
		"an event is left":                  {100 * day, 366 * day, []string{"later"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(numbered(1, 300)...)
			first := w.feed(audit.Query{Limit: 5}).Next
			if step.later > 0 {
				w.clock.advance(step.later)
				w.write("later")
			}
			if step.trim > 0 {
				w.clock.advance(step.trim - step.later)
				w.trim()
			}
			w.clock.advance(373*day - step.trim)
			if step.trim == 0 { // until Trim runs, the reply can only be empty
				if page := w.feed(audit.Query{After: first}); len(page.Events) != 0 {
					t.Errorf("before Trim: %v", subjects(page.Events))
				}
			}
			w.trim()
			for _, limit := range []int{1, 5, 200} {
				_, err := w.log.Feed(t.Context(), teamID, audit.Query{Limit: limit, After: first})
				wantCode(t, err, apierr.CodeCursorExpired)
				var expired *audit.ExpiredError
				if !errors.As(err, &expired) {
					t.Fatal(err)
				}
				if got := w.all(audit.Query{After: expired.Oldest}); !slices.Equal(got, step.want) {
					t.Errorf("from the oldest cursor: %v", got)
				}
			}
			if got := w.all(audit.Query{}); !slices.Equal(got, step.want) {
				t.Errorf("without a cursor: %v", got)
			}
			w.write("new")
			if got := w.all(audit.Query{}); !slices.Equal(got, append(step.want, "new")) {
				t.Errorf("a new event: %v", got)
			}
		})
	}
}

// TestTrimLeavesNumbersToTheirWriters: a writer that has a number while Trim finds nothing in the
// feed records its event nevertheless, after the limit.
func TestTrimLeavesNumbersToTheirWriters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.log.Claim(t.Context(), teamID, 1)
	audit.NumberOf(c)
	w.trim()
	if err := c.Write(t.Context(), []audit.Event{about("late")}, thing("late")); err != nil {
		t.Fatal(err)
	}
	c.End(t.Context())
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"late"}) {
		t.Errorf("%v", got)
	}
}
