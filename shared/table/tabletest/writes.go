package tabletest

import (
	"fmt"
	"testing"

	"docent/shared/table"
)

var writeCases = []testCase{
	{"put, add, delete and check over two tables", transactions, func(t *testing.T, e *env) {
		gone, checked := e.item("gone"), e.item("checked")
		gone.Table = table.Answers
		e.put(t, gone, checked)
		e.write(t,
			table.Put{Item: e.item("put"), If: table.Absent()},
			table.Add{Key: e.key("added"), By: map[string]int64{"n": 4}},
			table.Delete{Key: gone.Key, If: table.Exists()},
			table.Check{Key: checked.Key, If: table.VersionIs(3)})
		e.same(t, e.item("put"))
		e.same(t, table.Item{Key: e.key("added"), Numbers: map[string]int64{"n": 4}})
		e.missing(t, gone.Key)
		e.same(t, checked)
	}},
	{"one failing condition stops all", transactions, func(t *testing.T, e *env) {
		kept, changed := e.item("kept"), e.item("changed")
		e.put(t, kept, changed)
		for name, failing := range map[string]struct {
			op  table.Op
			old *table.Item
		}{
			"put":           {table.Put{Item: kept, If: table.Absent()}, &kept},
			"delete":        {table.Delete{Key: kept.Key, If: table.VersionIs(4)}, &kept},
			"check":         {table.Check{Key: kept.Key, If: table.Is("state", "closed")}, &kept},
			"add":           {table.Add{Key: kept.Key, By: map[string]int64{"n": 1}, If: table.Below("n", 7)}, &kept},
			"missing":       {table.Check{Key: e.key("none"), If: table.Exists()}, nil},
			"missing added": {table.Add{Key: e.key("none"), By: map[string]int64{"n": 1}, If: table.Exists()}, nil},
		} {
			for place := range 4 {
				ops := []table.Op{
					table.Put{Item: e.item("new")},
					table.Add{Key: e.key("counted"), By: map[string]int64{"n": 1}},
					table.Delete{Key: changed.Key},
				}
				ops = append(ops[:place:place], append([]table.Op{failing.op}, ops[place:]...)...)
				t.Log(name, place)
				e.failed(t, e.store.Write(t.Context(), ops...), table.KeyOf(failing.op), failing.old)
				e.missing(t, e.key("new"), e.key("counted"), e.key("none"))
				e.same(t, changed)
				e.same(t, kept)
			}
		}
	}},
	{"of several failing conditions the first is named", transactions, func(t *testing.T, e *env) {
		item := e.item("a")
		e.put(t, item)
		e.failed(t, e.store.Write(t.Context(),
			table.Put{Item: e.item("new")},
			table.Check{Key: item.Key, If: table.VersionIs(1)},
			table.Check{Key: e.key("none"), If: table.Exists()}), item.Key, &item)
		e.failed(t, e.store.Write(t.Context(),
			table.Check{Key: e.key("none"), If: table.Exists()},
			table.Put{Item: e.item("new")},
			table.Check{Key: item.Key, If: table.VersionIs(1)}), e.key("none"), nil)
		e.missing(t, e.key("new"))
	}},
	{"a hundred operations", transactions, func(t *testing.T, e *env) {
		e.write(t, e.puts("small", 100)...)
		for n := range 100 {
			e.same(t, table.Item{Key: e.key(fmt.Sprintf("small %d", n)), Version: int64(n + 1)})
		}
		ops := e.puts("failing", 100)
		ops[99] = table.Check{Key: e.key("none"), If: table.Exists()}
		e.failed(t, e.store.Write(t.Context(), ops...), e.key("none"), nil)
		e.missing(t, e.key("failing 0"), e.key("failing 98"))
	}},
	{"bad lists of operations are refused", 0, func(t *testing.T, e *env) {
		is(t, e.store.Write(t.Context(), e.puts("many", 101)...), table.ErrInvalid)
		e.missing(t, e.key("many 0"), e.key("many 100"))
		is(t, e.store.Write(t.Context()), table.ErrInvalid)
		is(t, e.store.Write(t.Context(), nil), table.ErrInvalid)
		is(t, e.store.Write(t.Context(), table.Put{Item: e.item("a")}, table.Delete{Key: e.key("a")}), table.ErrInvalid)
		is(t, e.store.Write(t.Context(), table.Put{Item: e.item("b")},
			table.Check{Key: e.key("a"), If: table.Absent()}, table.Check{Key: e.key("a"), If: table.Absent()}), table.ErrInvalid)
		is(t, e.store.Write(t.Context(), table.Put{Item: e.item("b")},
			table.Add{Key: e.key("a"), By: map[string]int64{"n": 1}, Numbers: map[string]int64{"n": 1}}), table.ErrInvalid)
		is(t, e.store.Write(t.Context(), table.Put{Item: e.item("b"), If: table.Condition{Kind: 99}}), table.ErrInvalid)
		e.missing(t, e.key("a"), e.key("b"))
	}},
	{"a write repeated after a lost answer counts once", transactions, func(t *testing.T, e *env) {
		ops := []table.Op{
			table.Add{Key: e.key("count"), By: map[string]int64{"n": 1}},
			table.Put{Item: e.item("mark"), If: table.Absent()},
		}
		e.write(t, ops...) // whose answer did not arrive
		mark := e.item("mark")
		e.failed(t, e.store.Write(t.Context(), ops...), mark.Key, &mark)
		e.same(t, table.Item{Key: e.key("count"), Numbers: map[string]int64{"n": 1}})
	}},
}

func (e *env) puts(name string, count int) []table.Op {
	ops := make([]table.Op, count)
	for n := range ops {
		ops[n] = table.Put{Item: table.Item{Key: e.key(fmt.Sprintf("%s %d", name, n)), Version: int64(n + 1)}}
	}
	return ops
}
