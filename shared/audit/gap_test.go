package audit_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

// skip does what a restore does, as of now.
func (w *world) skip() {
	w.t.Helper()
	if err := audit.SkipNumbers(w.t.Context(), w.store, w.clock.now(), []string{teamID}); err != nil {
		w.t.Fatal(err)
	}
}

// counting is a store that counts its reads of a partition and its writes.
type counting struct {
	table.Store
	queries, writes atomic.Int64
}

func (c *counting) Write(ctx context.Context, ops ...table.Op) error {
	c.writes.Add(1)
	return c.Store.Write(ctx, ops...)
}

func (c *counting) Query(ctx context.Context, q table.Query) (table.Page, error) {
	c.queries.Add(1)
	return c.Store.Query(ctx, q)
}

// TestReadersGoPastGaps: every way of reading returns what is before, between and after the gaps
// once and in order, with few queries.
func TestReadersGoPastGaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reads := &counting{Store: w.store}
	w.log = w.newLog(reads, 0)
	start := w.clock.now()
	w.skip() // before the first event
	w.write(numbered(1, 7)...)
	w.claim(3) // of processes that died
	w.clock.advance(time.Hour)
	w.skip()
	w.skip() // repeated
	between := w.clock.now()
	w.write(numbered(8, 12)...)
	w.clock.advance(time.Hour)
	w.skip()
	w.clock.advance(time.Hour)
	w.write(numbered(13, 20)...)
	w.clock.advance(time.Hour)
	w.skip() // after the last event
	end, written := w.clock.now(), reads.writes.Load()

	all := numbered(1, 20)
	down := slices.Clone(all)
	slices.Reverse(down)
	for name, c := range map[string]struct {
		q    audit.Query
		want []string
	}{
		"everything":   {audit.Query{}, all},
		"filtered":     {audit.Query{Types: []string{"collection.created"}}, all},
		"since a time": {audit.Query{Since: stamp(between.Add(3 * time.Minute))}, all[12:]},
		"since before": {audit.Query{Since: stamp(start)}, all},
		"to a time":    {audit.Query{Until: stamp(between)}, all[:7]},
		"from a time":  {audit.Query{Since: stamp(between), Until: stamp(end)}, all[7:]},
		"bounded":      {audit.Query{Until: stamp(end)}, all},
		"downwards":    {audit.Query{Until: stamp(end), Order: audit.Descending}, down},
	} {
		for _, c.q.Limit = range []int{1, 3, 7, 100} {
			before := reads.queries.Load()
			if got := w.all(c.q); !slices.Equal(got, c.want) {
				t.Errorf("%s, %d per page: %v, want %v", name, c.q.Limit, got, c.want)
			}
			if n := reads.queries.Load() - before; c.q.Limit == 100 && n > 25 {
				t.Errorf("%s: %d queries", name, n)
			}
		}
	}
	if n := reads.writes.Load() - written; n > 30 { // marks, and tombstones of the three numbers
		t.Errorf("%d writes", n)
	}
}

// TestATimeIsFoundFastAroundAGap: the search for it does not read the gap.
func TestATimeIsFoundFastAroundAGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := w.clock.now()
	w.write(numbered(1, 5)...)
	w.skip()
	w.write(numbered(6, 10)...)
	reads := &counting{Store: w.store}
	w.log = w.newLog(reads, 0)
	if got := w.all(audit.Query{Since: stamp(start)}); !slices.Equal(got, numbered(1, 10)) {
		t.Errorf("%v", got)
	}
	if n := reads.queries.Load(); n > 10 {
		t.Errorf("%d queries", n)
	}
}

// TestCursorsOfLostEventsContinueAfterTheGap: what a collector knows of events that a restore has
// lost leads to everything after the restore, as does what it knows of those that are left.
func TestCursorsOfLostEventsContinueAfterTheGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(numbered(1, 10)...)
	cursor := w.feed(audit.Query{Limit: 8}).Next
	w.skip()
	w.write(numbered(11, 15)...)
	for name, c := range map[string]struct {
		q     audit.Query
		first int
	}{
		"a cursor before":     {audit.Query{After: cursor}, 9},
		"an id before":        {audit.Query{Since: audit.EventID(teamID, 8)}, 9},
		"a cursor at the end": {audit.Query{After: audit.SealPlace(t, w.log, teamID, 10, 0, 0, 0, 0)}, 11},
		"a cursor of lost":    {audit.Query{After: audit.SealPlace(t, w.log, teamID, 12, 0, 0, 0, 0)}, 11},
		"an id of lost":       {audit.Query{Since: audit.EventID(teamID, 12)}, 11},
		"the end of a window": {audit.Query{After: audit.SealPlace(t, w.log, teamID, 11, 14, 0, 0, 1)}, 16},
		"a window downwards":  {audit.Query{After: audit.SealPlace(t, w.log, teamID, 13, 14, 9, 0, 3)}, 10},
		"an id in the middle": {audit.Query{Since: audit.EventID(teamID, 1<<40)}, 11},
	} {
		want := numbered(c.first, 15)
		if name == "a window downwards" {
			want = want[:1]
		}
		if got := w.all(c.q); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if _, err := w.log.Get(t.Context(), teamID, audit.EventID(teamID, 12)); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("a lost event: %v", err)
	}
}

// TestNumbersAreNeverUsedTwice restores one backup again and again, each time later.
func TestNumbersAreNeverUsedTwice(t *testing.T) {
	t.Parallel()
	c := newClock()
	seen := map[string]int{}
	for round := range 4 {
		w := newWorld(t)
		w.clock = c
		w.log = w.newLog(w.store, 0)
		w.write(numbered(1, 10)...)
		if round > 0 {
			w.skip()
		}
		w.write(numbered(11, 40)...)
		for i, e := range w.feed(audit.Query{}).Events {
			if first, used := seen[e.ID()]; used && i >= 10 { // the others are in the backup
				t.Errorf("round %d uses %s of round %d again", round, e.ID(), first)
			}
			seen[e.ID()] = round
			if e.Sequence >= 1<<53 {
				t.Errorf("%d is not exact in JavaScript", e.Sequence)
			}
		}
		c.advance(time.Second)
	}
	if want := 10 + 4*30; len(seen) != want {
		t.Errorf("%d ids, want %d", len(seen), want)
	}
}

// TestAClockThatIsBehindSkipsNumbers: even then no number of the backup's own events is used.
func TestAClockThatIsBehindSkipsNumbers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(numbered(1, 3)...)
	w.skip()
	w.write("4")
	for range 2 {
		if err := audit.SkipNumbers(t.Context(), w.store, time.Unix(1, 0), []string{teamID}); err != nil {
			t.Fatal(err)
		}
	}
	w.write("5")
	events := w.feed(audit.Query{}).Events
	if got := subjects(events); !slices.Equal(got, numbered(1, 5)) {
		t.Fatalf("%v", got)
	}
	if skipped := events[4].Sequence - events[3].Sequence; skipped < 1000 || skipped > math.MaxInt32 {
		t.Errorf("it skips %d numbers", skipped)
	}
}

// racing is a store of which a writer claims a number before the first Write.
type racing struct {
	table.Store
	w    *world
	once atomic.Bool
}

func (r *racing) Write(ctx context.Context, ops ...table.Op) error {
	if r.once.CompareAndSwap(false, true) {
		r.w.write("meanwhile")
	}
	return r.Store.Write(ctx, ops...)
}

func TestSkippingNumbersHidesNoEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("before")
	if err := audit.SkipNumbers(t.Context(), &racing{Store: w.store, w: w}, w.clock.now(), []string{teamID}); err != nil {
		t.Fatal(err)
	}
	w.write("after")
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"before", "meanwhile", "after"}) {
		t.Errorf("%v", got)
	}
}

// stopping is a store whose Write fails after some.
type stopping struct {
	table.Store
	left int
}

var errStopped = errors.New("stopped")

func (s *stopping) Write(ctx context.Context, ops ...table.Op) error {
	if s.left--; s.left < 0 {
		return errStopped
	}
	return s.Store.Write(ctx, ops...)
}

// TestSkippingNumbersMayBeRepeated: of many teams, an interrupted run skips the numbers of some;
// another run continues.
func TestSkippingNumbersMayBeRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("before")
	teams := []string{teamID}
	for n := range 250 {
		teams = append(teams, "team-"+strconv.Itoa(n)) // which have recorded nothing
	}
	for left := range 3 {
		if err := audit.SkipNumbers(t.Context(), &stopping{w.store, left}, w.clock.now(), teams); !errors.Is(err, errStopped) {
			t.Fatalf("after %d writes: %v", left, err)
		}
	}
	if err := audit.SkipNumbers(t.Context(), w.store, w.clock.now(), teams); err != nil {
		t.Fatal(err)
	}
	for _, id := range teams {
		item, err := w.store.Get(t.Context(), audit.HeadKey(id))
		if err != nil || item.Numbers["seq"] < 1<<50 || len(item.Numbers) != 2 {
			t.Fatalf("%s: %v, %v", id, item.Numbers, err)
		}
	}
	w.write("after")
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"before", "after"}) {
		t.Errorf("%v", got)
	}
}

func TestTrimGoesPastGaps(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]time.Duration{"in time": 0, "late": 10 * day} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			start := w.feed(audit.Query{}).Next
			w.write(numbered(1, 3)...)
			w.skip()
			w.write(numbered(4, 6)...)
			w.skip()
			w.clock.advance(audit.Retention + late)
			writes := &counting{Store: w.store}
			w.log = w.newLog(writes, 0)
			w.trim()
			if n := writes.writes.Load(); n > 6 {
				t.Errorf("%d writes", n)
			}
			_, err := w.log.Feed(t.Context(), teamID, audit.Query{Limit: 1, After: start})
			wantCode(t, err, apierr.CodeCursorExpired)
			w.write("7")
			w.trim()
			if got := w.all(audit.Query{}); !slices.Equal(got, []string{"7"}) {
				t.Errorf("%v", got)
			}
		})
	}
}
