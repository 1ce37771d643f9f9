package answer_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"docent/shared/access"
	"docent/shared/answer"
)

var states = []answer.State{answer.Processing, answer.Complete, answer.Failed}

// drawAnswer returns an answer in any state, asked with any key.
func drawAnswer(rt *rapid.T) answer.Answer {
	a := answer.Answer{QuestionID: uuid.NewString(), Fields: answer.Fields{Question: rapid.String().Draw(rt, "question"), Sources: drawSources(rt)},
		State: rapid.SampledFrom(states).Draw(rt, "state"), AskedAt: time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(rt, "asked")).UTC(),
		TeamID: "acme", UserID: rapid.SampledFrom([]string{"", "ada", "bob"}).Draw(rt, "user")}
	switch a.State {
	case answer.Complete:
		a.Markdown = rapid.String().Draw(rt, "markdown")
		for range rapid.IntRange(0, 3).Draw(rt, "references") {
			a.References = append(a.References, answer.Reference{HTMLURL: rapid.String().Draw(rt, "url"), Title: rapid.String().Draw(rt, "title")})
		}
	case answer.Failed:
		a.Failure = &answer.Failure{Code: answer.TimedOut, Detail: rapid.String().Draw(rt, "detail")}
	}
	return a
}

// drawSources returns a restriction: nil is none, and an empty one allows nothing.
func drawSources(rt *rapid.T) []string {
	if rapid.Bool().Draw(rt, "not restricted") {
		return nil
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"wiki", "guide", "chat", "code"}), 0, 4, rapid.ID[string]).Draw(rt, "sources")
}

func TestAnswerIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := drawAnswer(rt)
		got, item, err := answer.Stored(a)
		if err != nil {
			rt.Fatal(err)
		}
		if !reflect.DeepEqual(got, a) {
			rt.Fatalf("%+v, want %+v", got, a)
		}
		// Conditions need these outside the body.
		if item.Strings["state"] != string(a.State) || item.Strings["team"] != a.TeamID || item.Strings["user"] != a.UserID {
			rt.Fatalf("fields %v of %+v", item.Strings, a)
		}
	})
}

// Who may read an answer may also read it with a wider key. No key reads what was asked
// with a wider key than itself.
func TestMayRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := drawAnswer(rt)
		asker := answer.Asker{Reader: access.Everything(), UserID: rapid.SampledFrom([]string{"", "ada", "bob"}).Draw(rt, "reader"), Sources: drawSources(rt)}
		own := asker.UserID == "" || asker.UserID == a.UserID
		within := asker.Sources == nil ||
			a.Sources != nil && !slices.ContainsFunc(a.Sources, func(s string) bool { return !slices.Contains(asker.Sources, s) })
		if got := asker.MayRead("acme", a); got != (own && within) {
			rt.Fatalf("%+v reads %+v: %v", asker, a, got)
		}
		if asker.MayRead("rival", a) {
			rt.Fatal("another team reads it")
		}
	})
}

// The entries of a list alone decide what a restricted key may see.
func TestListEntriesKeepTheRestriction(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := drawAnswer(rt)
		entries := answer.EntriesOf(a)
		want := 1
		if a.UserID != "" {
			want = 2
		}
		if len(entries) != want {
			rt.Fatalf("%d lists, want %d", len(entries), want)
		}
		for list, sources := range entries {
			if (sources == nil) != (a.Sources == nil) || !slices.Equal(sources, a.Sources) {
				rt.Fatalf("%s shows %v, want %v", list, sources, a.Sources)
			}
		}
	})
}

func TestValidID(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, id string
		ok       bool
	}{
		{"a UUID", "3f0d5f0a-7a52-4c61-9a43-6b8f0f6c2b11", true},
		{"in capitals", "3F0D5F0A-7A52-4C61-9A43-6B8F0F6C2B11", false},
		{"without hyphens", "3f0d5f0a7a524c619a436b8f0f6c2b11", false},
		{"in braces", "{3f0d5f0a-7a52-4c61-9a43-6b8f0f6c2b11}", false},
		{"as a urn", "urn:uuid:3f0d5f0a-7a52-4c61-9a43-6b8f0f6c2b11", false},
		{"one digit less", "3f0d5f0a-7a52-4c61-9a43-6b8f0f6c2b1", false},
		{"nothing", "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := answer.ValidID(c.id); got != c.ok {
				t.Errorf("%q: %v", c.id, got)
			}
		})
	}
}
