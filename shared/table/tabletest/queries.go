package tabletest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"docent/shared/table"
)

var queryCases = []testCase{
	{"by prefix", 0, func(t *testing.T, e *env) {
		e.orders(t, 25)
		e.put(t, e.item("USER#1"), e.item("ORDER"), e.item("ORDER$"))
		var want []string
		for n := range 10 {
			want = append(want, fmt.Sprintf("ORDER#%03d", n))
		}
		q := table.Query{Prefix: "ORDER#00"}
		e.finds(t, q, want...)
		slices.Reverse(want)
		q.Descending = true
		e.finds(t, q, want...)
		e.finds(t, table.Query{Prefix: "USER#"}, "USER#1")
		e.finds(t, table.Query{Prefix: "USER#1"}, "USER#1")
		e.finds(t, table.Query{Prefix: "USER#10"})
	}},
	{"by range, with limit, descending", 0, func(t *testing.T, e *env) {
		e.orders(t, 25)
		q := e.within(table.Query{From: "ORDER#005", To: "ORDER#015", Limit: 3, Descending: true})
		page, err := e.store.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range page.Items {
			got = append(got, item.Sort)
		}
		if want := []string{"ORDER#015", "ORDER#014", "ORDER#013"}; !slices.Equal(got, want) || page.Cursor == "" {
			t.Fatalf("page %q with cursor %q, want %q and a cursor", got, page.Cursor, want)
		}
		if all := e.sorts(t, q); len(all) != 11 || all[10] != "ORDER#005" {
			t.Errorf("all pages: %q", all)
		}
	}},
	{"bounds are inclusive, open when empty, and need not exist", 0, func(t *testing.T, e *env) {
		e.put(t, e.item("b"), e.item("d"), e.item("f"))
		for _, test := range []struct {
			from, to string
			want     []string
		}{
			{"", "", []string{"b", "d", "f"}},
			{"b", "f", []string{"b", "d", "f"}},
			{"bb", "e", []string{"d"}},
			{"d", "", []string{"d", "f"}},
			{"e", "", []string{"f"}},
			{"g", "", nil},
			{"", "d", []string{"b", "d"}},
			{"", "e", []string{"b", "d"}},
			{"", "a", nil},
			{"d", "d", []string{"d"}},
			{"f", "b", nil},
		} {
			q := table.Query{From: test.from, To: test.to}
			e.finds(t, q, test.want...)
			q.Descending = true
			slices.Reverse(test.want)
			e.finds(t, q, test.want...)
		}
	}},
	{"items arrive whole", 0, func(t *testing.T, e *env) {
		want := []table.Item{e.item("a"), {Key: e.key("b")}}
		e.put(t, want...)
		for _, eventual := range []bool{false, true} {
			page, err := e.store.Query(t.Context(), e.within(table.Query{Eventual: eventual}))
			if err != nil {
				t.Fatal(err)
			}
			// An eventual read may miss a recent Write, but never shows a part of one.
			if len(page.Items) != len(want) && !eventual {
				t.Fatalf("%d items, want %d", len(page.Items), len(want))
			}
			for _, item := range page.Items {
				if !equal(item, want[0]) && !equal(item, want[1]) {
					t.Errorf("found:\n%s", show(item))
				}
			}
		}
	}},
	{"an empty partition gives an empty last page", 0, func(t *testing.T, e *env) {
		page, err := e.store.Query(t.Context(), e.within(table.Query{Limit: 5}))
		if err != nil || len(page.Items) != 0 || page.Cursor != "" {
			t.Errorf("page %v, %v", page, err)
		}
	}},
	{"large results come over several pages", 0, func(t *testing.T, e *env) {
		var want []string
		for n := range 13 {
			item := table.Item{Key: e.key(fmt.Sprintf("%02d", n)), Body: make([]byte, 100<<10)}
			want = append(want, item.Sort)
			e.put(t, item)
		}
		for _, limit := range []int{0, 100} {
			page, err := e.store.Query(t.Context(), e.within(table.Query{Limit: limit}))
			if err != nil || len(page.Items) >= 13 || page.Cursor == "" {
				t.Errorf("limit %d: first page of %d items, cursor %q, %v", limit, len(page.Items), page.Cursor, err)
			}
			e.finds(t, table.Query{Limit: limit}, want...)
		}
		slices.Reverse(want)
		e.finds(t, table.Query{Descending: true}, want...)
	}},
	{"order is by UTF-8 bytes", 0, func(t *testing.T, e *env) {
		want := []string{"\x01", "10", "9", "B", "a", "z", "é", "\uff5e", "\U0001f600"}
		for _, n := range []int{4, 8, 0, 6, 2, 7, 1, 5, 3} {
			e.put(t, e.item(want[n]))
		}
		e.finds(t, table.Query{}, want...)
		e.finds(t, table.Query{From: "é"}, "é", "\uff5e", "\U0001f600")
		e.finds(t, table.Query{To: "10"}, "\x01", "10")
	}},
	{"padded numbers sort by value", 0, func(t *testing.T, e *env) {
		var want []string
		for _, n := range []int64{0, 1, 9, 10, 99, 100, 1 << 31, 1 << 53, math.MaxInt64 - 1, math.MaxInt64} {
			want = append(want, table.Padded(n))
		}
		for n := range want {
			e.put(t, e.item(want[(n*7)%len(want)]))
		}
		e.finds(t, table.Query{}, want...)
		e.finds(t, table.Query{From: table.Padded(10), To: table.Padded(100)}, want[3:6]...)
	}},
	{"partitions and tables do not leak", 0, func(t *testing.T, e *env) {
		suffixes := []string{"", "/", "b", "\x01", "\x01\x01", "é", "\U0010ffff", "\ufffe", "\x7f", " ", "%00", "\\0"}
		var items []table.Item
		for _, suffix := range suffixes {
			for _, name := range []string{table.Documents, table.Answers} {
				for _, sort := range suffixes[1:] {
					item := table.Item{Key: table.Key{Table: name, Partition: e.partition + suffix, Sort: sort}}
					item.Body = []byte(name + suffix + sort)
					items = append(items, item)
				}
			}
		}
		e.put(t, items...)
		for _, item := range items {
			e.same(t, item)
		}
		want := slices.Sorted(slices.Values(suffixes[1:]))
		for _, suffix := range suffixes {
			for _, name := range []string{table.Documents, table.Answers} {
				e.finds(t, table.Query{Table: name, Partition: e.partition + suffix}, want...)
				e.finds(t, table.Query{Table: name, Partition: e.partition + suffix, Prefix: "\x01"}, "\x01", "\x01\x01")
			}
		}
		descending := slices.Clone(want)
		slices.Reverse(descending)
		e.finds(t, table.Query{Descending: true, Limit: 5}, descending...)
		e.finds(t, table.Query{Table: table.Usage})
	}},
}

func (e *env) orders(t *testing.T, n int) {
	t.Helper()
	for n := range n {
		e.put(t, e.item(fmt.Sprintf("ORDER#%03d", n)))
	}
}

// finds fails the test unless all pages of q together hold want, in order.
func (e *env) finds(t *testing.T, q table.Query, want ...string) {
	t.Helper()
	if got := e.sorts(t, q); !slices.Equal(got, want) {
		t.Fatalf("query %+v found %q, want %q", q, got, want)
	}
}
