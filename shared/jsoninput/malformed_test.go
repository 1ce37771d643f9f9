package jsoninput_test

import (
	"encoding/json"
	"testing"

	"docent/shared/jsoninput"
)

func TestMalformed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`:                         "is not well-formed JSON: it ends too early",
		``:                          "is not well-formed JSON: it ends too early",
		"\ufeff{}":                  "is not well-formed JSON: it begins with a byte order mark, which JSON must not have",
		`x`:                         "is not well-formed JSON at column 1",
		`{"ä":1,}`:                  "is not well-formed JSON at column 8",
		"{\n  \"name\": \"ä\",}":    "is not well-formed JSON at line 2, column 15",
		"{}\nx":                     "is not well-formed JSON at line 2, column 1",
		`{'name':'a'}`:              "is not well-formed JSON at column 2: strings are in double quotes",
		"{\"name\":\"a\nb\"}":       `is not well-formed JSON at line 1, column 11: in a string, line breaks and other control characters are escaped, as in \n`,
		`{"name":"C:\docs"}`:        `is not well-formed JSON at column 13: in a string, a backslash is escaped, as in \\`,
		`{"name":1e400}`:            "",
		`{"name":"of another type"`: "is not well-formed JSON: it ends too early",
	} {
		var into map[string]float64
		if got := jsoninput.Malformed([]byte(text), json.Unmarshal([]byte(text), &into)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzMalformed(f *testing.F) {
	f.Add([]byte(`{"a":`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var into any
		err := json.Unmarshal(text, &into)
		if got := jsoninput.Malformed(text, err); (got != "") != !json.Valid(text) {
			t.Errorf("%q: %q of %v", text, got, err)
		}
	})
}
