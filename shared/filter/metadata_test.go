package filter_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"docent/shared/filter"
)

// keys returns metadata of n names.
func keys(n int) string { return conditions(n) }

func TestMetadataBounds(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"20 names":       keys(20),
		"every kind":     `{"a":"b","b":3,"c":-1.5,"d":true,"e":["x","y"],"f":"2026-11-01","g":"2026-11-01T10:00:00Z","h":[],"i":""}`,
		"256 characters": `{"a":"` + strings.Repeat("ü", 256) + `"}`,
		"a list of 50":   `{"a":[` + values(50) + `]}`,
		"a null":         `{"a":null}`,
		"nothing":        `{}`,
		"null":           `null`,
	} {
		var m filter.Metadata
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := m.Check("/metadata"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var m filter.Metadata
	if err := json.Unmarshal([]byte(`{"a":null,"b":1}`), &m); err != nil || len(m) != 1 {
		t.Errorf("null is kept: %v %v", m, err)
	}
}

func TestMetadataRefuses(t *testing.T) {
	t.Parallel()
	long := make([]string, 20)
	for i := range long {
		long[i] = fmt.Sprintf(`"k%02d":["%s","%s"]`, i, strings.Repeat("x", 200), strings.Repeat("y", 210))
	}
	for name, c := range map[string]struct{ text, pointer string }{
		"21 names":                 {keys(21), "/metadata"},
		"an object":                {`{"a":{"b":1}}`, "/metadata/a"},
		"a list of numbers":        {`{"a":[1]}`, "/metadata/a"},
		"a list with null":         {`{"a":[null]}`, "/metadata/a"},
		"a list of lists":          {`{"a":[["x"]]}`, "/metadata"},
		"a list of 51":             {`{"a":[` + values(51) + `]}`, "/metadata/a"},
		"257 characters":           {`{"a":"` + strings.Repeat("ü", 257) + `"}`, "/metadata/a"},
		"257 characters in a list": {`{"a":["` + strings.Repeat("ü", 257) + `"]}`, "/metadata/a"},
		"a name with a blank":      {`{"a b":1}`, "/metadata"},
		"an empty name":            {`{"":1}`, "/metadata"},
		"a name of a combination":  {`{"or":1}`, "/metadata"},
		"a large number":           {`{"a":9007199254740992}`, "/metadata/a"},
		"a number out of range":    {`{"a":1e999}`, "/metadata"},
		"too many bytes":           {"{" + strings.Join(long, ",") + "}", "/metadata"},
		"a list":                   {`["a"]`, "/metadata"},
		"a string":                 {`"a"`, "/metadata"},
	} {
		var m filter.Metadata
		err := filter.Under("/metadata", json.Unmarshal([]byte(c.text), &m))
		if err == nil {
			err = m.Check("/metadata")
		}
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if got := pointerOf(t, err); got != c.pointer {
			t.Errorf("%s: pointer %q, want %q: %v", name, got, c.pointer, err)
		}
	}
}

func TestMetadataEqual(t *testing.T) {
	t.Parallel()
	read := func(text string) (m filter.Metadata) {
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":["x"]}`, `{"b":["x"],"a":1.0}`, true},
		{`{}`, `null`, true},
		{`{"a":-0}`, `{"a":0}`, true},
		{`{"a":["x"]}`, `{"a":"x"}`, false},
		{`{"a":["x","y"]}`, `{"a":["y","x"]}`, false},
		{`{"a":"1"}`, `{"a":1}`, false},
		{`{"a":"2026-11-01"}`, `{"a":"2026-11-01T00:00:00Z"}`, false}, // it is shown as it was written
	} {
		if got := read(c.a).Equal(read(c.b)); got != c.same {
			t.Errorf("%s and %s: equal is %t", c.a, c.b, got)
		}
	}
}

func TestValueString(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]filter.Value{
		"api": filter.Text("api"), "3": filter.Number(3), "true": filter.Bool(true), "a, b": filter.List("a", "b"), "": {},
	} {
		if v.String() != want {
			t.Errorf("%q, want %q", v, want)
		}
	}
}
