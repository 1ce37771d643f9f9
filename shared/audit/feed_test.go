package audit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/memory/memorytest"
	"docent/shared/table"
)

func TestAnEmptyFeedCanBePolled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.feed(audit.Query{})
	if len(page.Events) > 0 || page.More || page.Next == "" || page.Bounded {
		t.Fatalf("%+v", page)
	}
	w.write("1")
	if got := w.all(audit.Query{After: page.Next}); !slices.Equal(got, []string{"1"}) {
		t.Errorf("after it: %v", got)
	}
	page = w.feed(audit.Query{Until: stamp(w.clock.now().Add(-time.Hour))})
	if len(page.Events) > 0 || page.More || page.Next != "" || !page.Bounded {
		t.Errorf("bounded: %+v", page)
	}
}

func TestAYoungHoleIsWaitedForAndAnOldOneClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("1")
	w.claim(3)
	w.write("2")
	page := w.feed(audit.Query{})
	if got := subjects(page.Events); !slices.Equal(got, []string{"1"}) || page.More {
		t.Errorf("young: %v, more %t", got, page.More)
	}
	w.clock.advance(audit.Grace)
	next := w.feed(audit.Query{After: page.Next})
	if got := subjects(next.Events); !slices.Equal(got, []string{"2"}) {
		t.Errorf("old: %v", got)
	}
	// No event follows the last number, so it is left to its writer.
	w.claim(1)
	w.clock.advance(time.Hour)
	w.feed(audit.Query{After: next.Next})
	if _, err := w.store.Get(t.Context(), audit.SlotKey(teamID, 6)); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("the last number: %v", err)
	}
}

// TestAClockThatIsSetBackHoldsNoReaderUp: what was recorded before is not young for an hour.
func TestAClockThatIsSetBackHoldsNoReaderUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("1")
	w.claim(1)
	w.write("2")
	until := stamp(w.clock.now().Add(time.Minute))
	w.claim(1)
	window := w.feed(audit.Query{Until: until, Limit: 1})
	w.clock.advance(-time.Hour)
	w.log.Wait = func(context.Context, time.Duration) error {
		t.Error("a bounded read waits")
		w.clock.advance(2 * time.Hour)
		return nil
	}
	if got := w.all(audit.Query{Until: until, After: window.Next}); !slices.Equal(got, []string{"2"}) {
		t.Errorf("a window that began before: %v", got)
	}
	w.claim(1)
	w.write("3")
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("a young hole: %v", got)
	}
	w.clock.advance(audit.Grace)
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("polled: %v", got)
	}
}

func TestARefusedChangeBlocksNoReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("1")
	if err := w.log.Write(t.Context(), teamID, []audit.Event{about("1")}, thing("0"), thing("1")); table.AsConditionFailed(err) == nil || table.AsConditionFailed(err).Key != table.KeyOf(thing("1")) {
		t.Fatalf("a repeated change: %v", err)
	}
	unused := w.log.Claim(t.Context(), teamID, 2)
	unused.End(t.Context())
	w.write("2")
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("at once: %v", got)
	}
}

func TestSeveralEventsAreRecordedTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := w.log.Claim(t.Context(), teamID, 1)
	defer claim.End(t.Context())
	if err := claim.Write(t.Context(), []audit.Event{about("1"), about("2"), about("3")}, thing("x")); err != nil {
		t.Fatal(err)
	}
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("%v", got)
	}
}

// TestBucketEdges puts holes, events and cursors at both sides of a bucket's end, and a bucket
// with only holes between two with events.
func TestBucketEdges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim(audit.BucketSize - 3)
	w.write(numbered(1, 5)...)      // numbers 9998 to 10002
	w.claim(2*audit.BucketSize - 1) // to 30001
	w.write("6")
	w.clock.advance(audit.Grace)
	want := numbered(1, 6)
	for _, limit := range []int{1, 2, 3, 200} {
		if got := w.all(audit.Query{Limit: limit}); !slices.Equal(got, want) {
			t.Errorf("limit %d: %v", limit, got)
		}
	}
	for i, n := range []int64{9998, 9999, 10000, 10001, 10002} {
		if got := w.all(audit.Query{Since: audit.EventID(teamID, n)}); !slices.Equal(got, want[i+1:]) {
			t.Errorf("since the event %d: %v", n, got)
		}
	}
	down := w.all(audit.Query{Limit: 2, Order: audit.Descending, Until: stamp(w.clock.now())})
	slices.Reverse(down)
	if !slices.Equal(down, want) {
		t.Errorf("downwards: %v", down)
	}
}

// TestFilteredReadsEnd: a read that finds nothing stops at a limit, and reports that it has not
// reached the end.
func TestFilteredReadsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim(audit.MaxNumbers + 10)
	w.write("1")
	w.clock.advance(audit.Grace)
	q := audit.Query{Types: []string{string(audit.CollectionCreated), ""}, Limit: 5}
	page := w.feed(q)
	if len(page.Events) != 0 || !page.More {
		t.Fatalf("first: %v, more %t", subjects(page.Events), page.More)
	}
	q.After = page.Next
	if got := w.all(q); !slices.Equal(got, []string{"1"}) {
		t.Errorf("then: %v", got)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	record := func(id string, kind audit.Type, actor, result string) {
		e := about(id)
		e.Type, e.Origin.Actor.ID, e.Outcome.Result = kind, actor, result
		if err := w.log.Write(t.Context(), teamID, []audit.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	record("1", audit.CollectionCreated, "ada", audit.Success)
	record("2", audit.DocumentCreated, "bob", audit.Success)
	record("3", audit.AccessDenied, "ada", audit.Failure)
	record("4", audit.DocumentDeleted, "ada", audit.Success)
	for _, test := range []struct {
		name string
		q    audit.Query
		want []string
	}{
		{"none", audit.Query{}, numbered(1, 4)},
		{"empty ones", audit.Query{Types: []string{""}, Actors: []string{""}}, numbered(1, 4)},
		{"two types", audit.Query{Types: []string{"document.deleted", "document.created"}}, []string{"2", "4"}},
		{"category and actor", audit.Query{Categories: []string{"data"}, Actors: []string{"ada"}}, []string{"4"}},
		{"outcome", audit.Query{Outcomes: []string{"failure"}}, []string{"3"}},
		{"nobody", audit.Query{Actors: []string{"eve"}}, nil},
	} {
		for _, limit := range []int{1, 100} {
			test.q.Limit = limit
			if got := w.all(test.q); !slices.Equal(got, test.want) {
				t.Errorf("%s, limit %d: %v", test.name, limit, got)
			}
			down := test.q
			down.Order, down.Until = audit.Descending, stamp(w.clock.now().Add(time.Second))
			got := w.all(down)
			slices.Reverse(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s, limit %d, downwards: %v", test.name, limit, got)
			}
		}
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(numbered(1, 5)...)
	first := w.feed(audit.Query{Limit: 2})
	filtered := w.feed(audit.Query{Limit: 2, Types: []string{"collection.created"}})
	down := w.feed(audit.Query{Limit: 2, Until: stamp(w.clock.now()), Order: audit.Descending})
	flip := func(s string, at int) string {
		other := byte('A')
		if s[at] == other {
			other = 'B'
		}
		return s[:at] + string(other) + s[at+1:]
	}
	for i := range first.Next {
		if _, err := w.log.Feed(t.Context(), teamID, audit.Query{Limit: 1, After: flip(first.Next, i)}); !apierr.IsCode(err, apierr.CodeInvalidCursor) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	const other = "0190d2a0-0000-7000-8000-00000000000b"
	for name, q := range map[string]audit.Query{
		"garbage":          {After: "AQ"},
		"too long":         {After: strings.Repeat("A", 5000)},
		"other filters":    {After: first.Next, Types: []string{"document.created"}},
		"without filters":  {After: filtered.Next},
		"the other way":    {After: down.Next, Order: audit.Ascending},
		"the other way up": {After: first.Next, Order: audit.Descending},
	} {
		q.Limit = 1
		_, err := w.log.Feed(t.Context(), teamID, q)
		if !apierr.IsCode(err, apierr.CodeInvalidCursor) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := w.log.Feed(t.Context(), other, audit.Query{Limit: 1, After: first.Next})
	wantCode(t, err, apierr.CodeInvalidCursor)
	// Another process seals with the same key.
	if page, err := w.newLog(w.store, 0).Feed(t.Context(), teamID, audit.Query{Limit: 100, After: first.Next}); err != nil || !slices.Equal(subjects(page.Events), numbered(3, 5)) {
		t.Errorf("another process: %v, %v", subjects(page.Events), err)
	}
	// A cursor after the last number: the table was restored to an earlier state.
	if _, err := w.store.Add(t.Context(), table.Add{Key: audit.HeadKey(teamID), By: map[string]int64{"seq": -4}}); err != nil {
		t.Fatal(err)
	}
	_, err = w.log.Feed(t.Context(), teamID, audit.Query{Limit: 1, After: first.Next})
	wantCode(t, err, apierr.CodeInvalidCursor)
}

// TestTimesInLowerCase: RFC 3339 allows t and z (section 5.6).
func TestTimesInLowerCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed(audit.Query{Since: "2026-11-21t11:00:00z", Until: "2026-11-21t13:00:00.5z"})
	w.feed(audit.Query{Since: "2026-11-21t11:00:00+01:00"})
}

func TestBadQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("1")
	const other = "0190d2a0-0000-7000-8000-00000000000b"
	for name, q := range map[string]audit.Query{
		"type":              {Types: []string{"nothing.happened"}},
		"category":          {Categories: []string{"weather"}},
		"outcome":           {Outcomes: []string{"maybe"}},
		"order":             {Order: "sideways"},
		"desc, no until":    {Order: audit.Descending},
		"since":             {Since: "yesterday"},
		"until":             {Until: "2026-13-01T00:00:00Z"},
		"until is since":    {Since: "2026-11-21T12:00:00Z", Until: "2026-11-21T12:00:00Z"},
		"until first":       {Since: "2026-11-21T12:00:00Z", Until: "2026-11-21T12:00:00+01:00"},
		"foreign id":        {Since: audit.EventID(other, 1)},
		"future id":         {Since: audit.EventID(teamID, 2)},
		"id of nothing":     {Since: audit.EventID(teamID, 0)},
		"damaged id":        {Since: "evt_U"},
		"a time after 9999": {Until: "9999-12-31T23:59:59-01:00"},
	} {
		q.Limit = 1
		_, err := w.log.Feed(t.Context(), teamID, q)
		if !apierr.IsCode(err, apierr.CodeInvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{"", "evt_", audit.EventID(other, 1), audit.EventID(teamID, 2), "evt_8ZZZZZZZZZZZZZZZZZZZZZZZZZ"} {
		_, err := w.log.Get(t.Context(), teamID, id)
		if !apierr.IsCode(err, apierr.CodeNotFound) {
			t.Errorf("get %q: %v", id, err)
		}
	}
	for name, q := range map[string]audit.Query{"far past": {Since: "0001-01-01T00:00:00Z"}, "far future": {Until: "9999-12-31T00:00:00Z"}} {
		if got := w.all(q); !slices.Equal(got, []string{"1"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestACursorBecomesBounded: until ends the read of a polling cursor; a bounded cursor keeps
// its own end.
func TestACursorBecomesBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(numbered(1, 3)...)
	first := w.feed(audit.Query{Limit: 1})
	end := stamp(w.clock.now())
	w.write("4")
	page := w.feed(audit.Query{Limit: 1, After: first.Next, Until: end})
	if !page.Bounded || !page.More {
		t.Fatalf("%+v", page)
	}
	if got := w.all(audit.Query{After: page.Next, Until: "9999-12-31T00:00:00Z"}); !slices.Equal(got, []string{"3"}) {
		t.Errorf("rest: %v", got)
	}
}

// TestABoundedReadWaitsForAWriter: an empty number before the end is left to its writer for a
// while and then closed, also if no event follows it.
func TestABoundedReadWaitsForAWriter(t *testing.T) {
	t.Parallel()
	for _, order := range []string{audit.Ascending, audit.Descending} {
		w := newWorld(t)
		w.write("1")
		claim := w.log.Claim(t.Context(), teamID, 1)
		audit.NumberOf(claim)
		soon := stamp(w.clock.now().Add(time.Minute))
		begun := w.clock.now()
		if got := w.all(audit.Query{Until: soon, Order: order}); !slices.Equal(got, []string{"1"}) {
			t.Errorf("%s: %v", order, got)
		}
		if waited := w.clock.now().Sub(begun); waited < audit.Grace || waited > audit.Grace+time.Second {
			t.Errorf("%s: waited for %v", order, waited)
		}
		if err := claim.Write(t.Context(), []audit.Event{about("2")}, thing("2")); err != nil {
			t.Fatal(err)
		}
		if got := w.all(audit.Query{Until: soon, Order: order}); !slices.Equal(got, []string{"1"}) {
			t.Errorf("%s: the window grew to %v", order, got)
		}
		if got := w.all(audit.Query{Since: soon}); !slices.Equal(got, []string{"2"}) {
			t.Errorf("%s: the next window has %v", order, got)
		}
	}
}

// TestABoundedReadThatWaitsTakesNoPlace: the numbers of a killed process would otherwise hold up other requests of the team.
func TestABoundedReadThatWaitsTakesNoPlace(t *testing.T) {
	t.Parallel()
	for _, order := range []string{audit.Ascending, audit.Descending} {
		w := newWorld(t)
		ctx, places := memorytest.OnePlace(t)
		w.claim(1)
		waits, advance := 0, w.log.Wait
		w.log.Wait = func(ctx context.Context, d time.Duration) error {
			waits++
			if held := places.Held(); held != 0 {
				t.Errorf("%s: %d places are held", order, held)
			}
			return advance(ctx, d)
		}
		if _, err := w.log.Feed(ctx, teamID, audit.Query{Until: stamp(w.clock.now().Add(time.Minute)), Order: order, Limit: 100}); err != nil {
			t.Fatal(err)
		}
		if held := places.Held(); waits == 0 || held != 1 {
			t.Errorf("%s: %d waits, %d places are held in the end", order, waits, held)
		}
	}
}

func TestOnceIsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		if err := w.log.RecordRefusal(t.Context(), teamID, "key#reason#route", about("1")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.log.RecordRefusal(t.Context(), teamID, "other key#reason#route", about("2")); err != nil {
		t.Fatal(err)
	}
	w.clock.advance(time.Minute)
	if err := w.log.RecordRefusal(t.Context(), teamID, "key#reason#route", about("3")); err != nil {
		t.Fatal(err)
	}
	if got := w.all(audit.Query{}); !slices.Equal(got, numbered(1, 3)) {
		t.Errorf("%v", got)
	}
}
