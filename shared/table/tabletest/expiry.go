package tabletest

import (
	"fmt"
	"testing"
	"time"

	"docent/shared/table"
)

var expiryCases = []testCase{
	{"an item is there until its second", 0, func(t *testing.T, e *env) {
		item := e.expiring(t, "a", 10*time.Second)
		e.clock.Advance(10*time.Second - time.Nanosecond)
		e.same(t, item)
		e.clock.Advance(time.Nanosecond)
		e.missing(t, item.Key)
	}},
	{"no read shows an expired item", 0, func(t *testing.T, e *env) {
		gone := e.expiring(t, "a", time.Second)
		e.put(t, e.item("b"))
		e.clock.Advance(2 * time.Second)
		for _, options := range [][]table.ReadOption{nil, {table.Eventual}} {
			_, err := e.store.Get(t.Context(), gone.Key, options...)
			is(t, err, table.ErrNotFound)
		}
		items, err := e.store.BatchGet(t.Context(), []table.Key{gone.Key, e.key("b")})
		if err != nil || len(items) != 1 || items[0].Sort != "b" {
			t.Errorf("batch: %v, %v", items, err)
		}
		e.finds(t, table.Query{}, "b")
	}},
	{"an item put when it has already expired is not shown", 0, func(t *testing.T, e *env) {
		item := e.expiring(t, "a", -time.Second)
		e.missing(t, item.Key)
		e.finds(t, table.Query{})
	}},
	{"conditions take an expired item for a missing one", 0, func(t *testing.T, e *env) { e.expiredConditions(t) }},
	{"conditions take an expired item for a missing one, in a transaction", transactions, func(t *testing.T, e *env) {
		e.expiredConditions(t, table.Put{Item: e.item("companion")})
	}},
	{"an add replaces an expired item", 0, func(t *testing.T, e *env) {
		gone := e.expiring(t, "a", time.Second)
		e.clock.Advance(2 * time.Second)
		e.add(t, table.Add{Key: gone.Key, By: map[string]int64{"m": 2}, If: table.Below("n", 1)},
			table.Item{Key: gone.Key, Numbers: map[string]int64{"m": 2}})
	}},
	{"fifty adds at once restart an expired counter once", concurrency, func(t *testing.T, e *env) {
		e.expiring(t, "a", time.Second)
		e.clock.Advance(2 * time.Second)
		e.ceiling(t, 0)
	}},
	{"expired items do not end a query", 0, func(t *testing.T, e *env) {
		var want []string
		for n := range 40 {
			sort := fmt.Sprintf("%02d", n)
			if n < 10 || n%2 == 0 || n > 35 {
				e.expiring(t, sort, time.Second)
				continue
			}
			e.put(t, e.item(sort))
			want = append(want, sort)
		}
		e.clock.Advance(2 * time.Second)
		for _, limit := range []int{0, 1, 4, 10} {
			e.finds(t, table.Query{Limit: limit}, want...)
		}
		if got := e.sorts(t, table.Query{Limit: 3, Descending: true}); len(got) != len(want) {
			t.Errorf("descending: %q", got)
		}
	}},
}

// expiring stores an item that expires after d.
func (e *env) expiring(t *testing.T, sort string, d time.Duration) table.Item {
	t.Helper()
	item := e.item(sort)
	item.Expires = e.clock.Now().Add(d)
	e.put(t, item)
	return item
}

func (e *env) expiredConditions(t *testing.T, companions ...table.Op) {
	t.Helper()
	for _, truth := range truths {
		for _, operation := range operations {
			gone := e.expiring(t, truth.name+", "+operation.name, time.Second)
			e.clock.Advance(2 * time.Second)
			op := operation.make(gone.Key, truth.condition)
			err := e.store.Write(t.Context(), append(companions, op)...)
			if !truth.missing {
				e.failed(t, err, gone.Key, nil)
				e.missing(t, gone.Key)
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", gone.Sort, err)
			}
			e.trace(t, op, nil)
		}
	}
}
