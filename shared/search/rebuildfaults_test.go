package search_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/clocktest"
	"docent/shared/search"
)

// faultyIndex is an index whose storage fails by plan. It has outdated segments of each kind:
// twelve documents of an older analysis, four damaged ones, and three correct ones.
type faultyIndex struct {
	*search.Index
	lib   *library
	clock *clocktest.Clock
	plan  *faulttest.Plan
}

func newFaultyIndex(t *testing.T) faultyIndex {
	t.Helper()
	x, lib, clock := newIndex(t)
	x.OnFault = func(context.Context, error) {}
	var some []search.Document
	for i := range 4 {
		some = append(some, doc("wiki", fmt.Sprint("damaged", i), "zebra", 1))
	}
	publish(t, x, lib, some...)
	spoil(t, x)
	x = again(x, 0)
	for i := range 9 {
		publish(t, x, lib, doc("wiki", fmt.Sprint("small", i), "zebra", 1))
	}
	merge(t, x) // meets the damage, and marks it
	some = nil
	for i := range 3 {
		some = append(some, doc("wiki", fmt.Sprint("more", i), "zebra", 1))
	}
	publish(t, x, lib, some...)
	if n, err := x.SetOlderUnmarked(t.Context(), team); err != nil || n != 10 {
		t.Fatalf("%d are older: %v", n, err)
	}
	for i := range 3 {
		publish(t, x, lib, doc("wiki", fmt.Sprint("new", i), "zebra", 1))
	}
	x = again(x, 0)
	merge(t, x)
	if reasons := outdated(t, x); reasons["damaged"] != 1 || reasons["of an older analysis"] != 10 || reasons[""] != 3 {
		t.Fatalf("segments: %v", reasons)
	}
	f := faultyIndex{Index: x, lib: lib, clock: clock, plan: &faulttest.Plan{}}
	x.Table = faulttest.Table{Store: x.Table, Plan: f.plan}
	x.Blobs = faulttest.Blob{Store: x.Blobs, Plan: f.plan}
	return f
}

// work makes the planned rebuilds until a call fails.
func (f faultyIndex) work(t *testing.T) error {
	t.Helper()
	works, err := f.PendingRebuilds(t.Context(), team)
	for _, w := range works {
		if err == nil {
			_, err = rebuilder(f.Index).SliceOf(1).Run(t.Context(), w)
		}
	}
	return err
}

// TestARebuildContinuesWhereverItStops makes every call of a rebuild fail in every way, and ends
// the process before and after every call.
func TestARebuildContinuesWhereverItStops(t *testing.T) {
	t.Parallel()
	count := newFaultyIndex(t)
	count.plan.Watch()
	if err := count.work(t); err != nil {
		t.Fatal(err)
	}
	calls := count.plan.Seen()
	count.plan.Disarm()
	if puts := len(slices.DeleteFunc(slices.Clone(calls), func(name string) bool { return name != "blob.Put" })); puts < 16 {
		t.Fatalf("%d blobs of %q", puts, calls)
	}
	holds(t, count.Index, count.lib)
	for at, name := range calls {
		modes := faulttest.ModesOf(name)
		if len(modes) > 1 {
			modes = []faulttest.Mode{faulttest.FailBefore, faulttest.FailAfter, faulttest.EndBefore, faulttest.EndAfter}
		}
		for _, mode := range modes {
			t.Run(fmt.Sprintf("%d %s %s", at+1, name, mode), func(t *testing.T) {
				t.Parallel()
				f := newFaultyIndex(t)
				f.plan.Arm(mode, at+1)
				first := f.work(t)
				if f.plan.Disarm() == "" {
					t.Fatal("nothing went wrong")
				}
				if titles, _ := ask(t, f.Index, search.Query{Text: "zebra", Limit: 50}); len(titles) < 15 {
					t.Errorf("after %v found %q", first, titles)
				}
				f.clock.Advance(3 * time.Minute) // past the lease of the stopped worker
				if err := f.work(t); err != nil {
					t.Fatalf("after %v: %v", first, err)
				}
				holds(t, f.Index, f.lib)
				if titles, r := ask(t, f.Index, search.Query{Text: "zebra", Limit: 50}); len(titles) != 19 || r.Passages != 19 {
					t.Errorf("after %v found %d in %d passages", first, len(titles), r.Passages)
				}
				f.clock.Advance(26 * time.Hour)
				if _, err := f.Clean(t.Context()); err != nil || blobCount(t, f.Index) != len(levels(t, f.Index)) {
					t.Errorf("%d blobs of %d segments: %v", blobCount(t, f.Index), len(levels(t, f.Index)), err)
				}
			})
		}
	}
}
