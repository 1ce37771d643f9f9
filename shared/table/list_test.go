package table_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

// TestWalkingAListShowsEachEntryOnce pages through random lists in both directions, in one
// partition and merged from several, with a filter, and compares the pages with the whole list.
func TestWalkingAListShowsEachEntryOnce(t *testing.T) {
	t.Parallel()
	store := bolttest.Open(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		lists := rapid.IntRange(1, 4).Draw(rt, "lists")
		limit := rapid.IntRange(1, 7).Draw(rt, "limit")
		hidden := rapid.IntRange(1, 5).Draw(rt, "hide every n-th")
		var want []string
		for n := range rapid.IntRange(0, 40).Draw(rt, "entries") {
			sort := fmt.Sprintf("%03d", rapid.IntRange(0, 50).Draw(rt, "time")) + fmt.Sprintf("#%02d", n)
			k := table.Key{Table: table.Documents, Partition: fmt.Sprintf("%d/%d", run, rapid.IntRange(0, lists-1).Draw(rt, "list")), Sort: sort}
			if err := store.Write(t.Context(), table.Put{Item: table.Item{Key: k, Numbers: map[string]int64{"n": int64(n)}}}); err != nil {
				rt.Fatal(err)
			}
			if n%hidden != 0 || hidden == 1 {
				want = append(want, sort)
			}
		}
		slices.Sort(want)
		read := func(w table.Window) table.Slice[string] {
			var parts []table.Slice[string]
			for list := range lists {
				part, err := table.ReadWindow(t.Context(), store, table.Documents, fmt.Sprintf("%d/%d", run, list), w,
					func(item table.Item) (string, bool, error) {
						return item.Sort, hidden == 1 || item.Numbers["n"]%int64(hidden) != 0, nil
					})
				if err != nil {
					rt.Fatal(err)
				}
				parts = append(parts, part)
			}
			return table.MergeSlices(w, parts...)
		}
		if page := read(table.Window{Limit: limit}); page.Next != (len(want) > limit) {
			rt.Fatalf("a next page: %t, with %d entries of which %d are shown", page.Next, len(want), limit)
		}
		forward, end := walk(rt, limit, read, false, "")
		if !slices.Equal(forward, want) {
			rt.Fatalf("forward\n%v, want\n%v", forward, want)
		}
		if len(want) == 0 {
			return
		}
		backward, _ := walk(rt, limit, read, true, end+"~")
		if !slices.Equal(backward, want) {
			rt.Fatalf("backward\n%v, want\n%v", backward, want)
		}
		all := make([]table.Entry[string], len(want))
		for i, sort := range want {
			all[i] = table.Entry[string]{Position: sort, Value: sort}
		}
		inMemory := func(w table.Window) table.Slice[string] { return table.SliceOf(all, w) }
		for _, backward := range []bool{false, true} {
			from := ""
			if backward {
				from = end + "~"
			}
			if whole, _ := walk(rt, limit, inMemory, backward, from); !slices.Equal(whole, want) {
				rt.Fatalf("in memory, backward %v\n%v, want\n%v", backward, whole, want)
			}
		}
	})
}

// walk follows a list from its start, or backward from the position from, and
// returns its values in order and the last position it saw.
func walk(rt *rapid.T, limit int, read func(table.Window) table.Slice[string], backward bool, from string) (values []string, last string) {
	w := table.Window{Limit: limit}
	if backward {
		w.Before = from
	}
	for range 200 {
		slice := read(w)
		if len(slice.Entries) > limit {
			rt.Fatalf("%d entries, limit %d", len(slice.Entries), limit)
		}
		if !slices.IsSortedFunc(slice.Entries, func(a, b table.Entry[string]) int { return cmp.Compare(a.Position, b.Position) }) {
			rt.Fatalf("not in order: %v", slice.Entries)
		}
		page := make([]string, len(slice.Entries))
		for i, e := range slice.Entries {
			page[i] = e.Value
		}
		if backward {
			values = slices.Concat(page, values)
		} else {
			values = append(values, page...)
		}
		if len(values) > 0 {
			last = values[len(values)-1]
		}
		more, next := slice.Next, slice.Last
		if backward {
			more, next = slice.Prev, slice.First
		}
		if !more {
			return values, last
		}
		if next == "" {
			rt.Fatal("more entries without a position")
		}
		w = table.Window{Limit: limit}
		if backward {
			w.Before = next
		} else {
			w.After = next
		}
	}
	rt.Fatal("the pages do not end")
	return nil, ""
}

func TestTrimKeepsTheSideWhereTheWindowStarts(t *testing.T) {
	t.Parallel()
	entries := []table.Entry[int]{{"a", 4}, {"b", 4}, {"c", 4}}
	size := func(n int) int { return n }
	for _, c := range []struct {
		name        string
		w           table.Window
		limit       int
		first, last string
	}{
		{"all fit", table.Window{Limit: 9}, 12, "a", "c"},
		{"forward", table.Window{Limit: 9}, 8, "a", "b"},
		{"forward, one too large", table.Window{Limit: 9}, 1, "a", "a"},
		{"backward", table.Window{Limit: 9, Before: "d"}, 8, "b", "c"},
		{"backward, one too large", table.Window{Limit: 9, Before: "d"}, 1, "c", "c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := table.Slice[int]{Entries: slices.Clone(entries)}
			s.Trim(c.w, c.limit, size)
			if s.Entries[0].Position != c.first || s.Entries[len(s.Entries)-1].Position != c.last {
				t.Errorf("kept %v", s.Entries)
			}
			cut := len(s.Entries) < len(entries)
			if c.w.Before == "" && (s.Next != cut || cut && s.Last != c.last) || c.w.Before != "" && (s.Prev != cut || cut && s.First != c.first) {
				t.Errorf("neighbours: %+v", s)
			}
		})
	}
}

// TestMergingShowsNothingPastAListThatContinues: a list whose window ended early may have entries
// anywhere after its last position.
func TestMergingShowsNothingPastAListThatContinues(t *testing.T) {
	t.Parallel()
	entries := func(positions ...string) (all []table.Entry[string]) {
		for _, p := range positions {
			all = append(all, table.Entry[string]{Position: p, Value: p})
		}
		return all
	}
	early := table.Slice[string]{Next: true, Last: "c"}
	full := table.Slice[string]{Entries: entries("b", "d"), Next: true, Last: "d"}
	for _, parts := range [][]table.Slice[string]{{early, full}, {full, early}} {
		got := table.MergeSlices(table.Window{Limit: 2}, parts...)
		if !slices.Equal(got.Entries, entries("b")) || !got.Next || got.Last != "c" {
			t.Errorf("forward: %+v, want b, and more after c", got)
		}
	}
	early = table.Slice[string]{Prev: true, First: "c"}
	full = table.Slice[string]{Entries: entries("b", "d"), Prev: true, First: "b"}
	for _, parts := range [][]table.Slice[string]{{early, full}, {full, early}} {
		got := table.MergeSlices(table.Window{Limit: 2, Before: "e"}, parts...)
		if !slices.Equal(got.Entries, entries("d")) || !got.Prev || got.First != "c" {
			t.Errorf("backward: %+v, want d, and more before c", got)
		}
	}
}
