package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/search"
	"docent/shared/table"
)

// largest returns the name of the largest segment.
func largest(t *testing.T, x *search.Index) (name string) {
	t.Helper()
	size := int64(0)
	for f, err := range x.Blobs.List(t.Context(), "segments/") {
		if err != nil {
			t.Fatal(err)
		}
		if f.Size > size {
			name, size = f.Name, f.Size
		}
	}
	return name
}

// damage changes one byte of a blob.
func damage(t *testing.T, x *search.Index, name string, place func(size int) int) {
	t.Helper()
	data, err := x.Blobs.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	data = slices.Clone(data)
	data[place(len(data))] ^= 1
	if err := errors.Join(x.Blobs.Delete(t.Context(), name), x.Blobs.Put(t.Context(), name, data)); err != nil {
		t.Fatal(err)
	}
}

// TestASearchThatMeetsDamageHasItRepaired: nothing is put or merged afterwards, and yet the documents of the damaged segment are found
// again. Until then the query that met the damage goes on without the segment.
func TestASearchThatMeetsDamageHasItRepaired(t *testing.T) {
	t.Parallel()
	const documents = 400
	for name, c := range map[string]struct {
		ranged int
		place  func(size int) int // nil: the file is missing
	}{
		"read whole":         {1 << 30, func(size int) int { return size / 2 }},
		"postings by range":  {1, func(int) int { return 4096 + 100 }},
		"documents by range": {1, func(size int) int { return size - 1000 - 24*documents/2 }},
		"the footer":         {1, func(size int) int { return size - 20 }},
		"missing":            {1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, lib, _ := newIndex(t)
			var docs []search.Document
			for i := range documents {
				docs = append(docs, doc("wiki", fmt.Sprint("large ", i), fmt.Sprintf("zebra word%d other%d", i, i/7), 1))
			}
			publish(t, made, lib, docs...)
			publish(t, made, lib, doc("wiki", "small", "zebra", 1))
			if c.place != nil {
				damage(t, made, largest(t, made), c.place)
			} else if err := made.Blobs.Delete(t.Context(), largest(t, made)); err != nil {
				t.Fatal(err)
			}
			x := again(made, 0)
			x.ReadByRange(c.ranged)
			var faults atomic.Int64
			x.OnFault = func(context.Context, error) { faults.Add(1) }
			question := search.Query{Text: "zebra", Limit: 200}
			var searches sync.WaitGroup
			for range 4 {
				searches.Go(func() {
					if titles, _ := ask(t, x, question); !slices.Equal(titles, []string{"small"}) {
						t.Errorf("found %d in a damaged segment", len(titles))
					}
				})
			}
			searches.Wait()
			if n := faults.Load(); n < 4 {
				t.Errorf("%d of 4 searches reported the damage", n)
			}
			if all := works(t, x); len(all) != 1 {
				t.Fatalf("planned %v", all)
			}
			rebuild(t, rebuilder(x).SliceOf(1000))
			holds(t, x, lib)
			if titles, _ := ask(t, x, question); len(titles) < 50 {
				t.Errorf("found %d after the repair", len(titles))
			}
		})
	}
}

// TestASearchGoesOnIfARepairIsNotPlanned: the table takes no writes, as on a full disk.
func TestASearchGoesOnIfARepairIsNotPlanned(t *testing.T) {
	t.Parallel()
	made, lib, clock := newIndex(t)
	publish(t, made, lib, doc("wiki", "large", "zebra "+newZipfText().words(500), 1))
	publish(t, made, lib, doc("wiki", "small", "zebra", 1))
	damage(t, made, largest(t, made), func(size int) int { return size / 2 })
	x := again(made, 0)
	plan := &faulttest.Plan{}
	x.Table = faulttest.Table{Store: made.Table, Plan: plan}
	var faults []error
	x.OnFault = func(_ context.Context, err error) { faults = append(faults, err) }
	for try := range 3 {
		waits := try == 1 // the attempt before was just now
		if try == 2 {
			clock.Advance(time.Minute)
		}
		plan.Arm(faulttest.FailBefore, 2) // after the list of segments
		titles, _ := ask(t, x, search.Query{Text: "zebra"})
		if failed := plan.Disarm(); strings.HasPrefix(failed, "Write") == waits {
			t.Fatalf("try %d failed: %q", try, failed)
		}
		if !slices.Equal(titles, []string{"small"}) || len(faults) != try+1 {
			t.Errorf("try %d: found %q, reported %v", try, titles, faults)
		}
	}
}

// slowTable is a table whose writes wait until it is let go.
type slowTable struct {
	table.Store
	writes  chan struct{} // receives one for each write
	release chan struct{}
}

func (s slowTable) Write(ctx context.Context, ops ...table.Op) error {
	s.writes <- struct{}{}
	select {
	case <-s.release:
		return s.Store.Write(ctx, ops...)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestOneSearchAloneWaitsForARepair: the others go on at once.
func TestOneSearchAloneWaitsForARepair(t *testing.T) {
	t.Parallel()
	made, lib, _ := newIndex(t)
	publish(t, made, lib, doc("wiki", "large", "zebra "+newZipfText().words(500), 1))
	damage(t, made, largest(t, made), func(size int) int { return size / 2 })
	x := again(made, 0)
	x.OnFault = func(context.Context, error) {}
	slow := slowTable{made.Table, make(chan struct{}, 10), make(chan struct{})}
	x.Table = slow
	first := make(chan struct{})
	go func() {
		defer close(first)
		ask(t, x, search.Query{Text: "zebra"})
	}()
	<-slow.writes
	for range 3 {
		ask(t, x, search.Query{Text: "zebra"})
	}
	if len(slow.writes) > 0 {
		t.Error("another search tried to plan the repair, too")
	}
	close(slow.release)
	<-first
}

// TestAMarkedSegmentGetsItsRebuild: who marked it was killed before it planned the rebuild.
func TestAMarkedSegmentGetsItsRebuild(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string]func(t *testing.T, x *search.Index){
		"as asked for": func(t *testing.T, x *search.Index) {
			t.Helper()
			plan := &faulttest.Plan{}
			stored := x.Table
			x.Table = faulttest.Table{Store: stored, Plan: plan}
			plan.Arm(faulttest.EndAfter, 2) // the list of segments, and the mark
			ask(t, x, search.Query{Text: "zebra"})
			if last := plan.Disarm(); !strings.HasPrefix(last, "Write") {
				t.Fatalf("the last call: %q", last)
			}
			x.Table = stored
		},
		"as damaged": func(t *testing.T, x *search.Index) {
			t.Helper()
			page, err := x.Table.Query(t.Context(), table.Query{Table: table.Index, Partition: team})
			if err != nil || len(page.Items) != 1 {
				t.Fatal(err, page)
			}
			item := page.Items[0]
			item.Body = append(item.Body[:len(item.Body)-1], `,"mark":"damaged"}`...)
			if err := x.Table.Write(t.Context(), table.Put{Item: item}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, lib, clock := newIndex(t)
			publish(t, made, lib, doc("wiki", "large", "zebra "+newZipfText().words(500), 1))
			damage(t, made, largest(t, made), func(size int) int { return size / 2 })
			x := again(made, 0)
			x.OnFault = func(context.Context, error) {}
			mark(t, x)
			if all := works(t, x); len(all) > 0 {
				t.Fatalf("planned %v", all)
			}
			clock.Advance(time.Minute)
			ask(t, x, search.Query{Text: "zebra"})
			if all := works(t, x); len(all) != 1 {
				t.Fatalf("planned %v", all)
			}
			rebuild(t, rebuilder(x))
			holds(t, x, lib)
		})
	}
}

// TestADamagedRecordOfASegmentHidesThatAlone: no search fails by it, and its segment is rebuilt.
func TestADamagedRecordOfASegmentHidesThatAlone(t *testing.T) {
	t.Parallel()
	for name, readable := range map[string]bool{"its content": true, "the item": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, lib, _ := newIndex(t)
			publish(t, made, lib, doc("wiki", "first", "zebra", 1))
			publish(t, made, lib, doc("wiki", "second", "zebra", 1))
			page, err := made.Table.Query(t.Context(), table.Query{Table: table.Index, Partition: team})
			if err != nil || len(page.Items) != 2 {
				t.Fatal(err, page)
			}
			x, item := again(made, 0), page.Items[0]
			faults := 0
			x.OnFault = func(context.Context, error) { faults++ }
			if readable {
				item.Body = item.Body[1:]
				if err := made.Table.Write(t.Context(), table.Put{Item: item}); err != nil {
					t.Fatal(err)
				}
			} else {
				store := &faulttest.DamagedTable{Store: made.Table}
				store.Damage(item.Key)
				x.Table = store
			}
			if titles, _ := ask(t, x, search.Query{Text: "zebra"}); !slices.Equal(titles, []string{"second"}) || faults != 1 {
				t.Errorf("found %q, %d faults", titles, faults)
			}
			if report, err := x.Check(t.Context(), team); err != nil || len(report.Damaged) != 1 {
				t.Errorf("check: %+v, %v", report, err)
			}
			if all := works(t, x); len(all) != 1 {
				t.Fatalf("planned %v", all)
			}
			rebuild(t, rebuilder(x))
			holds(t, x, lib)
			if report, err := x.Check(t.Context(), team); err != nil || len(report.Damaged) > 0 {
				t.Errorf("check of what was rebuilt: %+v, %v", report, err)
			}
		})
	}
}

// TestASearchWaitsOnceForAllRepairs: the table takes no writes for long, and many segments are damaged.
func TestASearchWaitsOnceForAllRepairs(t *testing.T) {
	t.Parallel()
	made, lib, _ := newIndex(t)
	for n, source := range []string{"wiki", "guide"} {
		publish(t, made, lib, doc(source, source, "zebra "+newZipfText().words(500*(n+1)), 1)) // the last one is the largest
		damage(t, made, largest(t, made), func(size int) int { return size / 2 })
	}
	x := again(made, 0)
	faults := 0
	x.OnFault = func(context.Context, error) { faults++ }
	slow := slowTable{made.Table, make(chan struct{}, 10), make(chan struct{})}
	x.Table = slow
	ask(t, x, search.Query{Text: "zebra"})
	if n := len(slow.writes); n != 1 || faults != 2 {
		t.Errorf("it waited for %d writes, and reported %d faults", n, faults)
	}
	close(slow.release)
	ask(t, x, search.Query{Text: "zebra"})
	if len(works(t, x)) != 1 {
		t.Error("the next search did not plan the other repair")
	}
}
