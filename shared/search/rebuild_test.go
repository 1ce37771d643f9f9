package search_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/table"
)

// rebuilder makes slices of a few passages.
func rebuilder(x *search.Index) *search.Rebuilder {
	return (&search.Rebuilder{Index: x, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}).SliceOf(4)
}

// works returns the team's rebuilds in the order of their families.
func works(t testing.TB, x *search.Index) []pending.Work {
	t.Helper()
	planned, err := x.PendingRebuilds(t.Context(), team)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(planned, func(a, b pending.Work) int { return strings.Compare(a.ID, b.ID) })
	return planned
}

// rebuild does all rebuilds to their end.
func rebuild(t testing.TB, b *search.Rebuilder) {
	t.Helper()
	for _, w := range works(t, b.Index) {
		if finished, err := b.Run(t.Context(), w); err != nil || !finished {
			t.Fatalf("rebuild %s: %t, %v", w.ID, finished, err)
		}
	}
	if left := works(t, b.Index); len(left) > 0 {
		t.Fatalf("still planned: %v", left)
	}
	if items := pendingItems(t, b.Index); len(items) > 0 {
		t.Fatalf("still pending: %v", items)
	}
}

func pendingItems(t testing.TB, x *search.Index) (items []table.Item) {
	t.Helper()
	for _, partition := range pending.Partitions(table.Index) {
		for item, err := range table.All(t.Context(), x.Table, table.Query{Table: table.Index, Partition: partition}) {
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, item)
		}
	}
	return items
}

// eachSlice makes turns of one slice each, and calls between after each but the last.
func eachSlice(t testing.TB, b *search.Rebuilder, w pending.Work, between func()) (turns int) {
	t.Helper()
	b.Turn = time.Nanosecond
	for turns = 1; ; turns++ {
		finished, err := b.Run(t.Context(), w)
		if err != nil || turns > 1000 {
			t.Fatalf("turn %d: %v", turns, err)
		}
		if finished {
			return turns
		}
		between()
	}
}

func older(t testing.TB, x *search.Index) {
	t.Helper()
	if err := x.SetAnalysis(t.Context(), team, search.AnalysisVersion-1); err != nil {
		t.Fatal(err)
	}
}

// outdate makes the index one of an older program, and returns the first rebuild that a merge plans of it.
func outdate(t testing.TB, x *search.Index) pending.Work {
	t.Helper()
	older(t, x)
	merge(t, x)
	return works(t, x)[0]
}

func outdated(t testing.TB, x *search.Index) map[string]int {
	t.Helper()
	reasons, err := x.Outdated(t.Context(), team)
	if err != nil {
		t.Fatal(err)
	}
	return reasons
}

// holds fails the test unless the index contains each document of the library exactly once and
// nothing else, and no rebuild is left.
func holds(t testing.TB, x *search.Index, lib *library) {
	t.Helper()
	r, err := x.Check(t.Context(), team)
	lib.mu.Lock()
	want := len(lib.docs)
	lib.mu.Unlock()
	if err != nil || len(r.Damaged) > 0 || len(r.Current) != want || r.Documents-r.Stale != want {
		t.Errorf("%d documents: %d current, %d in segments, %d of them stale, damaged %v: %v", want, len(r.Current), r.Documents, r.Stale, r.Damaged, err)
	}
	if reasons := outdated(t, x); len(reasons) > 1 || len(reasons) == 1 && reasons[""] == 0 {
		t.Errorf("still outdated: %v", reasons)
	}
	if left := works(t, x); len(left) > 0 {
		t.Errorf("still planned: %v", left)
	}
	if left := pendingItems(t, x); len(left) > 0 {
		t.Errorf("still pending: %v", left)
	}
}

// fillWiki publishes documents one by one.
func fillWiki(t testing.TB, x *search.Index, lib *library, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		publish(t, x, lib, doc("wiki", fmt.Sprint("t", i), fmt.Sprintf("zebra %s number%d", strings.Repeat("lion ", i%5), i), 1))
	}
}

func TestARebuildThatFitsASliceIsOneTurn(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	fillWiki(t, x, lib, 0, 9)
	older(t, x)
	merge(t, x)
	b := rebuilder(x).SliceOf(100)
	if finished, err := b.Run(t.Context(), works(t, x)[0]); !finished || err != nil {
		t.Fatal(finished, err)
	}
	if got := levels(t, x); !slices.Equal(got, []int{0}) || lib.reads != 1 {
		t.Errorf("levels %v after %d reads", got, lib.reads)
	}
	holds(t, x, lib)
}

func TestSearchAnswersTheSameDuringARebuild(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	fillWiki(t, x, lib, 0, 64)
	publish(t, x, lib, doc("guide", "g1", "zebra lion guide", 1), doc("guide", "g2", "zebra gnu guide", 1))
	merge(t, x)
	older(t, x)
	x = again(x, 0)
	titles := func() (all [][]string) {
		for _, q := range []string{"number7", "number63", "zebra number12", "lion number5 number9"} {
			found, _ := ask(t, again(x, 0), search.Query{Text: q, Limit: 1})
			all = append(all, found)
		}
		found, _ := ask(t, again(x, 0), search.Query{Text: "zebra", Limit: 100})
		slices.Sort(found)
		return append(all, found)
	}
	guide := func() search.Result {
		_, r := ask(t, again(x, 0), search.Query{Text: "zebra lion", Sources: []string{"guide"}})
		return r
	}
	want, wantGuide := titles(), guide()
	merge(t, x)
	var last search.RebuildStatus
	check := func() {
		t.Helper()
		if got := titles(); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("found %q, before %q", got, want)
		}
		if got := guide(); !slices.Equal(plain(got), plain(wantGuide)) || got.Passages != wantGuide.Passages {
			t.Errorf("a key of the guide sees %v, before %v", plain(got), plain(wantGuide))
		}
		for _, f := range status(t, x) {
			if f.Source == "wiki" && f.Rebuild != nil {
				now := *f.Rebuild
				if now.Done < last.Done || now.Total < last.Total || now.Done > now.Total || now.Saved.IsZero() {
					t.Errorf("progress went from %+v to %+v", last, now)
				}
				last = now
			}
		}
	}
	ws := works(t, x)
	rebuildOnly(t, rebuilder(x), ws[0])
	wantGuide = guide() // its own statistics are those of the new analysis now, alone
	if turns := eachSlice(t, rebuilder(x), ws[1], check); turns < 16 {
		t.Errorf("%d slices", turns)
	}
	check()
	if last.Done < 50 || last.Total != 64 {
		t.Errorf("progress at the end: %+v", last)
	}
	holds(t, x, lib)
}

func rebuildOnly(t testing.TB, b *search.Rebuilder, w pending.Work) {
	t.Helper()
	if finished, err := b.Run(t.Context(), w); err != nil || !finished {
		t.Fatalf("rebuild %s: %t, %v", w.ID, finished, err)
	}
}

func status(t testing.TB, x *search.Index) []search.FamilyStatus {
	t.Helper()
	s, err := x.Status(t.Context(), team)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDocumentsThatChangeDuringARebuildAreRight(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"older", "damaged", "asked for"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			x, lib, _ := newIndex(t)
			fillWiki(t, x, lib, 0, 40)
			merge(t, x)
			x = again(x, 0)
			switch kind {
			case "older":
				older(t, x)
			case "damaged":
				x.OnFault = func(context.Context, error) {}
				spoil(t, x)
				x = again(x, 0)
				fillWiki(t, x, lib, 40, 100) // the merges of these meet damage
			default:
				if asked, err := x.AskRebuild(t.Context(), team, "wiki", search.Documentation); err != nil || !asked {
					t.Fatal(asked, err)
				}
			}
			merge(t, x)
			n, version := 0, int64(1)
			for turn := 0; len(works(t, x)) > 0; turn++ {
				eachSlice(t, rebuilder(x), works(t, x)[0], func() {
					version++
					publish(t, x, lib, doc("wiki", fmt.Sprint("t", n*7%40), fmt.Sprintf("zebra again%d", version), version))
					lib.remove(doc("", fmt.Sprint("t", n*11%40), "", 0).ID)
					publish(t, x, lib, doc("wiki", fmt.Sprint("new", n), "zebra new", 1))
					merge(t, x)
					n++
				})
				merge(t, x)
				if turn > 20 {
					t.Fatal("it does not end")
				}
			}
			if n < 8 {
				t.Errorf("%d changes", n)
			}
			holds(t, x, lib)
			titles, _ := ask(t, again(x, 0), search.Query{Text: "zebra", Limit: 200})
			if len(titles) != len(lib.docs) {
				t.Errorf("found %d of %d", len(titles), len(lib.docs))
			}
		})
	}
}

func TestASourceThatIsDeletedDuringItsRebuildLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, dropped := range []bool{true, false} {
		t.Run(fmt.Sprintf("dropped %t", dropped), func(t *testing.T) {
			t.Parallel()
			x, lib, clock := newIndex(t)
			fillWiki(t, x, lib, 0, 30)
			publish(t, x, lib, doc("guide", "kept", "zebra", 1))
			if _, err := x.AskRebuild(t.Context(), team, "wiki", search.Documentation); err != nil {
				t.Fatal(err)
			}
			w := works(t, x)[0]
			turns := 0
			eachSlice(t, rebuilder(x), w, func() {
				if turns++; turns != 5 {
					return
				}
				lib.live("guide")
				if dropped {
					if err := x.DropSource(t.Context(), team, "wiki"); err != nil {
						t.Fatal(err)
					}
				}
			})
			if turns != 5 {
				t.Errorf("it went on for %d turns", turns)
			}
			merge(t, x)
			if left := works(t, x); len(left) > 0 || len(pendingItems(t, x)) > 0 {
				t.Errorf("left: %v, %v", left, pendingItems(t, x))
			}
			clock.Advance(26 * time.Hour)
			if _, err := x.Clean(t.Context()); err != nil || blobCount(t, x) != 1 {
				t.Errorf("%d blobs are left: %v", blobCount(t, x), err)
			}
		})
	}
}

func TestOneWorkerIsAtARebuild(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	fillWiki(t, x, lib, 0, 30)
	w := outdate(t, x)
	reads := 0
	b := rebuilder(x)
	b.Rest = func(context.Context, time.Duration) error {
		switch reads++; reads {
		case 1:
			before := lib.reads
			if finished, err := rebuilder(x).Run(t.Context(), w); finished || !errors.Is(err, search.ErrLeaseHeld) || lib.reads != before {
				t.Errorf("a second worker: %t, %v", finished, err)
			}
		case 2: // this one was thought dead
			clock.Advance(3 * time.Minute)
			rebuildOnly(t, rebuilder(x), w)
		case 3:
			t.Error("the one that was overtaken went on")
		}
		return nil
	}
	if finished, err := b.Run(t.Context(), w); !finished || err != nil {
		t.Errorf("overtaken: %t, %v", finished, err)
	}
	holds(t, x, lib)
	for range 2 { // late messages
		rebuildOnly(t, rebuilder(x), w)
	}
	holds(t, x, lib)
	clock.Advance(26 * time.Hour)
	if _, err := x.Clean(t.Context()); err != nil || blobCount(t, x) != len(levels(t, x)) {
		t.Errorf("%d blobs of %d segments: %v", blobCount(t, x), len(levels(t, x)), err)
	}
}

// TestARebuildOfAClockThatWasAheadHoldsNobodyUp has a rebuild stand still that began while the clock was an hour ahead.
func TestARebuildOfAClockThatWasAheadHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	fillWiki(t, x, lib, 0, 30)
	w := outdate(t, x)
	clock.Advance(time.Hour)
	b, set := rebuilder(x), false
	b.Rest = func(context.Context, time.Duration) error {
		if !set {
			set = true
			clock.Advance(-time.Hour)
			rebuildOnly(t, rebuilder(x), w)
		}
		return nil
	}
	if finished, err := b.Run(t.Context(), w); !finished || err != nil {
		t.Errorf("overtaken: %t, %v", finished, err)
	}
	holds(t, x, lib)
}

func TestANewerProgramsSegmentIsLeftAlone(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	fillWiki(t, x, lib, 0, 3)
	w := outdate(t, x)
	if err := x.SetAnalysis(t.Context(), team, search.AnalysisVersion+1); err != nil {
		t.Fatal(err)
	}
	before := levels(t, x)
	x = again(x, 0)
	if finished, err := rebuilder(x).Run(t.Context(), w); finished || !errors.Is(err, search.ErrNewer) {
		t.Errorf("%t, %v", finished, err)
	}
	if failed := rebuilder(x).Batch(t.Context(), []queue.Message{{ID: "1", Body: w.Message()}}); len(failed) > 0 {
		t.Error("its message is delivered again and again")
	}
	merge(t, x)
	if asked, err := x.AskRebuild(t.Context(), team, "wiki", search.Documentation); asked || err != nil {
		t.Errorf("asked: %t, %v", asked, err)
	}
	if got := levels(t, x); !slices.Equal(got, before) || lib.reads != 0 {
		t.Errorf("segments %v, before %v; %d reads", got, before, lib.reads)
	}
	s := status(t, x)
	if len(s) != 1 || s[0].Newer != 3 || s[0].Rebuild == nil || s[0].Rebuild.Error == nil {
		t.Errorf("status %+v", s)
	}
	older(t, x) // the newer program has gone again
	rebuild(t, rebuilder(x))
	holds(t, x, lib)
}

func TestAFailureShowsAndTheRebuildContinues(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	fillWiki(t, x, lib, 0, 30)
	w := outdate(t, x)
	broken := doc("", "t17", "", 0).ID
	lib.failing = func(d search.Document) error {
		if d.ID == broken {
			return errors.New("this one cannot be read")
		}
		return nil
	}
	if finished, err := rebuilder(x).Run(t.Context(), w); finished || err == nil {
		t.Fatalf("%t, %v", finished, err)
	}
	s := status(t, x)
	if r := s[0].Rebuild; r == nil || r.Error == nil || !strings.Contains(r.Error.Text, "cannot be read") || !r.Error.At.Equal(clock.Now().UTC()) || r.Total != 30 {
		t.Errorf("status %+v", r)
	}
	lib.failing = nil
	rebuild(t, rebuilder(x))
	holds(t, x, lib)
}
