package source_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"docent/shared/apierr"
	"docent/shared/collection"
	"docent/shared/source"
)

// importLines imports lines into a source.
func (l *library) importLines(id string, lines ...string) source.ImportResult {
	l.t.Helper()
	result, err := l.syncer.Import(l.t.Context(), l.team, id, "r1", []byte(strings.Join(lines, "\n")))
	if err != nil {
		l.t.Fatalf("import: %v", err)
	}
	return result
}

// isField reports whether err refuses that field.
func isField(err error, pointer string) bool {
	var refused *apierr.Error
	return errors.As(err, &refused) && len(refused.Fields) == 1 && refused.Fields[0].Pointer == pointer
}

func docLine(name, more string) string {
	return fmt.Sprintf(`{"uri":"https://shelf.test/i/%s","title":"Title","body":"Body.","sourceType":"documentation"%s}`, name, more)
}

func TestAnImportTakesWhatItCan(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.importLines(l.other(), docLine("taken", ""))
	result := l.importLines(l.id, docLine("1", ""), "", "{", docLine("2", ""), "  ", docLine("taken", ""), docLine("1", `,"author":"ada"`))
	if result.Accepted != 3 || result.Rejected != 2 || len(result.Errors) != 2 || result.Errors[0].Line != 3 || result.Errors[1].Line != 6 {
		t.Errorf("result %+v", result)
	}
	l.wantItems("i/1", "i/2")
	if d := l.listed(l.id); d.State != source.Ready || d.LastSync == nil || !d.LastSync.Equal(l.clock.Now()) {
		t.Errorf("the source shows %+v", d)
	}
}

func TestAnImportMayBeSentAgain(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	newer := docLine("1", `,"author":"newer","updatedAt":"2026-05-02T00:00:00Z"`)
	older := docLine("1", `,"author":"older","updatedAt":"2026-05-01T00:00:00Z"`)
	for _, line := range []string{newer, newer, older} {
		if result := l.importLines(l.id, line); result.Accepted != 1 || result.Rejected != 0 {
			t.Errorf("result %+v", result)
		}
	}
	for e, err := range l.syncer.Documents.Items(t.Context(), l.team, l.id, "documentation", true) {
		if err != nil || e.Facts.Author != "newer" {
			t.Errorf("stored %+v, %v", e, err)
		}
	}
}

func TestAnImportWithoutItemsCountsAsNoSync(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	if result := l.importLines(l.id, "", "[]"); result.Accepted != 0 || result.Rejected != 1 {
		t.Errorf("result %+v", result)
	}
	if d := l.listed(l.id); d.State != source.Connecting || d.LastSync != nil {
		t.Errorf("the source shows %+v", d)
	}
}

func TestTheLinesOfAnImportAreLimited(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	lines := slices.Repeat([]string{"{}"}, source.MaxLines)
	result := l.importLines(l.id, lines...)
	if result.Rejected != source.MaxLines || len(result.Errors) != 100 || result.Errors[99].Line != 100 {
		t.Errorf("%d rejected, %d listed", result.Rejected, len(result.Errors))
	}
	_, err := l.syncer.Import(t.Context(), l.team, l.id, "", []byte(strings.Join(append(lines, docLine("1", "")), "\n")))
	if !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("one line more: %v", err)
	}
	l.wantItems()
}

func TestAnImportIsForAConnectedSourceOfTheTeam(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	wiki, err := l.syncer.Collections.Create(t.Context(), l.team, collection.Fields{Name: "wiki", Description: "Wiki"}, nil, collection.IdempotencyKey{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, team, id, code string }{
		{"of another team", uuid.NewString(), l.id, apierr.CodeNotFound},
		{"an unknown id", l.team, uuid.NewString(), apierr.CodeNotFound},
		{"a collection", l.team, wiki.ID, apierr.CodeInvalidRequest},
	} {
		if _, err := l.syncer.Import(t.Context(), c.team, c.id, "", []byte(docLine("1", ""))); !apierr.IsCode(err, c.code) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestBoundsOfAnItem(t *testing.T) {
	t.Parallel()
	text := func(n int) string { return strings.Repeat("ä", n) }
	list := func(n int) string { return strings.TrimSuffix(strings.Repeat(`"x",`, n), ",") }
	type change = func(line string) string
	set := func(member, value string) change {
		return func(line string) string { return strings.TrimSuffix(line, "}") + fmt.Sprintf(`,%q:%s}`, member, value) }
	}
	replaced := func(old, with string) change {
		return func(line string) string { return strings.Replace(line, old, with, 1) }
	}
	cases := []struct {
		name   string
		change change
		detail string // of the error; empty: it is accepted
	}{
		{"a title of the greatest length", replaced(`"Title"`, `"`+text(1024)+`"`), ""},
		{"a longer title", replaced(`"Title"`, `"`+text(1025)+`"`), "title"},
		{"an empty title", replaced(`"Title"`, `""`), "title"},
		{"a title that is null", replaced(`"Title"`, `null`), "title"},
		{"no body", replaced(`"body":"Body.",`, ""), "body is missing"},
		{"an unknown source type", replaced("documentation", "poem"), "sourceType"},
		{"a relative uri", replaced("https://shelf.test", ""), "uri"},
		{"an author of the greatest length", set("author", `"`+text(256)+`"`), ""},
		{"a longer author", set("author", `"`+text(257)+`"`), "author"},
		{"a project with a control character", set("project", `"a\u0007"`), "project"},
		{"a number of the greatest length", set("number", `"`+text(64)+`"`), ""},
		{"a longer number", set("number", `"`+text(65)+`"`), "number"},
		{"as many labels as there may be", set("labels", "["+list(source.MaxListed)+"]"), ""},
		{"a label more", set("labels", "["+list(source.MaxListed+1)+"]"), "labels"},
		{"an assignee more", set("assignees", "["+list(source.MaxListed+1)+"]"), "assignees"},
		{"a label of the greatest length", set("labels", `["`+text(100)+`"]`), ""},
		{"a longer label", set("labels", `["`+text(101)+`"]`), "label"},
		{"an empty assignee", set("assignees", `[""]`), "assignee"},
		{"labels that are null", set("labels", "null"), ""},
		{"labels that are a text", set("labels", `"x"`), "labels must be a list of texts"},
		{"the first year", set("createdAt", `"1970-01-01T00:00:00Z"`), ""},
		{"a year before", set("createdAt", `"1969-12-31T23:59:59Z"`), "times"},
		{"a time in lower case", set("createdAt", `"2026-01-02t03:04:05z"`), ""},
		{"a time with a comma", set("createdAt", `"2026-01-02T03:04:05,5Z"`), "createdAt must be a time"},
		{"a time of another form", set("closedAt", `"yesterday"`), "closedAt must be a time"},
		{"a state of documentation", set("state", `"open"`), "state"},
		{"a state of an issue", func(line string) string { return set("state", `"Closed"`)(replaced("documentation", "issue")(line)) }, ""},
		{"an issue that is merged", func(line string) string { return set("state", `"merged"`)(replaced("documentation", "issue")(line)) }, "state"},
		{"a merged pull request", func(line string) string {
			return set("state", `"merged"`)(replaced("documentation", "pull_request")(line))
		}, ""},
		{"an unknown member", set("mood", `"good"`), ""},
	}
	l := newLibrary(t, newShelf())
	for n, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			result := l.importLines(l.id, c.change(docLine(fmt.Sprint(n), "")))
			switch {
			case c.detail == "" && (result.Accepted != 1 || result.Rejected != 0):
				t.Errorf("refused: %+v", result.Errors)
			case c.detail != "" && (result.Rejected != 1 || !strings.Contains(result.Errors[0].Detail, c.detail)):
				t.Errorf("result %+v, want an error of %s", result, c.detail)
			}
		})
	}
}
