package search_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/search"
	"docent/shared/table"
)

func TestMergeLeavesOutdatedSegmentsToTheRebuild(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	fillWiki(t, x, lib, 0, 25)
	merge(t, x)
	older(t, x)
	x = again(x, 0)
	publish(t, x, lib, doc("wiki", "t3", "zebra replaced", 2))
	lib.remove(doc("", "t4", "", 0).ID)
	lib.put(doc("guide", "t5", "zebra moved", 2))
	if err := x.Stale(t.Context(), team, "wiki", search.Documentation, 3); err != nil {
		t.Fatal(err)
	}
	counted := lib.reads
	for range 3 {
		if n := merge(t, x); n != 0 {
			t.Errorf("replaced %d segments", n)
		}
	}
	if lib.reads != counted {
		t.Error("a merge has read documents")
	}
	if w := works(t, x); len(w) != 1 || len(pendingItems(t, x)) != 1 {
		t.Fatalf("planned: %v", w)
	}
	titles, _ := ask(t, x, search.Query{Text: "zebra", Limit: 50})
	if len(titles) != 23 { // one was removed, and one is not published where it is now
		t.Errorf("during the rebuild found %d", len(titles))
	}
	rebuild(t, rebuilder(x))
	lib.remove(doc("", "t5", "", 0).ID) // it was never published in its current source
	holds(t, x, lib)
	if r, err := x.Check(t.Context(), team); err != nil || r.Stale != 0 {
		t.Errorf("%d stale: %v", r.Stale, err)
	}
	for item, err := range table.All(t.Context(), x.Table, table.Query{Table: table.Index, Partition: team + "/stale"}) {
		if err != nil || item.Numbers["n"] != 0 {
			t.Errorf("%d are counted stale: %v", item.Numbers["n"], err)
		}
	}
}

// TestADamagedSegmentStopsNoIngest: other segments are still merged, documents put afterwards are
// found, and the rebuild restores its documents without duplicates.
func TestADamagedSegmentStopsNoIngest(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	faults := 0
	x.OnFault = func(context.Context, error) { faults++ }
	fillWiki(t, x, lib, 0, 30)
	merge(t, x)
	spoil(t, x) // three segments of ten
	x = again(x, 0)
	fillWiki(t, x, lib, 30, 60)
	if n := merge(t, x); n != 30 {
		t.Errorf("replaced %d", n)
	}
	fillWiki(t, x, lib, 60, 130)
	merge(t, x) // ten of the first level, three of them damaged, are due
	if reasons := outdated(t, x); reasons["damaged"] != 3 || faults != 3 {
		t.Fatalf("marked: %v after %d faults", reasons, faults)
	}
	if titles, _ := ask(t, x, search.Query{Text: "zebra", Limit: 200}); len(titles) != 100 {
		t.Errorf("during the rebuild found %d", len(titles))
	}
	late := doc("wiki", "late", "zebra late", 7)
	lib.put(late)
	lib.waiting = map[uuid.UUID]int64{late.ID: 7} // its worker has not come to it yet
	rebuild(t, rebuilder(x))
	if err := x.Publish(t.Context(), team, []search.Document{late}, nil); err != nil {
		t.Fatal(err)
	}
	holds(t, x, lib)
	clock.Advance(26 * time.Hour)
	if _, err := x.Clean(t.Context()); err != nil || blobCount(t, x) != len(levels(t, x)) {
		t.Errorf("%d blobs of %d segments: %v", blobCount(t, x), len(levels(t, x)), err)
	}
}

func TestAMissingSegmentIsRebuilt(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	x.OnFault = func(context.Context, error) {}
	fillWiki(t, x, lib, 0, 12)
	for b, err := range x.Blobs.List(t.Context(), "") {
		if err = errors.Join(err, x.Blobs.Delete(t.Context(), b.Name)); err != nil {
			t.Fatal(err)
		}
		break
	}
	x = again(x, 0)
	merge(t, x)
	rebuild(t, rebuilder(x))
	merge(t, x)
	holds(t, x, lib)
}

func TestARebuildThatIsAskedForFindsMissingDocuments(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	fillWiki(t, x, lib, 0, 12)
	lib.put(doc("wiki", "lost", "zebra lost", 1))
	lib.put(search.Document{ID: uuid.New(), Version: 1, Source: "wiki", Space: search.Issues, Title: "issue", Body: "zebra issue"})
	for _, space := range search.Spaces {
		asked, err := x.AskRebuild(t.Context(), team, "wiki", space)
		if err != nil || asked != (space == search.Documentation || space == search.Issues) {
			t.Errorf("%s: %t, %v", space, asked, err)
		}
	}
	if _, err := x.AskRebuild(t.Context(), team, "wiki", search.Issues); err != nil || len(works(t, x)) != 2 {
		t.Errorf("asked twice: %v, %v", works(t, x), err)
	}
	rebuild(t, rebuilder(x))
	holds(t, x, lib)
}

func TestARebuildIsExtendedWhileItRuns(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	fillWiki(t, x, lib, 0, 20)
	w := outdate(t, x)
	asked := false
	eachSlice(t, rebuilder(x), w, func() {
		if asked {
			return
		}
		asked = true
		lib.put(doc("wiki", "lost", "zebra lost", 1))
		if ok, err := x.AskRebuild(t.Context(), team, "wiki", search.Documentation); err != nil || !ok {
			t.Error(ok, err)
		}
	})
	holds(t, x, lib)
}

// TestPlanRebuildsReachesTeamsThatDoNotChange: the daily round plans rebuilds that no merge plans.
func TestPlanRebuildsReachesTeamsThatDoNotChange(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	fillWiki(t, x, lib, 0, 3)
	for _, planned := range []int{0, 1, 1} {
		if err := x.PlanRebuilds(t.Context(), team); err != nil || len(works(t, x)) != planned {
			t.Errorf("planned %v, want %d: %v", works(t, x), planned, err)
		}
		clock.Advance(time.Hour)
		if planned == 0 {
			older(t, x)
		}
	}
	lib.live("guide")
	other, _, _ := newIndex(t)
	other.Corpus = lib
	if err := other.PlanRebuilds(t.Context(), team); err != nil || len(works(t, other)) != 0 {
		t.Errorf("planned %v for a team without segments: %v", works(t, other), err)
	}
}
