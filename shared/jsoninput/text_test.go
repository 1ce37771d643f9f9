package jsoninput_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"docent/shared/jsoninput"
)

// FuzzText compares CutString and Members with encoding/json.
func FuzzText(f *testing.F) {
	for _, seed := range []string{`""`, `"a\"b\\c\/\b\f\n\r\t\u00e9\u2028"`, `"\ud83d\ude00"`, `"\ud800"`, "\"\xff\"", "\"a\nb\"", `"\`, `"a`, `"\x"`, `"\u12"`,
		`"\u+123"`, `{}`, ` { } `, `{"a":1}`, ` { "a" : [ {"b": "}"} , 2 ] , "c" : "\"," , "a" : null } `, `{"a\u0062":"\ud800"}`, `{"\ud800":1}`, `[]`, `{"a":}`, `null`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value, rest, ok := jsoninput.CutString(text)
		if again, left, same := jsoninput.CutString(string(text)); again != value || left != string(rest) || same != ok {
			t.Errorf("%q: %q, %q, %v, as a string %q, %q, %v", text, value, rest, ok, again, left, same)
		}
		if ok {
			var want string
			if err := json.Unmarshal(text[:len(text)-len(rest)], &want); err != nil || value != want {
				t.Errorf("%q: %q, want %q, %v", text, value, want, err)
			}
		}
		members, ok := jsoninput.Members(text)
		if !ok || !json.Valid(text) {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil || len(members) != len(want) {
			t.Errorf("%q: %q, want %q, %v", text, members, want, err)
		}
		for name, value := range want {
			if !bytes.Equal(members[name], value) {
				t.Errorf("%q: member %q is %q, want %q", text, name, members[name], value)
			}
		}
	})
}

// TestUsualTextIsRead: what clients usually send is not left to encoding/json.
func TestUsualTextIsRead(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("# Größe\n\n\"quoted\" <tag> \\ \t", 100)
	encoded, err := json.Marshal(map[string]any{"title": "A & B", "body": body, "limit": 3})
	if err != nil {
		t.Fatal(err)
	}
	members, ok := jsoninput.Members(encoded)
	if !ok || len(members) != 3 || string(members["limit"]) != "3" {
		t.Fatalf("%q, %v", members, ok)
	}
	if got, rest, ok := jsoninput.CutString(members["body"]); got != body || len(rest) > 0 || !ok {
		t.Errorf("%q, %q, %v", got, rest, ok)
	}
	if !reflect.DeepEqual(members["title"], []byte(`"A \u0026 B"`)) {
		t.Errorf("title %q", members["title"])
	}
}

// TestAllMembersReadsWhatMembersLeaves: a name with a surrogate pair, null, and what is not an object.
func TestAllMembersReadsWhatMembersLeaves(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string][]byte{
		`{"a":1,"b":"x","a":[2]}`:  {"a": []byte("[2]"), "b": []byte(`"x"`)},
		`{"\ud83d\ude00":{"c":0}}`: {"😀": []byte(`{"c":0}`)},
		`{}`:                       {},
		`null`:                     nil,
	} {
		got, err := jsoninput.AllMembers([]byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{`[]`, `"a"`, `1`, `true`} {
		if got, err := jsoninput.AllMembers([]byte(text)); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestHasLoneSurrogate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		``: false, `{}`: false, `"plain"`: false, `"\ud83d\ude00"`: false, `"\uD83D\uDE00"`: false, `"\\ud800"`: false, `"\\\ud800"`: true, `"\u00e9\n\\"`: false,
		`"\ud83d\ude00\ud83d\ude00"`: false, `"\ufffd"`: false, `"\ud7ff\ue000"`: false,
		`"\ud800"`: true, `"\udc00"`: true, `"\ud83d"`: true, `"\ude00\ud83d"`: true, `"\ud83d\ud83d\ude00"`: true, `"\ud83dx\ude00"`: true, `"\ud83d\n"`: true,
		`{"\udBFF":1}`: true, `"\ud83d\\ude00"`: true, `"\ud83`: false, `"\ud83d\`: true, `\`: false, `"\u+d80"`: false,
	} {
		if got := jsoninput.HasLoneSurrogate([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// FuzzHasLoneSurrogate compares with encoding/json, which decodes half of a pair as U+FFFD.
func FuzzHasLoneSurrogate(f *testing.F) {
	for _, seed := range []string{`"\ud83d\ude00"`, `"\ud800"`, `"\\ud800\u0041"`, `"\ud83d\ud83d\ude00"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var value string
		if strings.Contains(strings.ToLower(text), "fffd") || strings.ContainsRune(text, '\uFFFD') || json.Unmarshal([]byte(text), &value) != nil {
			return
		}
		if got, want := jsoninput.HasLoneSurrogate([]byte(text)), strings.ContainsRune(value, '\uFFFD'); got != want {
			t.Errorf("%q: %v, decoded %q", text, got, value)
		}
	})
}
