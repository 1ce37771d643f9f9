package tabletest

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/table"
)

var countCases = []testCase{
	{"fifty at once stop at the ceiling, on a present item", concurrency, func(t *testing.T, e *env) {
		e.put(t, table.Item{Key: e.key("a"), Version: 3, Numbers: map[string]int64{"n": 0}})
		e.ceiling(t, 3)
	}},
	{"fifty at once stop at the ceiling, on a missing item", concurrency, func(t *testing.T, e *env) {
		e.ceiling(t, 0)
	}},
	{"add returns the whole item", 0, func(t *testing.T, e *env) {
		e.put(t, e.item("a"), table.Item{Key: e.key("b"), Body: []byte("neighbour")})
		steps := []struct {
			add  table.Add
			want int64
		}{
			{table.Add{By: map[string]int64{"m": 5}}, 5},
			{table.Add{By: map[string]int64{"m": 5}}, 10},
			{table.Add{By: map[string]int64{"m": -12}}, -2},
			{table.Add{By: map[string]int64{"m": 0}}, -2},
			{table.Add{Numbers: map[string]int64{"m": 40}}, 40},
		}
		want := e.item("a")
		for _, step := range steps {
			step.add.Key = want.Key
			want.Numbers["m"] = step.want
			e.add(t, step.add, want)
		}
		want.Numbers = map[string]int64{"n": 8, "m": 38, "set": 0}
		want.Strings = map[string]string{"state": "closed", "new": ""}
		e.add(t, table.Add{
			Key:     want.Key,
			By:      map[string]int64{"n": 1, "m": -2},
			Numbers: map[string]int64{"set": 0},
			Strings: map[string]string{"state": "closed", "new": ""},
		}, want)
		e.same(t, table.Item{Key: e.key("b"), Body: []byte("neighbour")})
	}},
	{"add makes a missing item", 0, func(t *testing.T, e *env) {
		e.add(t, table.Add{Key: e.key("a"), By: map[string]int64{"n": 5}, Strings: map[string]string{"s": "x"}},
			table.Item{Key: e.key("a"), Numbers: map[string]int64{"n": 5}, Strings: map[string]string{"s": "x"}})
		e.add(t, table.Add{Key: e.key("b")}, table.Item{Key: e.key("b")})
		e.add(t, table.Add{Key: e.key("c"), By: map[string]int64{"n": 1}, Once: true},
			table.Item{Key: e.key("c"), Numbers: map[string]int64{"n": 1}})
	}},
	{"add inside a write", transactions, func(t *testing.T, e *env) {
		want := e.item("a")
		e.put(t, want)
		e.write(t, table.Add{Key: want.Key, By: map[string]int64{"n": 2}, Strings: map[string]string{"x": "y"}},
			table.Add{Key: e.key("b"), By: map[string]int64{"n": 1}})
		want.Numbers["n"], want.Strings["x"] = 9, "y"
		e.same(t, want)
		e.same(t, table.Item{Key: e.key("b"), Numbers: map[string]int64{"n": 1}})
	}},
	{"numbers are exact over 64 bits", 0, func(t *testing.T, e *env) {
		for _, step := range []struct{ start, by, want int64 }{
			{9007199254740993, 2, 9007199254740995},
			{-9007199254740993, -2, -9007199254740995},
			{math.MaxInt64 - 1, 1, math.MaxInt64},
			{math.MinInt64 + 1, -1, math.MinInt64},
			{math.MinInt64, math.MaxInt64, -1},
			{0, math.MinInt64, math.MinInt64},
		} {
			e.put(t, table.Item{Key: e.key("a"), Version: step.start, Numbers: map[string]int64{"n": step.start}})
			want := table.Item{Key: e.key("a"), Version: step.start, Numbers: map[string]int64{"n": step.want}}
			e.add(t, table.Add{Key: e.key("a"), By: map[string]int64{"n": step.by}}, want)
			e.write(t, table.Check{Key: e.key("a"), If: table.VersionIs(step.start)})
		}
	}},
	{"a step beyond 64 bits is refused", 0, func(t *testing.T, e *env) { e.overflow(t) }},
	{"a step beyond 64 bits is refused in a transaction", transactions, func(t *testing.T, e *env) {
		e.overflow(t, table.Put{Item: e.item("companion")})
		e.missing(t, e.key("companion"))
	}},
	{"expiry is set by the add that makes the item, and only then", 0, func(t *testing.T, e *env) { e.addExpiry(t) }},
	{"expiry is set by the add that makes the item, in a transaction", transactions, func(t *testing.T, e *env) {
		e.addExpiry(t, table.Put{Item: e.item("companion")})
	}},
	{"a field set under below only rises", 0, func(t *testing.T, e *env) {
		for _, step := range []struct {
			value int64
			holds bool
			want  int64
		}{{5, true, 5}, {9, true, 9}, {7, false, 9}, {9, false, 9}, {10, true, 10}} {
			_, err := e.store.Add(t.Context(), table.Add{
				Key: e.key("a"), Numbers: map[string]int64{"top": step.value}, If: table.Below("top", step.value),
			})
			if step.holds && err != nil {
				t.Fatalf("set to %d: %v", step.value, err)
			}
			want := table.Item{Key: e.key("a"), Numbers: map[string]int64{"top": step.want}}
			if !step.holds {
				e.failed(t, err, want.Key, &want)
			}
			e.same(t, want)
		}
	}},
}

// add fails the test unless Add returns want and stores it.
func (e *env) add(t *testing.T, a table.Add, want table.Item) {
	t.Helper()
	got, err := e.store.Add(t.Context(), a)
	if err != nil {
		t.Fatalf("add: %v", err)
	}
	if !equal(got, want) {
		t.Fatalf("add returned:\n%swant:\n%s", show(got), show(want))
	}
	e.same(t, want)
}

func (e *env) ceiling(t *testing.T, version int64) {
	t.Helper()
	const limit = 20
	var done, refused atomic.Int64
	var seen [limit + 1]atomic.Int64
	together(50, func(int) {
		item, err := e.store.Add(t.Context(), table.Add{
			Key: e.key("a"), By: map[string]int64{"n": 1}, If: table.Below("n", limit),
		})
		switch {
		case err == nil:
			done.Add(1)
			if n := item.Numbers["n"]; n >= 1 && n <= limit {
				seen[n].Add(1)
			}
		case table.AsConditionFailed(err) != nil:
			refused.Add(1)
		default:
			t.Errorf("add: %v", err)
		}
	})
	if done.Load() != limit || refused.Load() != 50-limit {
		t.Errorf("%d succeeded and %d were refused, want %d and %d", done.Load(), refused.Load(), limit, 50-limit)
	}
	for n := 1; n <= limit; n++ {
		if times := seen[n].Load(); times != 1 {
			t.Errorf("%d callers got %d, want one", times, n)
		}
	}
	e.same(t, table.Item{Key: e.key("a"), Version: version, Numbers: map[string]int64{"n": limit}})
}

func (e *env) overflow(t *testing.T, companions ...table.Op) {
	t.Helper()
	for _, step := range []struct{ start, by int64 }{
		{math.MaxInt64, 1}, {math.MinInt64, -1}, {math.MaxInt64, math.MaxInt64}, {-2, math.MinInt64 + 1},
	} {
		item := table.Item{Key: e.key("a"), Numbers: map[string]int64{"n": step.start, "other": 1}}
		e.put(t, item)
		step := table.Add{Key: item.Key, By: map[string]int64{"n": step.by, "other": 1}}
		is(t, e.store.Write(t.Context(), append(companions, step)...), table.ErrInvalid)
		e.same(t, item)
		if len(companions) == 0 {
			_, err := e.store.Add(t.Context(), step)
			is(t, err, table.ErrInvalid)
			e.same(t, item)
		}
		// A condition that does not hold is checked first.
		step.If = table.Absent()
		e.failed(t, e.store.Write(t.Context(), append(companions, step)...), item.Key, &item)
	}
}

func (e *env) addExpiry(t *testing.T, companions ...table.Op) {
	t.Helper()
	early, late := e.clock.Now().Add(time.Minute), e.clock.Now().Add(time.Hour)
	add := func(sort string, expires time.Time) {
		t.Helper()
		e.write(t, append(companions, table.Add{Key: e.key(sort), By: map[string]int64{"n": 1}, Expires: expires})...)
	}
	want := func(sort string, n int64, expires time.Time) {
		t.Helper()
		e.same(t, table.Item{Key: e.key(sort), Numbers: map[string]int64{"n": n}, Expires: expires})
	}
	add("made", early)
	want("made", 1, early)
	add("made", late)
	want("made", 2, early)
	add("made", time.Time{})
	want("made", 3, early)

	add("forever", time.Time{})
	add("forever", late)
	want("forever", 2, time.Time{})

	e.clock.Advance(2 * time.Minute)
	e.missing(t, e.key("made"))
	add("made", late)
	want("made", 1, late)
	want("forever", 2, time.Time{})
}
