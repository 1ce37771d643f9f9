package tabletest

import (
	"math"
	"strings"
	"testing"
	"time"

	"docent/shared/table"
)

var valueCases = []testCase{
	{"values are read as they were written", 0, func(t *testing.T, e *env) {
		var every []byte
		for b := range 256 {
			every = append(every, byte(b))
		}
		for name, item := range map[string]table.Item{
			"bytes":         {Body: every},
			"one zero byte": {Body: []byte{0}},
			"empty body":    {Body: []byte{}},
			"nothing":       {},
			"empty lists":   {Numbers: map[string]int64{}, Strings: map[string]string{}},
			"numbers": {Version: math.MinInt64, Numbers: map[string]int64{
				"zero": 0, "minus": -1, "hundred": 100, "most": math.MaxInt64, "least": math.MinInt64,
			}},
			"strings": {Version: math.MaxInt64, Strings: map[string]string{
				"empty": "", "nul": "a\x00b", "lines": "a\r\nb\u2028", "wide": "é\uff5e\U0001f600", "quote": `"\'`,
			}},
			"field names": {
				Numbers: map[string]int64{"n": 1, "p": 2, "a b": 3, "a.b": 4, "é": 5, "#a": 6, ":a": 7, "size": 8},
				Strings: map[string]string{"n": "1", "s": "2", "a[0]": "3", strings.Repeat("f", table.MaxFieldBytes): "4"},
			},
			"expiry":      {Expires: e.clock.Now().Add(time.Second)},
			"late expiry": {Expires: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)},
		} {
			item.Key = e.key(name)
			e.put(t, item)
			e.same(t, item)
			empty := item
			empty.Sort += " added"
			a := table.Add{Key: empty.Key, Numbers: item.Numbers, Strings: item.Strings, Expires: item.Expires}
			empty.Body, empty.Version = nil, 0
			e.add(t, a, empty)
		}
	}},
	{"expiry is kept in whole seconds", 0, func(t *testing.T, e *env) {
		second := e.clock.Now().Add(time.Hour)
		e.put(t, table.Item{Key: e.key("a"), Expires: second.Add(999 * time.Millisecond)})
		e.same(t, table.Item{Key: e.key("a"), Expires: second})
	}},
	{"long keys are kept", 0, func(t *testing.T, e *env) {
		item := e.item(strings.Repeat("é", table.MaxSortBytes/2))
		item.Partition += strings.Repeat("x", table.MaxPartitionBytes-len(item.Partition))
		e.put(t, item)
		e.same(t, item)
		q := table.Query{Partition: item.Partition, Limit: 1}
		e.finds(t, q, item.Sort)
	}},
	{"bad keys are refused", 0, func(t *testing.T, e *env) {
		good := e.key("a")
		for name, k := range map[string]table.Key{
			"empty partition":      {Table: good.Table, Sort: "a"},
			"empty sort":           {Table: good.Table, Partition: good.Partition},
			"NUL in the partition": {Table: good.Table, Partition: good.Partition + "\x00", Sort: "a"},
			"NUL in the sort key":  {Table: good.Table, Partition: good.Partition, Sort: "a\x00b"},
			"partition not UTF-8":  {Table: good.Table, Partition: good.Partition + "\xff", Sort: "a"},
			"sort key not UTF-8":   {Table: good.Table, Partition: good.Partition, Sort: "\xed\xa0\x80"},
			"long partition":       {Table: good.Table, Partition: strings.Repeat("p", table.MaxPartitionBytes+1), Sort: "a"},
			"long sort key":        {Table: good.Table, Partition: good.Partition, Sort: strings.Repeat("s", table.MaxSortBytes+1)},
			"no table":             {Partition: good.Partition, Sort: "a"},
			"unknown table":        {Table: "nowhere", Partition: good.Partition, Sort: "a"},
			"another table's case": {Table: "Documents", Partition: good.Partition, Sort: "a"},
		} {
			t.Log(name)
			_, err := e.store.Get(t.Context(), k)
			is(t, err, table.ErrInvalid)
			_, err = e.store.BatchGet(t.Context(), []table.Key{good, k})
			is(t, err, table.ErrInvalid)
			_, err = e.store.Add(t.Context(), table.Add{Key: k})
			is(t, err, table.ErrInvalid)
			for _, op := range []table.Op{table.Put{Item: table.Item{Key: k}}, table.Delete{Key: k}, table.Check{Key: k}, table.Add{Key: k}} {
				is(t, e.store.Write(t.Context(), op), table.ErrInvalid)
				is(t, e.store.Write(t.Context(), table.Put{Item: table.Item{Key: good}}, op), table.ErrInvalid)
			}
			if k.Sort == "a" {
				_, err = e.store.Query(t.Context(), table.Query{Table: k.Table, Partition: k.Partition})
				is(t, err, table.ErrInvalid)
			}
		}
		e.missing(t, good)
	}},
	{"bad fields are refused", 0, func(t *testing.T, e *env) {
		for name, item := range map[string]table.Item{
			"empty number name":  {Numbers: map[string]int64{"": 1}},
			"empty string name":  {Strings: map[string]string{"": "x"}},
			"long name":          {Numbers: map[string]int64{strings.Repeat("f", table.MaxFieldBytes+1): 1}},
			"name not UTF-8":     {Numbers: map[string]int64{"\xff": 1}},
			"string not UTF-8":   {Strings: map[string]string{"s": "\xff"}},
			"NUL in a name":      {Strings: map[string]string{"a\x00": "x"}},
			"long name, string":  {Strings: map[string]string{strings.Repeat("f", table.MaxFieldBytes+1): ""}},
			"name in surrogates": {Strings: map[string]string{"\xed\xa0\x80": "x"}},
		} {
			t.Log(name)
			item.Key = e.key("a")
			is(t, e.store.Write(t.Context(), table.Put{Item: item}), table.ErrInvalid)
			_, err := e.store.Add(t.Context(), table.Add{Key: item.Key, Numbers: item.Numbers, Strings: item.Strings})
			is(t, err, table.ErrInvalid)
			_, err = e.store.Add(t.Context(), table.Add{Key: item.Key, By: item.Numbers, Strings: item.Strings})
			is(t, err, table.ErrInvalid)
		}
		for _, c := range []table.Condition{table.Is("", "x"), table.Is("f", "\xff"), table.Below("", 1), table.Below("\x00", 1)} {
			is(t, e.store.Write(t.Context(), table.Put{Item: e.item("a"), If: c}), table.ErrInvalid)
		}
		e.missing(t, e.key("a"))
	}},
	{"bad queries are refused", 0, func(t *testing.T, e *env) {
		for name, q := range map[string]table.Query{
			"prefix and range": {Prefix: "a", From: "b"},
			"prefix and end":   {Prefix: "a", To: "b"},
			"negative limit":   {Limit: -1},
			"NUL in a bound":   {From: "a\x00"},
			"bound not UTF-8":  {To: "\xff"},
			"long prefix":      {Prefix: strings.Repeat("s", table.MaxSortBytes+1)},
		} {
			t.Log(name)
			_, err := e.store.Query(t.Context(), e.within(q))
			is(t, err, table.ErrInvalid)
		}
	}},
}
