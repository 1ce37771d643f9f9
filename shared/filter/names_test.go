package filter_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"docent/shared/filter"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"null":       nil,
		`{"b": "x"}`: {"b"},
		`{"b": {"gt": 1, "lt": 2}, "a": {"in": ["x"]}, "or": [{"c": 1}, {"not": {"d": {"exists": true}, "b": 2}}]}`: {"a", "b", "c", "d"},
	} {
		f, err := filter.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Names(); !slices.Equal(got, want) {
			t.Errorf("%s has the names %q, want %q", text, got, want)
		}
	}
}

func TestOnlyNamedMetadataDecides(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(drawFilter(t, filter.MaxDepth))
		if err != nil {
			t.Fatal(err)
		}
		f, err := filter.Parse(text)
		if err != nil {
			return // more conditions than a filter may have
		}
		m := drawMetadata(t)
		named := maps.Clone(m)
		maps.DeleteFunc(named, func(name string, _ filter.Value) bool { return !slices.Contains(f.Names(), name) })
		if f.MayMatch(named) != f.MayMatch(m) {
			t.Fatalf("%s decides otherwise about %v than about %v", f, named, m)
		}
	})
}
