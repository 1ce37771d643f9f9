package tabletest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"docent/shared/table"
)

var raceCases = []testCase{
	{"counted records stop at the ceiling", transactions | concurrency, func(t *testing.T, e *env) {
		var done, refused atomic.Int64
		together(16, func(caller int) {
			for n := range 10 {
				err := e.store.Write(t.Context(),
					table.Add{Key: e.key("count"), By: map[string]int64{"n": 1}, If: table.Below("n", 100)},
					table.Put{Item: e.item(fmt.Sprintf("row %d %d", caller, n)), If: table.Absent()})
				switch failed := table.AsConditionFailed(err); {
				case err == nil:
					done.Add(1)
				case failed != nil && failed.Key == e.key("count"):
					refused.Add(1)
				default:
					t.Errorf("write: %v", err)
				}
			}
		})
		rows := len(e.sorts(t, table.Query{Prefix: "row "}))
		if done.Load() != 100 || refused.Load() != 60 || rows != 100 {
			t.Errorf("%d succeeded, %d were refused, %d rows; want 100, 60, 100", done.Load(), refused.Load(), rows)
		}
		e.same(t, table.Item{Key: e.key("count"), Numbers: map[string]int64{"n": 100}})
	}},
	{"a pointer is moved by one of twenty", transactions | concurrency, func(t *testing.T, e *env) {
		for round := range 5 {
			prefix := fmt.Sprintf("%d/", round)
			e.put(t, e.item(prefix+"old"))
			var done atomic.Int64
			together(20, func(caller int) {
				err := e.store.Write(t.Context(),
					table.Delete{Key: e.key(prefix + "old"), If: table.Exists()},
					table.Put{Item: e.item(fmt.Sprintf("%snew %d", prefix, caller)), If: table.Absent()})
				switch failed := table.AsConditionFailed(err); {
				case err == nil:
					done.Add(1)
				case failed == nil || failed.Key != e.key(prefix+"old"):
					t.Errorf("write: %v", err)
				}
			})
			left := e.sorts(t, table.Query{Prefix: prefix})
			if done.Load() != 1 || len(left) != 1 || left[0] == prefix+"old" {
				t.Errorf("%d moved it, %q are left", done.Load(), left)
			}
		}
	}},
	{"optimistic changes are not lost", concurrency, func(t *testing.T, e *env) {
		start := table.Item{Key: e.key("a"), Version: 1, Numbers: map[string]int64{"n": 0}}
		e.put(t, start)
		together(20, func(int) {
			item, err := e.store.Get(t.Context(), start.Key)
			for err == nil {
				next := item
				next.Version++
				next.Numbers = map[string]int64{"n": item.Numbers["n"] + 1}
				err = e.store.Write(t.Context(), table.Put{Item: next, If: table.VersionIs(item.Version)})
				if err == nil {
					return
				}
				if table.AsConditionFailed(err) != nil {
					item, err = e.store.Get(t.Context(), start.Key)
				}
			}
			t.Errorf("change: %v", err)
		})
		e.same(t, table.Item{Key: start.Key, Version: 21, Numbers: map[string]int64{"n": 20}})
	}},
	{"one of twenty makes an item", concurrency, func(t *testing.T, e *env) {
		var done atomic.Int64
		together(20, func(caller int) {
			item := e.item("a")
			item.Version = int64(caller)
			err := e.store.Write(t.Context(), table.Put{Item: item, If: table.Absent()})
			switch failed := table.AsConditionFailed(err); {
			case err == nil:
				done.Add(1)
			case failed == nil || (failed.Item == nil && !e.options.NoOldItem):
				t.Errorf("put: %v", err)
			}
		})
		if done.Load() != 1 {
			t.Errorf("%d succeeded, want 1", done.Load())
		}
	}},
	{"a reader sees a write whole", transactions | concurrency, func(t *testing.T, e *env) {
		var keys []table.Key
		for n := range 10 {
			keys = append(keys, e.key(fmt.Sprintf("%02d", n)))
		}
		write := func(version int64) error {
			var ops []table.Op
			for _, k := range keys {
				ops = append(ops, table.Put{Item: table.Item{Key: k, Version: version}})
			}
			return e.store.Write(t.Context(), ops...)
		}
		if err := write(1); err != nil {
			t.Fatal(err)
		}
		written := make(chan struct{})
		go func() {
			defer close(written)
			for version := int64(2); version <= 40; version++ {
				if err := write(version); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		}()
		for over := false; !over; {
			select {
			case <-written:
				over = true
			default:
			}
			// A consistent read of one key, then two of another: a Write becomes visible
			// under all keys at once, so versions only rise.
			last := int64(0)
			for _, k := range keys {
				item := e.get(t, k)
				if item.Version < last {
					t.Errorf("version %d after %d", item.Version, last)
				}
				last = item.Version
			}
		}
	}},
}
