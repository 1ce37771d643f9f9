package tabletest

import (
	"testing"
	"time"

	"docent/shared/table"
)

var itemCases = []testCase{
	{"put under absent succeeds once for a key", 0, func(t *testing.T, e *env) {
		first := e.item("a")
		e.write(t, table.Put{Item: first, If: table.Absent()})
		second := e.item("a")
		second.Body = []byte("second")
		e.failed(t, e.store.Write(t.Context(), table.Put{Item: second, If: table.Absent()}), first.Key, &first)
		e.same(t, first)
		other := e.item("a")
		other.Table = table.Answers
		for _, neighbour := range []table.Item{e.item("b"), other} {
			e.write(t, table.Put{Item: neighbour, If: table.Absent()})
			e.same(t, neighbour)
		}
	}},
	{"delete under a failing condition leaves the item", 0, func(t *testing.T, e *env) {
		item := e.item("a")
		e.put(t, item)
		err := e.store.Write(t.Context(), table.Delete{Key: item.Key, If: table.VersionIs(4)})
		e.failed(t, err, item.Key, &item)
		e.same(t, item)
		e.write(t, table.Delete{Key: item.Key, If: table.VersionIs(3)})
		e.missing(t, item.Key)
	}},
	{"delete of a missing item succeeds", 0, func(t *testing.T, e *env) {
		e.write(t, table.Delete{Key: e.key("a")})
		e.missing(t, e.key("a"))
	}},
	{"put replaces the whole item", 0, func(t *testing.T, e *env) {
		old := e.item("a")
		old.Numbers["gone"], old.Strings["gone"] = 1, "x"
		old.Expires = e.clock.Now().Add(time.Hour)
		e.put(t, old)
		e.same(t, old)
		bare := table.Item{Key: old.Key, Numbers: map[string]int64{"new": 2}}
		e.put(t, bare)
		e.same(t, bare)
		e.clock.Advance(2 * time.Hour)
		e.same(t, bare)
	}},
	{"a missing item is not found", 0, func(t *testing.T, e *env) {
		e.put(t, e.item("a"))
		other := e.key("a")
		other.Table = table.Answers
		e.missing(t, e.key("b"), other)
		_, err := e.store.Get(t.Context(), e.key("b"), table.Eventual)
		is(t, err, table.ErrNotFound)
	}},
	{"items are copies", 0, func(t *testing.T, e *env) {
		want, given := e.item("a"), e.item("a")
		e.put(t, given)
		spoil(given)
		e.same(t, want)
		spoil(e.get(t, want.Key))
		e.same(t, want)
		page, err := e.store.Query(t.Context(), e.within(table.Query{}))
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("query: %d items, %v", len(page.Items), err)
		}
		spoil(page.Items[0])
		e.same(t, want)
		batch, err := e.store.BatchGet(t.Context(), []table.Key{want.Key})
		if err != nil || len(batch) != 1 {
			t.Fatalf("batch: %d items, %v", len(batch), err)
		}
		spoil(batch[0])
		e.same(t, want)
		after, err := e.store.Add(t.Context(), table.Add{Key: want.Key})
		if err != nil {
			t.Fatal(err)
		}
		spoil(after)
		e.same(t, want)
	}},
	{"a check alone writes nothing", 0, func(t *testing.T, e *env) {
		e.write(t, table.Check{Key: e.key("a"), If: table.Absent()})
		e.missing(t, e.key("a"))
		e.failed(t, e.store.Write(t.Context(), table.Check{Key: e.key("a"), If: table.Exists()}), e.key("a"), nil)
		item := e.item("a")
		e.put(t, item)
		e.write(t, table.Check{Key: item.Key, If: table.VersionIs(3)})
		e.failed(t, e.store.Write(t.Context(), table.Check{Key: item.Key, If: table.Absent()}), item.Key, &item)
		e.same(t, item)
	}},
}

// spoil changes everything that an item points to.
func spoil(item table.Item) {
	item.Body[0] ^= 0xff
	item.Numbers["n"], item.Numbers["spoilt"] = -1, 1
	item.Strings["state"], item.Strings["spoilt"] = "spoilt", "x"
}
