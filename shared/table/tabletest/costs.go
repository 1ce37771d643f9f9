package tabletest

import (
	"context"
	"fmt"
	"testing"

	"docent/shared/table"
)

var costCases = []testCase{
	{"calls and round trips", 0, func(t *testing.T, e *env) { e.costs(t, false) }},
	{"capacity units", capacity, func(t *testing.T, e *env) { e.costs(t, true) }},
}

func (e *env) costs(t *testing.T, withUnits bool) {
	t.Helper()
	small := table.Item{Key: e.key("small")}
	large := table.Item{Key: e.key("large"), Body: make([]byte, 5<<10)}
	e.put(t, small, large)
	var keys []table.Key
	for n := range 250 {
		keys = append(keys, e.key(fmt.Sprintf("none %d", n)))
	}
	get := func(k table.Key, options ...table.ReadOption) func(context.Context) error {
		return func(ctx context.Context) error { _, err := e.store.Get(ctx, k, options...); return err }
	}
	query := func(q table.Query) func(context.Context) error {
		return func(ctx context.Context) error { _, err := e.store.Query(ctx, e.within(q)); return err }
	}
	write := func(ops ...table.Op) func(context.Context) error {
		return func(ctx context.Context) error { return e.store.Write(ctx, ops...) }
	}
	for _, test := range []struct {
		name  string
		call  func(context.Context) error
		calls int
		read  float64
		write float64
	}{
		{"get small", get(small.Key), 1, 1, 0},
		{"get small, eventual", get(small.Key, table.Eventual), 1, 0.5, 0},
		{"get large", get(large.Key), 1, 2, 0},
		{"get missing", get(keys[0]), 1, 1, 0},
		{"query", query(table.Query{}), 1, 2, 0},
		{"query, eventual", query(table.Query{Eventual: true}), 1, 1, 0},
		{"query that can find nothing", query(table.Query{From: "b", To: "a"}), 0, 0, 0},
		{"batch of 250", func(ctx context.Context) error { _, err := e.store.BatchGet(ctx, keys); return err }, 3, 250, 0},
		{"batch, large", func(ctx context.Context) error {
			_, err := e.store.BatchGet(ctx, []table.Key{small.Key, large.Key, small.Key}, table.Eventual)
			return err
		}, 1, 1.5, 0},
		{"put small", write(table.Put{Item: small}), 1, 0, 1},
		{"put large", write(table.Put{Item: large}), 1, 0, 6},
		{"put small over large", write(table.Put{Item: table.Item{Key: large.Key}}), 1, 0, 6},
		{"put under a condition that fails", write(table.Put{Item: small, If: table.Absent()}), 1, 0, 1},
		{"add", func(ctx context.Context) error {
			_, err := e.store.Add(ctx, table.Add{Key: small.Key, By: map[string]int64{"n": 1}})
			return err
		}, 1, 0, 1},
		{"delete missing", write(table.Delete{Key: keys[0]}), 1, 0, 1},
		{"check", write(table.Check{Key: small.Key, If: table.Exists()}), 1, 1, 0},
		{"two operations", write(table.Put{Item: small}, table.Check{Key: keys[0], If: table.Absent()}), 1, 0, 4},
		{"refused before it is sent", write(), 0, 0, 0},
	} {
		ctx, meter := table.WithMeter(t.Context())
		if e.options.NoTransactions && test.name == "two operations" {
			continue
		}
		if err := test.call(ctx); err != nil && test.calls > 0 && table.AsConditionFailed(err) == nil && test.name != "get missing" {
			t.Fatalf("%s: %v", test.name, err)
		}
		cost := meter.Read()
		if cost.Calls != test.calls || cost.RoundTrips != min(1, test.calls) {
			t.Errorf("%s: %d calls in %d round trips, want %d in %d", test.name, cost.Calls, cost.RoundTrips, test.calls, min(1, test.calls))
		}
		if withUnits && (cost.ReadUnits != test.read || cost.WriteUnits != test.write) {
			t.Errorf("%s: %v read and %v write units, want %v and %v", test.name, cost.ReadUnits, cost.WriteUnits, test.read, test.write)
		}
	}
}
