package tabletest

import (
	"fmt"
	"testing"

	"docent/shared/table"
)

// truths lists every condition and whether it holds for a missing item, for one without fields
// and for env.item.
var truths = []struct {
	name                string
	condition           table.Condition
	missing, bare, full bool
}{
	{"always", table.Condition{}, true, true, true},
	{"absent", table.Absent(), true, false, false},
	{"exists", table.Exists(), false, true, true},
	{"version is the item's", table.VersionIs(3), false, false, true},
	{"version is another", table.VersionIs(4), false, false, false},
	{"version is zero", table.VersionIs(0), false, true, false},
	{"string is the item's", table.Is("state", "open"), false, false, true},
	{"string is another", table.Is("state", "Open"), false, false, false},
	{"string is empty", table.Is("state", ""), false, false, false},
	{"string of a missing field", table.Is("n", "open"), false, false, false},
	{"below more", table.Below("n", 8), true, true, true},
	{"below the same", table.Below("n", 7), true, true, false},
	{"below less", table.Below("n", -7), true, true, false},
	{"below of a missing field", table.Below("state", -1), true, true, true},
}

// operations are the operations with a condition; each leaves a different trace.
var operations = []struct {
	name string
	make func(table.Key, table.Condition) table.Op
}{
	{"put", func(k table.Key, c table.Condition) table.Op {
		return table.Put{Item: table.Item{Key: k, Version: 9}, If: c}
	}},
	{"delete", func(k table.Key, c table.Condition) table.Op { return table.Delete{Key: k, If: c} }},
	{"check", func(k table.Key, c table.Condition) table.Op { return table.Check{Key: k, If: c} }},
	{"add", func(k table.Key, c table.Condition) table.Op {
		return table.Add{Key: k, By: map[string]int64{"n": 1}, If: c}
	}},
}

var conditionCases = []testCase{
	{"each condition, of each operation alone", 0, func(t *testing.T, e *env) {
		checkTruths(t, e, false)
	}},
	{"each condition, of each operation in a transaction", transactions, func(t *testing.T, e *env) {
		checkTruths(t, e, true)
	}},
	{"the call add reports a failed condition", 0, func(t *testing.T, e *env) {
		_, err := e.store.Add(t.Context(), table.Add{Key: e.key("a"), By: map[string]int64{"n": 1}, If: table.Exists()})
		e.failed(t, err, e.key("a"), nil)
		e.missing(t, e.key("a"))
		item := e.item("a")
		e.put(t, item)
		_, err = e.store.Add(t.Context(), table.Add{Key: item.Key, By: map[string]int64{"n": 1}, If: table.Below("n", 7)})
		e.failed(t, err, item.Key, &item)
		e.same(t, item)
	}},
}

func checkTruths(t *testing.T, e *env, inTransaction bool) {
	for _, truth := range truths {
		for _, operation := range operations {
			for _, state := range []string{"missing", "bare", "full"} {
				name := fmt.Sprintf("%s, %s, on a %s item", truth.name, operation.name, state)
				item := e.item(name)
				want := truth.full
				switch state {
				case "missing":
					want = truth.missing
				case "bare":
					want = truth.bare
					item = table.Item{Key: item.Key}
				}
				if state != "missing" {
					e.put(t, item)
				}
				old := &item
				if state == "missing" {
					old = nil
				}
				checkTruth(t, e, name, operation.make(item.Key, truth.condition), old, want, inTransaction)
			}
		}
	}
}

func checkTruth(t *testing.T, e *env, name string, op table.Op, old *table.Item, want, inTransaction bool) {
	ops := []table.Op{op}
	companion := e.key(name + ", companion")
	if inTransaction {
		ops = []table.Op{table.Put{Item: table.Item{Key: companion}}, op}
	}
	err := e.store.Write(t.Context(), ops...)
	if want {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e.trace(t, op, old)
		return
	}
	if table.AsConditionFailed(err) == nil {
		t.Fatalf("%s: error %v, want a failed condition", name, err)
	}
	e.failed(t, err, table.KeyOf(op), old)
	e.missing(t, companion)
	if old == nil {
		e.missing(t, table.KeyOf(op))
		return
	}
	e.same(t, *old)
}

// trace fails the test unless op has happened to the item old.
func (e *env) trace(t *testing.T, op table.Op, old *table.Item) {
	t.Helper()
	switch op := op.(type) {
	case table.Put:
		e.same(t, op.Item)
	case table.Delete:
		e.missing(t, op.Key)
	case table.Check:
		if old == nil {
			e.missing(t, op.Key)
		} else {
			e.same(t, *old)
		}
	case table.Add:
		want := table.Item{Key: op.Key}
		if old != nil {
			want = *old
		}
		want.Numbers = map[string]int64{"n": want.Numbers["n"] + 1}
		e.same(t, want)
	}
}
