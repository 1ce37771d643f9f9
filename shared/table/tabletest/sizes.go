package tabletest

import (
	"fmt"
	"strings"
	"testing"

	"docent/shared/table"
)

var sizeCases = []testCase{
	{"an item over 400 KB is refused", 0, func(t *testing.T, e *env) {
		for _, item := range []table.Item{
			{Key: e.key("body"), Body: make([]byte, 410<<10)},
			{Key: e.key("string"), Strings: map[string]string{"s": strings.Repeat("x", 410<<10)}},
		} {
			is(t, e.store.Write(t.Context(), table.Put{Item: item}), table.ErrTooLarge)
			is(t, e.store.Write(t.Context(), table.Put{Item: e.item("other")}, table.Put{Item: item}), table.ErrTooLarge)
			e.missing(t, item.Key, e.key("other"))
		}
		long := strings.Repeat("x", 410<<10)
		_, err := e.store.Add(t.Context(), table.Add{Key: e.key("add"), Strings: map[string]string{"s": long}})
		is(t, err, table.ErrTooLarge)
		e.missing(t, e.key("add"))
	}},
	{"an item of 390 KB is kept", fullItems, func(t *testing.T, e *env) {
		item := table.Item{Key: e.key("a"), Body: make([]byte, 390<<10)}
		e.put(t, item)
		e.same(t, item)
	}},
	{"names and keys count", fullItems, func(t *testing.T, e *env) {
		item := table.Item{Key: e.key(strings.Repeat("s", 1000)), Strings: map[string]string{strings.Repeat("f", 200): "value"}}
		item.Body = make([]byte, table.MaxItemBytes-table.Size(item)-len(table.BodyAttribute))
		if size := table.Size(item); size != table.MaxItemBytes {
			t.Fatalf("an item of %d bytes", size)
		}
		e.put(t, item)
		e.same(t, item)
		item.Body = append(item.Body, 0)
		is(t, e.store.Write(t.Context(), table.Put{Item: item}), table.ErrTooLarge)
	}},
	{"an add that grows an item over 400 KB is refused", fullItems, func(t *testing.T, e *env) {
		item := table.Item{Key: e.key("a"), Body: make([]byte, 390<<10)}
		e.put(t, item)
		add := table.Add{Key: item.Key, By: map[string]int64{"n": 1}, Strings: map[string]string{"s": strings.Repeat("x", 20<<10)}}
		_, err := e.store.Add(t.Context(), add)
		is(t, err, table.ErrTooLarge)
		e.same(t, item)
		add.Strings["s"] = "short"
		if _, err := e.store.Add(t.Context(), add); err != nil {
			t.Errorf("a small step: %v", err)
		}
	}},
	{"an add that grows an item over 400 KB is refused in a transaction", fullItems | transactions, func(t *testing.T, e *env) {
		item := table.Item{Key: e.key("a"), Body: make([]byte, 390<<10)}
		e.put(t, item)
		add := table.Add{Key: item.Key, Strings: map[string]string{"s": strings.Repeat("x", 20<<10)}}
		is(t, e.store.Write(t.Context(), table.Put{Item: e.item("other")}, add), table.ErrTooLarge)
		e.same(t, item)
		e.missing(t, e.key("other"))
	}},
	{"a write over 4 MB is refused", transactions, func(t *testing.T, e *env) {
		large := func(count int) (ops []table.Op, keys []table.Key) {
			for n := range count {
				keys = append(keys, e.key(fmt.Sprintf("%d of %d", n, count)))
				ops = append(ops, table.Put{Item: table.Item{Key: keys[n], Body: make([]byte, 350<<10)}})
			}
			return ops, keys
		}
		ops, keys := large(12)
		is(t, e.store.Write(t.Context(), ops...), table.ErrTooLarge)
		e.missing(t, keys...)
		ops, keys = large(11)
		e.write(t, ops...)
		for _, k := range keys {
			if got := e.get(t, k); len(got.Body) != 350<<10 {
				t.Errorf("%d bytes", len(got.Body))
			}
		}
	}},
}
