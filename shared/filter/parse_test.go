package filter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"docent/shared/apierr"
	"docent/shared/filter"
)

// pointerOf returns the pointer of the one fault of err.
func pointerOf(t *testing.T, err error) string {
	t.Helper()
	var refused *apierr.Error
	if !errors.As(err, &refused) || refused.Kind != apierr.Invalid || len(refused.Fields) != 1 {
		t.Fatalf("not a refusal of one field: %v", err)
	}
	return refused.Fields[0].Pointer
}

// conditions returns a filter of n conditions.
func conditions(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"k%02d":%d`, i, i)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// nested returns a filter that is depth levels deep.
func nested(depth int, inner string) string {
	if depth == 1 {
		return inner
	}
	return `{"or":[` + nested(depth-1, inner) + `]}`
}

// values returns n values as the elements of a list.
func values(n int) string { return strings.TrimSuffix(strings.Repeat(`"x",`, n), ",") }

func TestParseTakesItsBounds(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"20 conditions":              conditions(20),
		"20 operators":               `{"or":[` + conditions(18) + `,{"a":{"gt":1,"lt":2}}]}`,
		"4 levels":                   nested(4, `{"a":{"in":["b"]}}`),
		"a list of 50":               `{"a":{"in":[` + values(50) + `]}}`,
		"256 characters":             `{"a":"` + strings.Repeat("ü", 256) + `"}`,
		"the largest number":         `{"a":9007199254740991,"b":-9007199254740991}`,
		"a name of 40 characters":    `{"` + strings.Repeat("a", 40) + `":1}`,
		"a date, a time, a fraction": `{"a":{"gte":"2026-01-01","lt":"2026-01-01T00:00:00.5+02:00"}}`,
		"the same name twice":        `{"a":1,"a":2}`,
	} {
		f, err := filter.Parse([]byte(text))
		if err != nil || f == nil {
			t.Errorf("%s: %v %v", name, f, err)
			continue
		}
		again, err := filter.Parse([]byte(f.String()))
		if err != nil || again.String() != f.String() {
			t.Errorf("%s: %s is read as %v: %v", name, f, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, pointer string }{
		"21 conditions":              {conditions(21), ""},
		"21 conditions in parts":     {`{"or":[` + conditions(10) + `,` + conditions(11) + `]}`, ""},
		"5 levels":                   {nested(5, `{"a":1}`), "/or/0/or/0/or/0/or/0"},
		"many levels":                {strings.Repeat(`{"not":`, 100) + "1" + strings.Repeat("}", 100), ""},
		"too many bytes":             {`{"a":"` + strings.Repeat("x", filter.MaxBytes) + `"}`, ""},
		"a long number":              {`{"a":` + strings.Repeat("1", 101) + `}`, ""},
		"a number out of range":      {`{"a":1e999}`, ""},
		"a number that is not exact": {`{"a":9007199254740992}`, "/a"},
		"257 characters":             {`{"a":"` + strings.Repeat("ü", 257) + `"}`, "/a"},
		"a list of 51":               {`{"a":{"in":[` + values(51) + `]}}`, "/a/in"},
		"no list":                    {`{"a":{"in":"b"}}`, "/a/in"},
		"an empty list":              {`{"a":{"in":[]}}`, "/a/in"},
		"a list of lists":            {`{"a":{"in":[["b"]]}}`, "/a/in"},
		"null as a value":            {`{"a":null}`, "/a"},
		"null in a list":             {`{"a":{"in":[null]}}`, "/a/in"},
		"a list as a value":          {`{"a":["b"]}`, "/a"},
		"no operator":                {`{"a":{}}`, "/a"},
		"an unknown operator":        {`{"a":{"gte":1,"near":2}}`, "/a"},
		"a word compared":            {`{"a":{"gt":"soon"}}`, "/a/gt"},
		"a boolean compared":         {`{"a":{"lte":true}}`, "/a/lte"},
		"a year compared":            {`{"a":{"gte":"2026"}}`, "/a/gte"},
		"exists of a word":           {`{"a":{"exists":"yes"}}`, "/a/exists"},
		"an impossible name":         {`{"a-b":1}`, ""},
		"a name of 41 characters":    {`{"` + strings.Repeat("a", 41) + `":1}`, ""},
		"or of an object":            {`{"or":{"a":1}}`, "/or"},
		"or of nothing":              {`{"or":[]}`, "/or"},
		"and of a value":             {`{"and":[{"a":1},2]}`, "/and/1"},
		"an empty filter inside":     {`{"or":[{"a":1},{}]}`, "/or/1"},
		"not of a list":              {`{"not":[{"a":1}]}`, "/not"},
		"not of nothing":             {`{"not":{}}`, "/not"},
		"a fault deep inside":        {`{"a":1,"not":{"or":[{"b":2},{"c":{"gt":false}}]}}`, "/not/or/1/c/gt"},
		"a list":                     {`[{"a":1}]`, ""},
		"a string":                   {`"a"`, ""},
		"no JSON":                    {`{"a":`, ""},
		"nothing":                    {``, ""},
	} {
		f, err := filter.Parse([]byte(c.text))
		if err == nil {
			t.Errorf("%s: %v is accepted", name, f)
			continue
		}
		if got := pointerOf(t, err); got != c.pointer {
			t.Errorf("%s: pointer %q, want %q: %v", name, got, c.pointer, err)
		}
		if got, want := pointerOf(t, filter.Under("/filter", err)), "/filter"+c.pointer; got != want {
			t.Errorf("%s: under /filter the pointer is %q, want %q", name, got, want)
		}
	}
}

func TestNoFilter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"null", "{}", " { } "} {
		if f, err := filter.Parse([]byte(text)); f != nil || err != nil {
			t.Errorf("%s: %v %v", text, f, err)
		}
	}
	var none *filter.Filter
	if !none.Match(filter.Attributes{}) || !none.MayMatch(nil) || none.String() != "" || none.NamesFact() {
		t.Error("no filter does not select everything")
	}
	one := parse(t, `{"a":1}`)
	if none.OrNil() != nil || new(filter.Filter).OrNil() != nil || one.OrNil() != one {
		t.Error("a filter is nil if, and only if, it has no conditions")
	}
}

func TestFilterInsideOtherJSON(t *testing.T) {
	t.Parallel()
	type stored struct {
		Filter *filter.Filter `json:"filter,omitempty"`
	}
	var s stored
	if err := json.Unmarshal([]byte(`{"filter":{"b":{"lt":2,"gt":1},"a":"<x>"}}`), &s); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Filter.String(), `{"a":"<x>","b":{"gt":1,"lt":2}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again stored
	if err := json.Unmarshal(text, &again); err != nil || again.Filter.String() != s.Filter.String() {
		t.Errorf("%s is read as %s: %v", text, again.Filter, err)
	}
	if text, err = json.Marshal(stored{}); err != nil || string(text) != "{}" {
		t.Errorf("no filter is stored as %s: %v", text, err)
	}
}

// FuzzParse checks that whatever Parse accepts keeps its bounds and its text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"product":"api","version":{"gte":2},"labels":{"in":["draft"]},"not":{"a":true},"or":[{"b":1e2},{"and":[{"c":{"exists":false}}]}]}`,
		`{"a":{"gt":"2026-11-01","lte":"2026-11-01T10:00:00Z"}}`, `{"\u0061":"\ud83d\ude00"}`, `null`, `{}`, `{"a":-0}`, `[`, `{"or":[{}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := filter.Parse(text)
		if err != nil {
			_ = pointerOf(t, err)
			return
		}
		if parsed == nil {
			return
		}
		again, err := filter.Parse([]byte(parsed.String()))
		if len(parsed.String()) > filter.MaxBytes {
			return // characters that are longer escaped
		}
		if err != nil || again.String() != parsed.String() {
			t.Fatalf("%s is read as %v: %v", parsed, again, err)
		}
		if parsed.Match(filter.Attributes{}) && !parsed.MayMatch(nil) {
			t.Fatalf("%s matches what it may not match", parsed)
		}
	})
}
