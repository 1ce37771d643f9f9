package table_test

import (
	"errors"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"docent/shared/table"
)

func TestSizeFollowsDynamoDBsRules(t *testing.T) {
	t.Parallel()
	k := table.Key{Table: "not counted", Partition: "pp", Sort: "sss"}
	const keys = 1 + 2 + 1 + 3
	for name, test := range map[string]struct {
		item table.Item
		want int
	}{
		"key only":         {table.Item{}, keys},
		"empty body":       {table.Item{Body: []byte{}}, keys},
		"body":             {table.Item{Body: []byte("12345")}, keys + 1 + 5},
		"version":          {table.Item{Version: 1}, keys + 1 + 2},
		"four digits":      {table.Item{Version: 1234}, keys + 1 + 3},
		"five digits":      {table.Item{Version: 12345}, keys + 1 + 4},
		"trailing zeros":   {table.Item{Version: 1000000}, keys + 1 + 2},
		"negative":         {table.Item{Version: -12}, keys + 1 + 3},
		"least":            {table.Item{Version: math.MinInt64}, keys + 1 + 2 + 10},
		"number field":     {table.Item{Numbers: map[string]int64{"abc": 0}}, keys + 2 + 3 + 1},
		"string field":     {table.Item{Strings: map[string]string{"abc": "é"}}, keys + 2 + 3 + 2},
		"empty string":     {table.Item{Strings: map[string]string{"abc": ""}}, keys + 2 + 3},
		"expiry":           {table.Item{Expires: time.Unix(1234567891, 5)}, keys + 1 + 6},
		"wide partition":   {table.Item{Body: []byte("\xff\x00")}, keys + 1 + 2},
		"everything, once": {table.Item{Version: 1, Body: []byte("b"), Numbers: map[string]int64{"a": 1}, Strings: map[string]string{"a": "1"}}, keys + 3 + 2 + 5 + 4},
	} {
		test.item.Key = k
		if got := table.Size(test.item); got != test.want {
			t.Errorf("%s: %d bytes, want %d", name, got, test.want)
		}
	}
}

func TestUnitsBeginAtTheirBounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		size                  int
		read, eventual, write float64
	}{
		{0, 1, 0.5, 1}, {1, 1, 0.5, 1}, {1024, 1, 0.5, 1}, {1025, 1, 0.5, 2}, {4096, 1, 0.5, 4},
		{4097, 2, 1, 5}, {table.MaxItemBytes, 100, 50, 400},
	} {
		read, eventual, write := table.ReadUnits(test.size, false), table.ReadUnits(test.size, true), table.WriteUnits(test.size)
		if read != test.read || eventual != test.eventual || write != test.write {
			t.Errorf("%d bytes: %v, %v, %v; want %v, %v, %v", test.size, read, eventual, write, test.read, test.eventual, test.write)
		}
	}
}

func TestApplyStepsInto64Bits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		start, by, want int64
		fits            bool
	}{
		{math.MaxInt64 - 1, 1, math.MaxInt64, true},
		{math.MaxInt64, 1, 0, false},
		{math.MaxInt64, math.MaxInt64, 0, false},
		{math.MinInt64, -1, 0, false},
		{math.MinInt64, math.MinInt64, 0, false},
		{math.MinInt64, math.MaxInt64, -1, true},
		{-1, math.MinInt64, 0, false},
		{0, math.MinInt64, math.MinInt64, true},
		{math.MinInt64, 0, math.MinInt64, true},
	} {
		old := table.Item{Numbers: map[string]int64{"n": test.start, "other": 5}, Strings: map[string]string{"s": "kept"}, Version: 3}
		got, err := table.Add{By: map[string]int64{"n": test.by}, Strings: map[string]string{"t": "new"}}.Apply(&old)
		if !test.fits {
			if !errors.Is(err, table.ErrInvalid) {
				t.Errorf("%d + %d: %v", test.start, test.by, err)
			}
			continue
		}
		wantNumbers := map[string]int64{"n": test.want, "other": 5}
		wantStrings := map[string]string{"s": "kept", "t": "new"}
		if err != nil || !maps.Equal(got.Numbers, wantNumbers) || !maps.Equal(got.Strings, wantStrings) || got.Version != 3 {
			t.Errorf("%d + %d: %v, %v", test.start, test.by, got, err)
		}
		if old.Numbers["n"] != test.start || len(old.Strings) != 1 {
			t.Errorf("the old item was changed: %v", old)
		}
	}
}

func TestApplyMakesAndBoundsItems(t *testing.T) {
	t.Parallel()
	k := table.Key{Table: "t", Partition: "p", Sort: "s"}
	got, err := table.Add{Key: k, Expires: time.Unix(100, 999)}.Apply(nil)
	if err != nil || got.Key != k || got.Expires.Unix() != 100 || got.Expires.Nanosecond() != 0 || got.Numbers != nil || got.Strings != nil {
		t.Errorf("made %v, %v", got, err)
	}
	old := table.Item{Key: k, Body: make([]byte, table.MaxItemBytes-10)}
	_, err = table.Add{Key: k, Strings: map[string]string{"s": strings.Repeat("x", 10)}}.Apply(&old)
	if !errors.Is(err, table.ErrTooLarge) {
		t.Errorf("grown too large: %v", err)
	}
}

func TestExpiryIsAtTheWholeSecond(t *testing.T) {
	t.Parallel()
	item := table.Item{Expires: time.Unix(100, 0)}
	for _, test := range []struct {
		now  time.Time
		gone bool
	}{{time.Unix(99, 999999999), false}, {time.Unix(100, 0), true}, {time.Unix(100, 1), true}, {time.Unix(101, 0), true}} {
		if (table.Live(&item, test.now) == nil) != test.gone {
			t.Errorf("at %v: gone is not %t", test.now, test.gone)
		}
	}
	if table.Live(&table.Item{}, time.Unix(1<<40, 0)) == nil || table.Live(nil, time.Now()) != nil {
		t.Error("an item without expiry expires, or none lives")
	}
}

func FuzzCursor(f *testing.F) {
	q := table.Query{Table: "documents", Partition: "p", From: "a"}
	f.Add(q.CursorAt("sort"))
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, cursor string) {
		q := q
		q.Cursor = cursor
		sort, err := q.After()
		switch {
		case err != nil && !errors.Is(err, table.ErrInvalid):
			t.Errorf("error %v", err)
		case err == nil && cursor != "" && q.CursorAt(sort) != cursor:
			t.Errorf("two cursors for %q", sort)
		}
	})
}
