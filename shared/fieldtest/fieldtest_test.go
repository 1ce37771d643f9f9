package fieldtest_test

import (
	"reflect"
	"testing"
	"time"

	"docent/shared/fieldtest"
)

type inner struct{ Text string }

type record struct {
	inner
	Number  int64
	Times   []time.Time
	Pointer *inner
	Names   map[string]int
	hidden  bool
}

func TestFillLeavesNoFieldEmpty(t *testing.T) {
	t.Parallel()
	r := fieldtest.Fill[record](t)
	v := reflect.ValueOf(r)
	for _, f := range reflect.VisibleFields(v.Type()) {
		if v.FieldByIndex(f.Index).IsZero() {
			t.Errorf("%s is empty", f.Name)
		}
	}
	if r.Text == r.Pointer.Text || r.Times[0].Equal(r.Times[1]) || !r.hidden {
		t.Errorf("two fields have the same value: %+v", r)
	}
}

func TestShowsTakesListedFieldsAsHidden(t *testing.T) {
	t.Parallel()
	type shown struct{ A, B string }
	type given struct {
		A      string
		Nested struct{ B, C string }
		At     time.Time
	}
	fieldtest.Shows(t, func(g given) shown { return shown{g.A, g.Nested.B} }, func(*given) {}, "Nested.C", "At")
}
