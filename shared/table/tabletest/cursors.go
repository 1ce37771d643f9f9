package tabletest

import (
	"fmt"
	"slices"
	"testing"

	"docent/shared/table"
)

var cursorCases = []testCase{
	{"pages show each item once, in both directions", 0, func(t *testing.T, e *env) {
		e.orders(t, 25)
		for _, descending := range []bool{false, true} {
			for _, q := range []table.Query{{}, {Prefix: "ORDER#0"}, {From: "ORDER#001", To: "ORDER#023"}} {
				q.Descending = descending
				want := e.sorts(t, q)
				if len(want) < 20 {
					t.Fatalf("%d items", len(want))
				}
				for _, limit := range []int{1, 4, 5, 24, 25, 26} {
					q.Limit = limit
					e.finds(t, q, want...)
				}
			}
		}
	}},
	{"no page holds more than its limit", 0, func(t *testing.T, e *env) {
		e.orders(t, 9)
		q := e.within(table.Query{Limit: 4})
		for range 4 {
			page, err := e.store.Query(t.Context(), q)
			if err != nil || len(page.Items) > 4 {
				t.Fatalf("%d items, %v", len(page.Items), err)
			}
			if q.Cursor = page.Cursor; q.Cursor == "" {
				return
			}
		}
		t.Error("nine items are still not over after four pages of four")
	}},
	{"pages hold while neighbours come and go", 0, func(t *testing.T, e *env) {
		for _, descending := range []bool{false, true} {
			var want []string
			for n := range 24 {
				want = append(want, fmt.Sprintf("%t#%03d", descending, n))
				e.put(t, e.item(want[n]))
			}
			if descending {
				slices.Reverse(want)
			}
			q := e.within(table.Query{Prefix: fmt.Sprintf("%t#", descending), Limit: 4, Descending: descending})
			var got []string
			for page := 0; page == 0 || q.Cursor != ""; page++ {
				result, err := e.store.Query(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, item := range result.Items {
					if slices.Contains(want, item.Sort) {
						got = append(got, item.Sort)
					}
				}
				if q.Cursor = result.Cursor; len(result.Items) == 0 {
					continue
				}
				// The item at the cursor is deleted, and items are added on both sides of it.
				last := result.Items[len(result.Items)-1].Sort
				e.write(t, table.Delete{Key: e.key(last)})
				e.put(t, e.item(want[0]+"-new"), e.item(last+"-new"))
			}
			if !slices.Equal(got, want) {
				t.Errorf("found %q, want %q", got, want)
			}
		}
	}},
	{"a cursor of another query is refused", 0, func(t *testing.T, e *env) {
		e.orders(t, 9)
		q := e.within(table.Query{Limit: 2, From: "ORDER#001", To: "ORDER#008"})
		page, err := e.store.Query(t.Context(), q)
		if err != nil || page.Cursor == "" {
			t.Fatalf("cursor %q, %v", page.Cursor, err)
		}
		q.Cursor = page.Cursor
		if _, err := e.store.Query(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(*table.Query){
			"table":     func(q *table.Query) { q.Table = table.Answers },
			"partition": func(q *table.Query) { q.Partition += "/" },
			"from":      func(q *table.Query) { q.From = "ORDER#000" },
			"to":        func(q *table.Query) { q.To = "" },
			"prefix":    func(q *table.Query) { q.From, q.To, q.Prefix = "", "", "ORDER" },
			"direction": func(q *table.Query) { q.Descending = true },
		} {
			other := q
			change(&other)
			if page, err := e.store.Query(t.Context(), other); err == nil {
				t.Errorf("another %s: accepted, %d items", name, len(page.Items))
			} else {
				is(t, err, table.ErrInvalid)
			}
		}
	}},
	{"a damaged cursor is refused", 0, func(t *testing.T, e *env) {
		e.orders(t, 4)
		q := e.within(table.Query{Limit: 2})
		page, err := e.store.Query(t.Context(), q)
		if err != nil || page.Cursor == "" {
			t.Fatalf("cursor %q, %v", page.Cursor, err)
		}
		damaged := []string{"x", "==", "ORDER#001", " " + page.Cursor, page.Cursor + "A", page.Cursor + "\n"}
		for n := range page.Cursor {
			other := byte('A')
			if page.Cursor[n] == 'A' {
				other = 'B'
			}
			damaged = append(damaged, page.Cursor[:n], page.Cursor[:n]+string(other)+page.Cursor[n+1:])
		}
		for _, cursor := range damaged {
			if q.Cursor = cursor; cursor == "" {
				continue
			}
			if page, err := e.store.Query(t.Context(), q); err == nil {
				t.Errorf("cursor %q: accepted, %d items", cursor, len(page.Items))
			} else {
				is(t, err, table.ErrInvalid)
			}
		}
	}},
}
