package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/search"
	"docent/shared/table"
)

func merge(t testing.TB, x *search.Index) int {
	t.Helper()
	n, err := x.Merge(t.Context(), team)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func levels(t testing.TB, x *search.Index) []int {
	t.Helper()
	l, err := x.Levels(t.Context(), team)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func blobCount(t testing.TB, x *search.Index) int {
	t.Helper()
	n := 0
	for _, err := range x.Blobs.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func TestTenSegmentsOfALevelBecomeOne(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	for i := range 25 {
		publish(t, x, lib, doc("wiki", fmt.Sprint("t", i), "zebra "+strings.Repeat("lion ", i), 1))
	}
	q := search.Query{Text: "zebra and lion", Limit: 50}
	_, want := ask(t, x, q)
	if n := merge(t, x); n != 20 {
		t.Errorf("replaced %d segments, want 20", n)
	}
	if got := levels(t, x); !slices.Equal(got, []int{0, 0, 0, 0, 0, 1, 1}) {
		t.Errorf("levels %v", got)
	}
	if _, got := ask(t, x, q); !slices.Equal(plain(got), plain(want)) {
		t.Errorf("after the merge:\n%v\nbefore:\n%v", plain(got), plain(want))
	}
	if n := merge(t, x); n != 0 {
		t.Errorf("replaced %d segments of a merged team", n)
	}
	for _, c := range []struct {
		wait          time.Duration
		removed, left int
	}{{59 * time.Minute, 0, 27}, {2 * time.Minute, 20, 7}, {25 * time.Hour, 0, 7}} {
		clock.Advance(c.wait)
		if n, err := x.Clean(t.Context()); err != nil || n != c.removed || blobCount(t, x) != c.left {
			t.Errorf("after %v: removed %d, %d left: %v", c.wait, n, blobCount(t, x), err)
		}
	}
}

func TestAHundredSegmentsBecomeOneOfTheSecondLevel(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	for i := range 100 {
		publish(t, x, lib, doc("wiki", fmt.Sprint("t", i), "zebra", 1))
	}
	merge(t, x)
	if got := levels(t, x); !slices.Equal(got, []int{2}) {
		t.Errorf("levels %v", got)
	}
}

func TestManyStalePassagesMergeTheFamily(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	for i := range 8 {
		publish(t, x, lib, doc("wiki", fmt.Sprint("t", i), "zebra", 1), doc("guide", fmt.Sprint("g", i), "zebra", 1))
	}
	gone := func(i int) {
		lib.remove(doc("", fmt.Sprint("t", i), "", 0).ID)
		if err := x.Stale(t.Context(), team, "wiki", search.Documentation, 1); err != nil {
			t.Fatal(err)
		}
	}
	gone(0)
	gone(1)
	if n := merge(t, x); n != 0 {
		t.Errorf("a quarter is stale: replaced %d", n)
	}
	gone(2)
	if n := merge(t, x); n != 8 {
		t.Errorf("more than a quarter is stale: replaced %d of the 8 of the family", n)
	}
	if _, r := ask(t, x, search.Query{Text: "zebra", Limit: 50}); r.Passages != 13 || len(r.Hits) != 13 {
		t.Errorf("%d passages, %d hits", r.Passages, len(r.Hits))
	}
	if n := merge(t, x); n != 0 {
		t.Errorf("the counter did not restart: replaced %d", n)
	}
}

func TestDroppedSourceLeavesNothing(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	publish(t, x, lib, doc("wiki", "a", "zebra", 1), doc("guide", "b", "zebra", 1))
	for range 2 {
		if err := x.DropSource(t.Context(), team, "wiki"); err != nil {
			t.Fatal(err)
		}
	}
	if titles, _ := ask(t, x, search.Query{Text: "zebra"}); !slices.Equal(titles, []string{"b"}) {
		t.Errorf("found %q", titles)
	}
	clock.Advance(61 * time.Minute)
	if n, err := x.Clean(t.Context()); n != 1 || err != nil || blobCount(t, x) != 1 {
		t.Errorf("removed %d, left %d: %v", n, blobCount(t, x), err)
	}
}

func TestBlobsWithoutARecordGoAfterADay(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	publish(t, x, lib, doc("wiki", "a", "zebra", 1))
	for _, name := range []string{"segments/" + team + "/lost", "segments/another/lost"} {
		if err := x.Blobs.Put(t.Context(), name, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		wait    time.Duration
		removed int
	}{{0, 0}, {23 * time.Hour, 0}, {2 * time.Hour, 2}, {time.Hour, 0}, {24 * time.Hour, 0}} {
		clock.Advance(c.wait)
		if n, err := x.Clean(t.Context()); n != c.removed || err != nil {
			t.Errorf("after %v: removed %d, want %d: %v", c.wait, n, c.removed, err)
		}
	}
	if titles, _ := ask(t, x, search.Query{Text: "zebra"}); len(titles) != 1 {
		t.Errorf("found %q", titles)
	}
}

func TestCheckFindsDamageAndARebuildRepairsIt(t *testing.T) {
	t.Parallel()
	t.Run("read whole", func(t *testing.T) {
		t.Parallel()
		findDamageAndRepairIt(t, 1<<20)
	})
	t.Run("read in parts", func(t *testing.T) {
		t.Parallel()
		findDamageAndRepairIt(t, 1)
	})
}

func findDamageAndRepairIt(t *testing.T, rangedFrom int) {
	x, lib, _ := newIndex(t)
	var faults []error
	x.OnFault = func(_ context.Context, err error) { faults = append(faults, err) }
	publish(t, x, lib, doc("guide", "b", "zebra", 1), doc("wiki", "a", "zebra", 1))
	for i := range 9 {
		publish(t, x, lib, doc("guide", fmt.Sprint("t", i), "zebra", 1))
	}
	lib.remove(doc("", "t0", "", 0).ID)
	r, err := x.Check(t.Context(), team)
	if err != nil || r.Segments != 11 || r.Documents != 11 || r.Passages != 11 || r.Stale != 1 || len(r.Damaged) != 0 {
		t.Errorf("sound: %+v: %v", r, err)
	}
	spoil(t, x)
	if r, err = x.Check(t.Context(), team); err != nil || r.Segments != 0 || len(r.Damaged) != 11 {
		t.Errorf("damaged: %+v: %v", r, err)
	}
	cold := &search.Index{Table: x.Table, Blobs: x.Blobs, Corpus: lib, Now: x.Now, NewID: x.NewID, OnFault: x.OnFault}
	cold.ReadByRange(rangedFrom)
	if titles, _ := ask(t, cold, search.Query{Text: "zebra"}); len(titles) != 0 || len(faults) != 11 {
		t.Errorf("found %q in damaged segments, %d reported", titles, len(faults))
	}
	merge(t, cold) // ten of one family are due: one of these is marked, then no ten are left
	faults = nil
	if _, err := cold.AskRebuild(t.Context(), team, "wiki", search.Documentation); err != nil {
		t.Fatal(err)
	}
	rebuild(t, rebuilder(cold).SliceOf(100))
	if r, err = cold.Check(t.Context(), team); err != nil || r.Segments != 2 || r.Documents != 10 || r.Stale != 0 || len(r.Damaged) != 0 {
		t.Errorf("rebuilt: %+v: %v", r, err)
	}
	if titles, _ := ask(t, cold, search.Query{Text: "zebra", Limit: 20}); len(titles) != 10 {
		t.Errorf("found %q after the repair", titles)
	}
}

// spoil changes one byte of every blob.
func spoil(t testing.TB, x *search.Index) { t.Helper(); spoilUnder(t, x, "") }

// spoilUnder damages the blobs whose names begin with prefix.
func spoilUnder(t testing.TB, x *search.Index, prefix string) {
	t.Helper()
	var names []string
	for b, err := range x.Blobs.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, b.Name)
	}
	for _, name := range names {
		data, err := x.Blobs.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		data = slices.Clone(data)
		data[len(data)/2] ^= 1
		if err := errors.Join(x.Blobs.Delete(t.Context(), name), x.Blobs.Put(t.Context(), name, data)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAMergeMarksASegmentWhoseDamageItMeetsLate: the segments have several pages, of which a merge reads most after it has opened them all.
func TestAMergeMarksASegmentWhoseDamageItMeetsLate(t *testing.T) {
	t.Parallel()
	const documents = 400 // of a segment
	for where, place := range map[string]func(data []byte) int{
		"postings":  func([]byte) int { return 4096 + 100 },
		"documents": func(data []byte) int { return len(data) - 1000 - 24*documents/2 }, // before the sums of pages and the footer
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			x, lib, _ := newIndex(t)
			x.OnFault = func(context.Context, error) {}
			x.ReadByRange(1)
			for n := range 10 {
				var docs []search.Document
				for i := range documents {
					docs = append(docs, doc("wiki", fmt.Sprint(n, " ", i), fmt.Sprintf("zebra word%d other%d", i, i/7), 1))
				}
				publish(t, x, lib, docs...)
			}
			var name string
			for b, err := range x.Blobs.List(t.Context(), "") {
				if name = b.Name; err != nil {
					t.Fatal(err)
				}
			}
			data, err := x.Blobs.Get(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			data = slices.Clone(data)
			data[place(data)] ^= 1
			if err := errors.Join(x.Blobs.Delete(t.Context(), name), x.Blobs.Put(t.Context(), name, data)); err != nil {
				t.Fatal(err)
			}
			if n := merge(t, x); n != 0 {
				t.Errorf("merged %d segments of which one is damaged", n)
			}
			if reasons, err := x.Outdated(t.Context(), team); err != nil || reasons["damaged"] != 1 || len(levels(t, x)) != 10 {
				t.Errorf("outdated: %v of %d: %v", reasons, len(levels(t, x)), err)
			}
			rebuild(t, rebuilder(x).SliceOf(1000))
			if r, err := x.Check(t.Context(), team); err != nil || len(r.Damaged) != 0 || len(r.Current) != 10*documents {
				t.Errorf("repaired: %d documents, damaged %v: %v", len(r.Current), r.Damaged, err)
			}
		})
	}
}

func TestQueryGoesOnWhenAMergeTakesItsSegment(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	for i := range 10 {
		publish(t, x, lib, doc("wiki", fmt.Sprint("t", i), "zebra", 1))
	}
	cold := &search.Index{Table: x.Table, Blobs: &takenAway{Store: x.Blobs, before: func() {
		merge(t, x)
		clock.Advance(61 * time.Minute)
		if n, err := x.Clean(t.Context()); n != 10 || err != nil {
			t.Errorf("removed %d: %v", n, err)
		}
	}}, Corpus: lib, Now: x.Now, NewID: x.NewID, OnFault: x.OnFault}
	if titles, _ := ask(t, cold, search.Query{Text: "zebra"}); len(titles) != 10 {
		t.Errorf("found %q", titles)
	}
}

// errCrash is the error of a store that dies at a Write.
var errCrash = errors.New("crash")

// faulty fails some Writes, before or after they happen.
type faulty struct {
	table.Store
	mu     sync.Mutex
	random *rand.Rand
	share  int // one of this many Writes fails; 0: none
}

func (f *faulty) Write(ctx context.Context, ops ...table.Op) error {
	f.mu.Lock()
	before, after := false, false
	if f.share > 0 {
		before, after = f.random.IntN(f.share) == 0, f.random.IntN(f.share) == 0
	}
	f.mu.Unlock()
	if before {
		return errCrash
	}
	if err := f.Store.Write(ctx, ops...); err != nil || !after {
		return err
	}
	return errCrash
}

func TestCrashesAndRacesLoseNothing(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	store := &faulty{Store: x.Table, random: rand.New(rand.NewPCG(1, 2)), share: 6}
	x.Table = store
	const workers, each, documents = 3, 60, 40
	var version struct {
		sync.Mutex
		n int64
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(w)))
			for range each {
				title := fmt.Sprint("t", random.IntN(documents))
				if random.IntN(5) == 0 {
					lib.remove(doc("", title, "", 0).ID)
				} else {
					version.Lock()
					version.n++
					d := doc("wiki", title, fmt.Sprintf("zebra mark%d", version.n), version.n)
					lib.put(d) // the record is the truth, whatever happens to the index
					version.Unlock()
					for x.Publish(t.Context(), team, []search.Document{d}, nil) != nil {
					}
				}
				if random.IntN(4) == 0 {
					if _, err := x.Merge(t.Context(), team); err != nil && !errors.Is(err, errCrash) {
						t.Error(err)
					}
				}
				if random.IntN(8) == 0 {
					rebuildSome(t, x)
				}
				checkCurrent(t, x, lib)
			}
		})
	}
	wg.Wait()
	store.share = 0
	clock.Advance(3 * time.Minute) // past the lease of a stopped worker
	rebuild(t, rebuilder(x))
	if err := x.Stale(t.Context(), team, "wiki", search.Documentation, 1_000_000); err != nil {
		t.Fatal(err)
	}
	merge(t, x)
	titles, r := ask(t, x, search.Query{Text: "zebra", Limit: 100})
	if len(titles) != len(lib.docs) || r.Passages != len(lib.docs) {
		t.Errorf("%d found, %d passages, %d documents", len(titles), r.Passages, len(lib.docs))
	}
	checkCurrent(t, x, lib)
	clock.Advance(25 * time.Hour)
	if _, err := x.Clean(t.Context()); err != nil || blobCount(t, x) != 1 {
		t.Errorf("%d blobs left: %v", blobCount(t, x), err)
	}
}

// rebuildSome requests a rebuild and does a part of it. Writes may fail, and another worker may
// hold the lease.
func rebuildSome(t testing.TB, x *search.Index) {
	t.Helper()
	if _, err := x.AskRebuild(t.Context(), team, "wiki", search.Documentation); err != nil && !errors.Is(err, errCrash) {
		t.Error(err)
	}
	planned, err := x.PendingRebuilds(t.Context(), team)
	if err != nil {
		t.Error(err)
	}
	for _, w := range planned {
		if _, err := rebuilder(x).Run(t.Context(), w); err != nil && !errors.Is(err, errCrash) && !errors.Is(err, search.ErrLeaseHeld) {
			t.Error(err)
		}
	}
}

// checkCurrent fails on a hit that was not current at any time during the search.
func checkCurrent(t testing.TB, x *search.Index, lib *library) {
	before := snapshot(lib)
	r, err := x.Search(t.Context(), team, search.Query{Reader: access.Everything(), Text: "zebra", Limit: 100})
	if err != nil {
		t.Error(err)
		return
	}
	after := snapshot(lib)
	seen := map[uuid.UUID]bool{}
	for _, h := range r.Hits {
		// A version that replaced another during the search is between the two.
		if h.Version < before[h.Document] || after[h.Document] != 0 && h.Version > after[h.Document] || seen[h.Document] {
			t.Errorf("hit %s in version %d, which was %d before and %d after, seen %v", h.Title, h.Version,
				before[h.Document], after[h.Document], seen[h.Document])
		}
		seen[h.Document] = true
	}
}

func snapshot(lib *library) map[uuid.UUID]int64 {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	versions := map[uuid.UUID]int64{}
	for id, d := range lib.docs {
		versions[id] = d.Version
	}
	return versions
}
