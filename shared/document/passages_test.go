package document_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"docent/shared/document"
	"docent/shared/search/text"
)

// FuzzPassages compares the reader of stored passages with encoding/json, on any text and on what is stored.
func FuzzPassages(f *testing.F) {
	for _, stored := range []string{
		`[{"Start":0,"End":12,"Heading":"Fees \u003e Paid"}]`,
		`[{"Start":0,"End":12,"Heading":""},{"Start":12,"End":3000,"Heading":"a\"b\\","Opening":"` + "```go" + `\n\u2028"}]`,
		`null`, `[]`, ``, `[{}]`, `[{"Start":01,"End":1,"Heading":""}]`, `[{"Start":-1,"End":1,"Heading":""}]`,
		`[{"Start":1234567890,"End":1,"Heading":"\ud83d\ude00"}]`, `[{"Start":1,"End":2,"Heading":"` + "\xff\n" + `"}]`,
		`[{"start":1,"End":2,"Heading":"x","Later":true}] `,
	} {
		f.Add(stored, "Fees > Paid", "```\n")
	}
	f.Fuzz(func(t *testing.T, stored, heading, opening string) {
		passages := []text.Passage{{Start: len(stored), End: 7, Heading: heading, Opening: opening, Page: len(heading)}, {Heading: opening}}
		encoded, err := json.Marshal(passages)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{stored, string(encoded)} {
			var want []text.Passage
			refused := json.Unmarshal([]byte(s), &want)
			got, err := document.PassagesFrom(s)
			if (err == nil) != (refused == nil) || err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%q: %+v, %v, want %+v, %v", s, got, err, want, refused)
			}
		}
	})
}

// TestPassagesAreReadDirectly: a form that chunkItem stores is not left to encoding/json.
func TestPassagesAreReadDirectly(t *testing.T) {
	t.Parallel()
	passages := []text.Passage{{End: 12, Heading: "Fees > Paid & more"}, {Start: 12, End: 1 << 20, Heading: "", Opening: "| a | b |\n|---|---|\n", Page: 7}, {Start: 2 << 20, Page: 12}}
	encoded, err := json.Marshal(passages)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := document.ReadPassages(string(encoded)); !ok || !reflect.DeepEqual(got, passages) {
		t.Errorf("%+v, %v", got, ok)
	}
}
