package tabletest

import (
	"fmt"
	"testing"

	"docent/shared/table"
)

var batchCases = []testCase{
	{"any number of keys, in order, without the missing", 0, func(t *testing.T, e *env) {
		var keys []table.Key
		for n := range 250 {
			keys = append(keys, e.key(fmt.Sprintf("%03d", (n*77)%250)))
			if n%2 == 0 {
				keys[n].Table = table.Answers
			}
			if n%5 != 4 {
				e.put(t, table.Item{Key: keys[n], Version: int64(n)})
			}
		}
		for _, size := range []int{1, 4, 5, 99, 100, 101, 200, 250} {
			for _, options := range [][]table.ReadOption{nil, {table.Eventual}} {
				items, err := e.store.BatchGet(t.Context(), keys[:size], options...)
				if err != nil {
					t.Fatalf("%d keys: %v", size, err)
				}
				if want := size - size/5; len(items) != want && options == nil {
					t.Fatalf("%d keys: %d items, want %d", size, len(items), want)
				}
				last := int64(-1)
				for _, item := range items {
					if item.Key != keys[item.Version] || item.Version <= last {
						t.Fatalf("%d keys: %q after the item of key %d", size, item.Sort, last)
					}
					last = item.Version
				}
			}
		}
	}},
	{"no keys give no items", 0, func(t *testing.T, e *env) {
		if items, err := e.store.BatchGet(t.Context(), nil); err != nil || len(items) != 0 {
			t.Errorf("%d items, %v", len(items), err)
		}
		if items, err := e.store.BatchGet(t.Context(), []table.Key{e.key("none")}); err != nil || len(items) != 0 {
			t.Errorf("%d items, %v", len(items), err)
		}
	}},
	{"a key named twice gives one item", 0, func(t *testing.T, e *env) {
		e.put(t, e.item("a"), e.item("b"))
		items, err := e.store.BatchGet(t.Context(), []table.Key{e.key("b"), e.key("a"), e.key("b"), e.key("a"), e.key("c"), e.key("c")})
		if err != nil || len(items) != 2 || !equal(items[0], e.item("b")) || !equal(items[1], e.item("a")) {
			t.Errorf("items %v, %v", items, err)
		}
	}},
	{"more than sixteen megabytes arrive", 0, func(t *testing.T, e *env) {
		const count, size = 60, 290 << 10
		var keys []table.Key
		for n := range count {
			body := make([]byte, size)
			body[0], body[size-1] = byte(n), byte(n+1)
			keys = append(keys, e.key(fmt.Sprintf("%03d", n)))
			e.put(t, table.Item{Key: keys[n], Body: body})
		}
		items, err := e.store.BatchGet(t.Context(), keys)
		if err != nil || len(items) != count {
			t.Fatalf("%d items, %v", len(items), err)
		}
		for n, item := range items {
			if item.Key != keys[n] || len(item.Body) != size || item.Body[0] != byte(n) || item.Body[size-1] != byte(n+1) {
				t.Errorf("item %d: %s", n, show(item))
			}
		}
	}},
}
