package jsoninput_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/shared/jsoninput"
)

type person struct {
	Name string `json:"name"`
	Age  *int   `json:"age,omitempty"`
}

type family struct {
	person
	Head    *person         `json:"head"`
	Members []person        `json:"members"`
	Others  [][]*person     `json:"others,omitempty"`
	Any     map[string]any  `json:"any"`
	Raw     json.RawMessage `json:"raw"`
	Hidden  string          `json:"-"`
	Plain   string
}

func TestDecodeTakesExactNames(t *testing.T) {
	t.Parallel()
	seven := 7
	for text, want := range map[string]family{
		`{"name":"a","NAME":"b","Name":null,"age":7.0,"-":"x","Hidden":"x","Plain":"x","plain":"x","note":"x","unknown":[1]}`: {person: person{Name: "a", Age: &seven}},
		`{"Name":"b"}`: {},
		`{"head":{"Name":"b","NAME":"c"},"Members":[{"name":"x"}],"members":[{"NAME":"a"},{"name":"b","age":0.7e1},null],"others":[[{"Name":"x"},null],null]}`: {
			Head: &person{}, Members: []person{{}, {Name: "b", Age: &seven}, {}}, Others: [][]*person{{{}, nil}, nil}},
		`{"head":null,"members":null,"any":{"A":1,"a":2},"raw":{"A":1}}`: {Any: map[string]any{"A": 1.0, "a": 2.0}, Raw: json.RawMessage(`{"A":1}`)},
		`null`: {},
	} {
		var got family
		if err := jsoninput.Decode([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(family{}, person{})); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestDecodeNamesTheFieldOfAWrongType(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`{"head":{"age":"x"}}`: "head.age", `{"members":[{"name":1}]}`: "members.name", `{"members":{}}`: "members",
		`{"head":[]}`: "head", `{"age":1.5}`: "age", `[]`: "", `{"any":[]}`: "any"} {
		err := jsoninput.Decode([]byte(text), new(family))
		var wrong *json.UnmarshalTypeError
		if !errors.As(err, &wrong) || wrong.Field != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{``, `{`, `{"head":`, `x`} {
		if err := jsoninput.Decode([]byte(text), new(family)); err == nil {
			t.Errorf("%q is decoded", text)
		}
	}
}
