package jsoninput_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"docent/shared/jsoninput"
)

func TestRepeatedName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		``: false, `{}`: false, `[]`: false, `"a"`: false, `{"a":1}`: false, `{"a":1,"b":1}`: false, `{"a":1,"A":1}`: false, `{"a":"a","b":"a"}`: false,
		`["a","a"]`: false, `[{"a":1},{"a":1}]`: false, `{"a":{"a":{"a":1}}}`: false, `{"a":["a",{"a":1}],"b":{"a":1}}`: false, `{"a":"\"a\":","b":"\\"}`: false,
		`{"a":1,"a":1}`: true, `{"a":1,"b":2,"a":null}`: true, `{"a" : 1 , "a"` + "\n\t" + `:1}`: true, `{"":1,"":2}`: true, `{"b":{"a":1,"a":1}}`: true,
		`[[{"x":[{}],"y":1,"x":[]}]]`: true, `{"a":1,"\u0061":2}`: true, `{"a\\":1,"a\\":2}`: true, `{"\"":1,"\u0022":2}`: true, `{"ä":1,"\u00E4":2}`: true,
		`{"a":{"b":1},"a":{"c":1}}`: true, `{"a":[],"b":{"a":1},"a":1}`: true, `{"😀":1,"\ud83d\ude00":2}`: true,
		`{"a":1,"a`: false, `}{"a":1`: false, `"\`: false, `{"a":1,"a\":1}`: false,
	} {
		if got := jsoninput.RepeatedName([]byte(text)) != ""; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestRepeatedNameSaysWhere: a document has hundreds of members.
func TestRepeatedNameSaysWhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1,"a":1}`: `has an object with two members "a", the second at column 8`,
		"{\"ä\": {\"b\": 1,\n  \"c\": 2, \"b\": 3}}":                                `has an object with two members "b", the second at line 2, column 11`,
		`{"z":1,"a\u000a":2,"\u0061\n":3}`:                                          `has an object with two members "a\n", the second at column 20`,
		`{"` + strings.Repeat("é", 61) + `":1,"` + strings.Repeat("é", 61) + `":2}`: `has an object with two members "` + strings.Repeat("é", 60) + `…", the second at column 68`,
	} {
		if got := jsoninput.RepeatedName([]byte(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// FuzzRepeatedName compares with the tokens of encoding/json.
func FuzzRepeatedName(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"a":{}}],"b":"\"a\":"}`, `{"a":1,"a":2}`, `[{"a\\":1,"\u0061\\":{"b":[]}}]`, ` { "" : 1 , "":2 } `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := jsoninput.RepeatedName(text) != ""
		if !json.Valid(text) || jsoninput.HasLoneSurrogate(text) || !utf8.Valid(text) {
			return
		}
		if want := repeatsName(t, text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	})
}

// repeatsName is RepeatedName by the decoder of encoding/json.
func repeatsName(t *testing.T, text []byte) bool {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value func() (repeated bool)
	value = func() (repeated bool) {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'):
			names := map[string]bool{}
			for d.More() {
				token, err := d.Token()
				name, ok := token.(string)
				if err != nil || !ok {
					t.Fatalf("%v, %v", token, err)
				}
				repeated = repeated || names[name]
				names[name] = true
				repeated = value() || repeated
			}
		case json.Delim('['):
			for d.More() {
				repeated = value() || repeated
			}
		default:
			return false
		}
		if _, err := d.Token(); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		return repeated
	}
	return value()
}
