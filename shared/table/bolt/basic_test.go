package bolt_test

import (
	"testing"

	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

func TestQueryBothDirectionsWithCursors(t *testing.T) {
	t.Parallel()
	s := bolttest.Open(t)
	for _, sort := range []string{"a", "b", "c", "d", "e"} {
		if err := s.Write(t.Context(), table.Put{Item: item(sort, nil), If: table.Absent()}); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		q    table.Query
		want string
	}{
		{table.Query{}, "abcde"},
		{table.Query{Descending: true}, "edcba"},
		{table.Query{From: "b", To: "d"}, "bcd"},
		{table.Query{From: "b", To: "d", Descending: true}, "dcb"},
		{table.Query{To: "bb", Descending: true}, "ba"},
		{table.Query{From: "bb"}, "cde"},
	} {
		for limit := range 4 {
			q := test.q
			q.Table, q.Partition, q.Limit = table.Documents, "p", limit
			got := ""
			for item, err := range table.All(t.Context(), s, q) {
				if err != nil {
					t.Fatal(err)
				}
				got += item.Sort
			}
			if got != test.want {
				t.Errorf("%+v: %q, want %q", q, got, test.want)
			}
		}
	}
}
