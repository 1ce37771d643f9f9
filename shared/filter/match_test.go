package filter_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"docent/shared/filter"
)

func parse(t testing.TB, text string) *filter.Filter {
	t.Helper()
	f, err := filter.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

// document is what the filters of TestMatch select from.
var document = filter.Attributes{
	Metadata: filter.Metadata{
		"product": filter.Text("api"), "version": filter.Number(3), "draft": filter.Bool(false), "tags": filter.List("a", "2026-11-01"),
		"reviewed": filter.Text("2026-11-01"), "published": filter.Text("2026-11-01T10:00:00+02:00"), "none": filter.List(), "project": filter.Text("own"),
	},
	Facts: filter.Facts{
		Author: "ada", Assignees: []string{"bob", "cy"}, Project: "acme/api", Number: "42", State: "open", Labels: []string{"bug"},
		CreatedAt: time.Date(2026, 11, 1, 8, 0, 0, 500_000_000, time.UTC),
	},
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"product":"api"}`:                                         true,
		`{"product":"API"}`:                                         false,
		`{"product":3}`:                                             false,
		`{"version":3}`:                                             true,
		`{"version":3.0}`:                                           true,
		`{"version":"3"}`:                                           false,
		`{"draft":false}`:                                           true,
		`{"draft":true}`:                                            false,
		`{"draft":0}`:                                               false,
		`{"tags":"a"}`:                                              true,
		`{"tags":"b"}`:                                              false,
		`{"tags":1}`:                                                false,
		`{"tags":"2026-11-01T00:00:00Z"}`:                           true,
		`{"product":"api","version":4}`:                             false,
		`{"product":{"in":["x","api"]}}`:                            true,
		`{"product":{"in":["x",3,true]}}`:                           false,
		`{"version":{"in":["x",3]}}`:                                true,
		`{"tags":{"in":["b","a"]}}`:                                 true,
		`{"version":{"gt":2}}`:                                      true,
		`{"version":{"gt":3}}`:                                      false,
		`{"version":{"gte":3}}`:                                     true,
		`{"version":{"gte":3.5}}`:                                   false,
		`{"version":{"lt":3}}`:                                      false,
		`{"version":{"lt":4}}`:                                      true,
		`{"version":{"lte":3}}`:                                     true,
		`{"version":{"lte":2}}`:                                     false,
		`{"version":{"gt":2,"lt":3}}`:                               false,
		`{"version":{"gte":"2026-01-01"}}`:                          false,
		`{"product":{"gte":1}}`:                                     false,
		`{"product":{"lt":"2026-01-01"}}`:                           false,
		`{"tags":{"gte":"2026-01-01"}}`:                             false,
		`{"draft":{"gte":0}}`:                                       false,
		`{"reviewed":"2026-11-01T00:00:00Z"}`:                       true,
		`{"reviewed":{"gte":"2026-11-01","lt":"2026-11-02"}}`:       true,
		`{"reviewed":{"gt":"2026-11-01T00:00:00Z"}}`:                false,
		`{"published":{"gte":"2026-11-01T08:00:00Z"}}`:              true,
		`{"published":{"gt":"2026-11-01T08:00:00Z"}}`:               false,
		`{"published":"2026-11-01T08:00:00.000Z"}`:                  true,
		`{"product":{"exists":true}}`:                               true,
		`{"product":{"exists":false}}`:                              false,
		`{"unknown":{"exists":false}}`:                              true,
		`{"unknown":{"exists":true}}`:                               false,
		`{"none":{"exists":true}}`:                                  true,
		`{"none":"a"}`:                                              false,
		`{"unknown":"a"}`:                                           false,
		`{"unknown":{"lt":5}}`:                                      false,
		`{"not":{"unknown":"a"}}`:                                   true,
		`{"not":{"product":"api"}}`:                                 false,
		`{"not":{"product":"api","version":4}}`:                     true,
		`{"not":{"not":{"product":"api"}}}`:                         true,
		`{"or":[{"product":"x"},{"version":3}]}`:                    true,
		`{"or":[{"product":"x"},{"version":4}]}`:                    false,
		`{"or":[{"product":"api"}],"version":4}`:                    false,
		`{"and":[{"or":[{"version":3}]},{"or":[{"draft":false}]}]}`: true,
		`{"and":[{"version":3},{"draft":true}]}`:                    false,
		`{"project":"own"}`:                                         true,
		`{"project":"acme/api"}`:                                    false,
		`{"author":"ada"}`:                                          true,
		`{"assignee":"cy"}`:                                         true,
		`{"assignee":{"in":["dan"]}}`:                               false,
		`{"number":"42"}`:                                           true,
		`{"state":{"in":["closed","open"]}}`:                        true,
		`{"labels":"bug"}`:                                          true,
		`{"createdAt":{"gte":"2026-11-01T08:00:00.5Z"}}`:            true,
		`{"createdAt":{"gt":"2026-11-01T08:00:00.5Z"}}`:             false,
		`{"createdAt":{"lt":"2026-11-02"}}`:                         true,
		`{"updatedAt":{"lt":"2027-01-01"}}`:                         false,
		`{"closedAt":{"exists":false}}`:                             true,
		`{"mergedAt":{"exists":true}}`:                              false,
	} {
		if got := parse(t, text).Match(document); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func TestMayMatchLeavesOutOnlyWhatIsCertain(t *testing.T) {
	t.Parallel()
	metadata := filter.Metadata{"product": filter.Text("api"), "state": filter.Text("final")}
	for text, want := range map[string]bool{
		`{"product":"api"}`:                                 true,
		`{"product":"x"}`:                                   false,
		`{"unknown":1}`:                                     false,
		`{"not":{"unknown":1}}`:                             true,
		`{"author":"ada"}`:                                  true, // a fact: nobody knows yet
		`{"not":{"author":"ada"}}`:                          true,
		`{"author":{"exists":false}}`:                       true,
		`{"author":"ada","product":"x"}`:                    false,
		`{"or":[{"author":"ada"},{"product":"x"}]}`:         true,
		`{"or":[{"unknown":1},{"product":"x"}]}`:            false,
		`{"not":{"or":[{"author":"x"},{"product":"api"}]}}`: false,
		`{"not":{"author":"x","product":"api"}}`:            true,
		`{"state":"open"}`:                                  false, // metadata takes precedence over the fact
		`{"state":"final"}`:                                 true,
	} {
		if got := parse(t, text).MayMatch(metadata); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func TestNamesFact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"product":"api"}`:                               false,
		`{"createdAt":{"gte":"2026-01-01"}}`:              true,
		`{"a":1,"or":[{"b":1},{"not":{"assignee":"x"}}]}`: true,
		`{"and":[{"a":1}],"not":{"b":1}}`:                 false,
	} {
		if got := parse(t, text).NamesFact(); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// words are few, so that random filters often match random documents.
var (
	words = []string{"a", "b", "2026-11-01", "2026-11-01T00:00:00Z", "2026-11-02T03:00:00+01:00", "1"}
	names = []string{"x", "y", "labels", "state", "createdAt", "missing"}
)

func drawValue(t *rapid.T) filter.Value {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return filter.Number(float64(rapid.IntRange(-1, 2).Draw(t, "number")))
	case 1:
		return filter.Bool(rapid.Bool().Draw(t, "bool"))
	default:
		return filter.Text(rapid.SampledFrom(words).Draw(t, "text"))
	}
}

func drawMetadata(t *rapid.T) filter.Metadata {
	m := filter.Metadata{}
	for _, name := range names[:5] {
		switch rapid.IntRange(0, 3).Draw(t, name) {
		case 0:
			m[name] = drawValue(t)
		case 1:
			m[name] = filter.List(rapid.SliceOfN(rapid.SampledFrom(words), 0, 3).Draw(t, "list")...)
		}
	}
	return m
}

func drawFacts(t *rapid.T) filter.Facts {
	var f filter.Facts
	f.Labels = rapid.SliceOfN(rapid.SampledFrom(words), 0, 2).Draw(t, "labels")
	f.State = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "state")
	if rapid.Bool().Draw(t, "created") {
		f.CreatedAt = time.Date(2026, 11, rapid.IntRange(1, 2).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
	}
	return f
}

// drawFilter returns decoded JSON of a filter that is at most depth levels deep.
func drawFilter(t *rapid.T, depth int) map[string]any {
	members := map[string]any{}
	for range rapid.IntRange(1, 2).Draw(t, "members") {
		kind := rapid.IntRange(0, 8).Draw(t, "member")
		if depth == 1 {
			kind = min(kind, 5)
		}
		name := rapid.SampledFrom(names).Draw(t, "name")
		switch kind {
		case 0, 1, 2:
			members[name] = drawValue(t)
		case 3:
			members[name] = map[string]any{"in": []any{drawValue(t), drawValue(t)}}
		case 4:
			members[name] = map[string]any{rapid.SampledFrom([]string{"gt", "gte", "lt", "lte"}).Draw(t, "op"): rapid.SampledFrom([]any{1, "2026-11-01"}).Draw(t, "bound")}
		case 5:
			members[name] = map[string]any{"exists": rapid.Bool().Draw(t, "exists")}
		case 6:
			members["not"] = drawFilter(t, depth-1)
		case 7:
			members["or"] = []any{drawFilter(t, depth-1), drawFilter(t, depth-1)}
		default:
			members["and"] = []any{drawFilter(t, depth-1)}
		}
	}
	return members
}
