package httpapi_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// fault is a faulty field in a problem.
type fault struct{ Pointer, Detail string }

// faultsOf returns the faulty fields of a refusal with status 400.
func (a *api) faultsOf(c call) []fault {
	a.t.Helper()
	var problem struct{ Errors []fault }
	a.do(c).wantCode(a.t, 400, "invalid-request").json(a.t, &problem)
	return problem.Errors
}

func TestMetadataOfADocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	put := func(metadata any) (id, tag string) {
		t.Helper()
		body := map[string]any{"collectionId": wiki, "uri": "https://x.test/", "title": "t", "body": "b", "metadata": metadata}
		if metadata == nil {
			delete(body, "metadata")
		}
		reply := a.do(call{"PUT", "/documents", acme.key, body, nil}).want(t, 200)
		return reply.text(t, "id"), reply.Header.Get("ETag")
	}
	shown := func(id string) any {
		t.Helper()
		var one map[string]any
		var all []map[string]any
		a.do(call{"GET", "/documents/" + id, acme.key, nil, nil}).want(t, 200).json(t, &one)
		a.do(call{"GET", "/documents", acme.key, nil, nil}).want(t, 200).json(t, &all)
		if len(all) != 1 || !reflect.DeepEqual(all[0]["metadata"], one["metadata"]) {
			t.Errorf("the list shows %v, the document %v", all, one)
		}
		return one["metadata"]
	}
	given := map[string]any{"product": "api", "version": 3.0, "stable": true, "labels": []any{"draft", "<new>"}, "reviewed": "2026-11-01", "none": nil}
	id, first := put(given)
	want := map[string]any{"product": "api", "version": 3.0, "stable": true, "labels": []any{"draft", "<new>"}, "reviewed": "2026-11-01"}
	if got := shown(id); !reflect.DeepEqual(got, want) {
		t.Errorf("metadata %v, want %v", got, want)
	}
	a.clock.Advance(time.Minute)
	if _, again := put(want); again != first {
		t.Error("the same metadata made a new version")
	}
	for _, next := range []any{map[string]any{"product": "web"}, map[string]any{"product": "web", "version": 1}, nil} {
		a.clock.Advance(time.Minute)
		if _, tag := put(next); tag == first {
			t.Errorf("%v made no new version", next)
		}
	}
	if got := shown(id); got != nil {
		t.Errorf("metadata after a put without any: %v", got)
	}
	_, last := put(map[string]any{})
	if _, tag := put(nil); tag != last {
		t.Error("no metadata and an empty object differ")
	}
	events := a.feed(acme.key, "&eventType=document.replaced").Events
	for _, e := range events {
		if len(e.Changes) != 1 || e.Changes[0].Field != "metadata" || e.Changes[0].To != "changed" || e.Changes[0].From != nil {
			t.Errorf("a change of metadata is recorded as %v", e.Changes)
		}
	}
	if len(events) != 3 {
		t.Errorf("%d events of replaced documents, want 3", len(events))
	}
}

func TestBadMetadata(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	many := map[string]any{}
	for n := range 21 {
		many[fmt.Sprintf("k%d", n)] = n
	}
	for name, c := range map[string]struct {
		metadata any
		pointer  string
	}{
		"a text":                 {"x", "/metadata"},
		"a list":                 {[]string{"x"}, "/metadata"},
		"too many members":       {many, "/metadata"},
		"an object":              {map[string]any{"a": map[string]any{"b": 1}}, "/metadata/a"},
		"a list of numbers":      {map[string]any{"a": []int{1}}, "/metadata/a"},
		"a long text":            {map[string]any{"a": strings.Repeat("x", 257)}, "/metadata/a"},
		"a name that is none":    {map[string]any{"a-b": 1}, "/metadata"},
		"a name that is taken":   {map[string]any{"not": 1}, "/metadata"},
		"more than eight KB":     {map[string]any{"a": slices.Repeat([]string{strings.Repeat("x", 255)}, 32)}, "/metadata"},
		"a number that is large": {map[string]any{"a": 9007199254740993}, "/metadata/a"},
	} {
		body := map[string]any{"collectionId": wiki, "uri": "https://x.test/", "title": "t", "body": "b", "metadata": c.metadata}
		faults := a.faultsOf(call{"PUT", "/documents", acme.key, body, nil})
		if len(faults) != 1 || faults[0].Pointer != c.pointer {
			t.Errorf("%s: %+v, want the pointer %s", name, faults, c.pointer)
		}
	}
	if got := a.members(call{"GET", "/documents", acme.key, nil, nil}, "id"); len(got) != 0 {
		t.Errorf("a refused document is stored: %v", got)
	}
}

func TestMetadataOfItems(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	jira := a.do(call{"POST", "/data-sources", acme.pat, map[string]any{"provider": "jira", "name": "jira"}, nil}).want(t, 201).text(t, "id")
	line := func(uri, metadata string) string {
		return `{"uri":"https://jira.test/` + uri + `","title":"t","body":"b","sourceType":"issue","metadata":` + metadata + `}`
	}
	lines := []string{line("1", `{"team":"red"}`), line("2", `null`), line("3", `{"team":{}}`), line("4", `"x"`), line("5", `{"or":1}`), line("6", `[`)}
	var result struct {
		Accepted int
		Errors   []struct {
			Line   int
			Detail string
		}
	}
	a.do(call{"POST", "/data-sources/" + jira + "/items", acme.pat, strings.Join(lines, "\n"), map[string]string{"Content-Type": "application/x-ndjson"}}).
		want(t, 200).json(t, &result)
	if result.Accepted != 2 || len(result.Errors) != 4 {
		t.Fatalf("%+v", result)
	}
	for i, want := range []string{"metadata/team must be", "metadata must be an object", "metadata must not have a member named", "is not well-formed JSON"} {
		if e := result.Errors[i]; e.Line != i+3 || !strings.HasPrefix(e.Detail, want) {
			t.Errorf("line %d: %s, want %q", e.Line, e.Detail, want)
		}
	}
}
