package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// described puts a document with metadata, given as JSON.
func (a *api) described(key, collection, page, body, metadata string) string {
	a.t.Helper()
	return a.do(call{"PUT", "/documents", key, map[string]any{"collectionId": collection, "uri": "https://tracker.test/" + page, "title": page, "body": body,
		"metadata": json.RawMessage(metadata)}, nil}).want(a.t, 200).text(a.t, "id")
}

// manuals puts four documents about one thing, which differ in their metadata.
func (a *api) manuals(x tenant) (collection string) {
	a.t.Helper()
	collection = a.newCollection(x.key, "manuals")
	for page, metadata := range map[string]string{
		"api2": `{"product":"api","version":2,"labels":["draft"],"reviewed":"2026-05-01"}`,
		"api3": `{"product":"api","version":3,"labels":["final","long"],"reviewed":"2026-11-01T08:00:00Z"}`,
		"web1": `{"product":"web","version":1,"public":true}`,
		"bare": `{}`,
	} {
		a.described(x.key, collection, page, "The lighthouse of "+page+" shines red.", metadata)
	}
	a.drain()
	return collection
}

// withFilter returns a call of an operation with a filter, given as JSON.
func withFilter(path, key, query, filter string) call {
	return call{"POST", path, key, map[string]any{"query": query, "filter": json.RawMessage(filter)}, nil}
}

func TestFiltersSelectDocuments(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.manuals(acme)
	for filter, want := range map[string]string{
		`null`:                                              "api2 api3 bare web1",
		`{}`:                                                "api2 api3 bare web1",
		`{"product":"api"}`:                                 "api2 api3",
		`{"product":"api","version":{"gte":3}}`:             "api3",
		`{"labels":{"in":["draft","long"]}}`:                "api2 api3",
		`{"labels":"final"}`:                                "api3",
		`{"reviewed":{"lt":"2026-06-01"}}`:                  "api2",
		`{"reviewed":{"gte":"2026-11-01"}}`:                 "api3",
		`{"public":true}`:                                   "web1",
		`{"product":{"exists":false}}`:                      "bare",
		`{"not":{"product":"api"}}`:                         "bare web1",
		`{"or":[{"version":2},{"public":true}]}`:            "api2 web1",
		`{"unknown":1}`:                                     "",
		`{"not":{"unknown":1}}`:                             "api2 api3 bare web1",
		`{"createdAt":{"gte":"2026-11-21"}}`:                "api2 api3 bare web1",
		`{"createdAt":{"gte":"2026-11-22"}}`:                "",
		`{"createdAt":{"lt":"2026-11-22"},"product":"web"}`: "web1",
		`{"author":"ada"}`:                                  "",
	} {
		for _, path := range []string{"/context/search", "/context/search/documentation"} {
			got := a.do(withFilter(path, acme.key, "lighthouse", filter)).found(t)
			slices.Sort(got)
			if strings.Join(got, " ") != want {
				t.Errorf("%s %s: %v, want %s", path, filter, got, want)
			}
		}
	}
	if got := a.do(withFilter("/context/search/code", acme.key, "lighthouse", `{"product":"api"}`)).found(t); len(got) != 0 {
		t.Errorf("another space: %v", got)
	}
}

func TestFiltersOfResearch(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.manuals(acme)
	for _, effort := range []string{"low", "medium", "high"} {
		request := withFilter("/context/research", acme.key, "What does the lighthouse shine?", `{"version":{"lt":3},"product":"api"}`)
		request.body.(map[string]any)["effort"] = effort
		reply := a.do(request)
		if got := reply.found(t); !slices.Equal(got, []string{"api2"}) || !strings.Contains(reply.text(t, "answer"), "lighthouse of api2") {
			t.Errorf("%s: %v %s", effort, got, reply.text(t, "answer"))
		}
	}
}

func TestFiltersOfQueries(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id := a.tracker(acme)
	a.importItems(acme, id, issue(8, "Login forgets its metadata", map[string]any{"metadata": map[string]any{"team": "red", "author": "committee"}})).want(t, 200)
	a.drain()
	for filter, want := range map[string]string{
		`{"author":"grace"}`:                                "issues/2 issues/3",
		`{"author":"grace","state":"closed"}`:               "issues/2",
		`{"author":"committee"}`:                            "issues/8", // metadata takes precedence
		`{"labels":"ui"}`:                                   "issues/1",
		`{"assignee":"ada"}`:                                "issues/3",
		`{"project":"acme/billing","not":{"labels":"Bug"}}`: "issues/3",
		`{"number":{"in":["4","6"]}}`:                       "issues/4 issues/6",
		`{"closedAt":{"lt":"2026-07-01"}}`:                  "issues/6",
		`{"team":"red"}`:                                    "issues/8",
	} {
		for _, query := range []string{"all issues", "login invoices"} {
			got := a.do(withFilter("/context/query/issues", acme.key, query, filter)).found(t)
			if slices.Sort(got); strings.Join(got, " ") != want {
				t.Errorf("%s, %s: %v, want %s", query, filter, got, want)
			}
		}
		got := a.do(withFilter("/context/search/issues", acme.key, "login invoices", filter)).found(t)
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("search, %s: %v, want %s", filter, got, want)
		}
	}
	if got := a.do(withFilter("/context/query/prs", acme.key, "merged PRs", `{"mergedAt":{"gte":"2026-11-10"}}`)).found(t); !slices.Equal(got, []string{"pulls/7"}) {
		t.Errorf("pull requests: %v", got)
	}
	if got := a.do(withFilter("/context/query/prs", acme.key, "merged PRs", `{"mergedAt":{"gt":"2026-11-10"}}`)).found(t); len(got) != 0 {
		t.Errorf("pull requests merged later: %v", got)
	}
}

func TestFiltersOfQuestions(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.manuals(acme)
	ask := func(id, filter string) response {
		t.Helper()
		return a.do(call{"PUT", "/answers/" + id, acme.key, map[string]any{"question": "What does the lighthouse shine?", "filter": json.RawMessage(filter)}, nil})
	}
	ask(numberedID(1), `{"version":{"gte":3},"product":"api"}`).want(t, 204)
	ask(numberedID(1), `{"product":"api","version":{"gte":3.0}}`).want(t, 204) // the same
	ask(numberedID(1), `{"product":"api"}`).wantCode(t, 409, "answer-conflict")
	ask(numberedID(1), `null`).wantCode(t, 409, "answer-conflict")
	ask(numberedID(2), `{"product":"none"}`).want(t, 204)
	ask(numberedID(3), `{}`).want(t, 204)
	ask(numberedID(3), `null`).want(t, 204)
	a.drain()
	type answer struct {
		Filter     map[string]any
		References []struct{ HTMLURL string }
	}
	for id, want := range map[int]answer{
		1: {map[string]any{"product": "api", "version": map[string]any{"gte": 3.0}}, []struct{ HTMLURL string }{{"https://tracker.test/api3"}}},
		2: {map[string]any{"product": "none"}, nil},
	} {
		var got answer
		a.do(call{"GET", "/answers/" + numberedID(id), acme.key, nil, nil}).want(t, 200).json(t, &got)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("question %d: %v, want %v", id, got, want)
		}
	}
	var all answer
	a.do(call{"GET", "/answers/" + numberedID(3), acme.key, nil, nil}).want(t, 200).json(t, &all)
	if all.Filter != nil || len(all.References) < 2 {
		t.Errorf("without a filter: %+v", all)
	}
}

func TestBadFilters(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	many := make([]string, 21)
	for n := range many {
		many[n] = fmt.Sprintf(`"k%d":%d`, n, n)
	}
	for filter, want := range map[string]fault{
		`"x"`:                               {"/filter", "must be an object"},
		`[]`:                                {"/filter", "must be an object"},
		`{"a":null}`:                        {"/filter/a", "must be a string, a number or a boolean"},
		`{"a":["x"]}`:                       {"/filter/a", "must be a string, a number or a boolean"},
		`{"a":{"near":1}}`:                  {"/filter/a", "must have no member but in, gt, gte, lt, lte and exists"},
		`{"a":{"gte":"soon"}}`:              {"/filter/a/gte", "must be a number, or a date or time as in RFC 3339"},
		`{"not":{"or":[{"b":{}}]}}`:         {"/filter/not/or/0/b", "must be a value or have an operator"},
		`{"not` + marker + `~/":1}`:         {"/filter", "must have names of up to 40 letters, digits and _ that start with a letter"},
		"{" + strings.Join(many, ",") + "}": {"/filter", "must have at most 20 conditions"},
		`{"or":[{"or":[{"or":[{"or":[{"a":1}]}]}]}]}`: {"/filter/or/0/or/0/or/0/or/0", "must not be nested more than 4 levels deep"},
		`{"a":"` + strings.Repeat("x", 9000) + `"}`:   {"/filter", "must have at most 8192 bytes of JSON"},
	} {
		calls := []call{{"PUT", "/answers/" + unknownID, acme.key, map[string]any{"question": "q", "filter": json.RawMessage(filter)}, nil}}
		for _, path := range []string{"/context/search", "/context/search/messages", "/context/research", "/context/query/issues", "/context/query/prs"} {
			calls = append(calls, withFilter(path, acme.key, "q", filter))
		}
		for _, c := range calls {
			faults := a.faultsOf(c)
			if len(faults) != 1 || faults[0].Pointer != want.Pointer || !strings.Contains(faults[0].Detail, strings.TrimPrefix(want.Detail, "must be an ")) {
				t.Errorf("%s %.80s: %+v, want %+v", c.path, filter, faults, want)
			}
		}
	}
	a.refused(call{"GET", "/answers/" + unknownID, acme.key, nil, nil}, 404, "not-found")
}

func TestToolsTakeFilters(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.manuals(acme)
	a.tracker(acme)
	session := a.mcpSession(acme.key)
	a.clock.Step(7_000_000_000) // waiting for an answer is over after three looks
	object := func(text string) (o map[string]any) {
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	for name, c := range map[string]struct{ query, filter, holds, lacks string }{
		"context_search_documentation": {"lighthouse", `{"version":{"lte":2},"product":"api"}`, "/api2", "/api3"},
		"context_research":             {"What does the lighthouse shine?", `{"version":3}`, "/api3", "/api2"},
		"context_query_issues":         {"all issues", `{"author":"grace","state":"open"}`, "issues/3", "issues/2"},
		"context_query_prs":            {"merged PRs", `{"author":"nobody"}`, "", "pulls/7"},
	} {
		text, failed := a.use(session, name, map[string]any{"query": c.query, "filter": object(c.filter)})
		if failed || !strings.Contains(text, c.holds) || strings.Contains(text, c.lacks) {
			t.Errorf("%s: %t %s", name, failed, text)
		}
	}
	for filter, want := range map[string]string{
		`{"a":{"gt":true}}`: "invalid-request: The request is not valid: /filter/a/gt: must be a number, or a date or time as in RFC 3339.",
		`{"or":[]}`:         "invalid-request: The request is not valid: /filter/or: must be a list of filters.",
	} {
		for _, arguments := range []map[string]any{{"query": "q"}, {"question": "q"}} {
			name := "context_search_code"
			if arguments["question"] != nil {
				name = "ask"
			}
			arguments["filter"] = object(filter)
			if text, failed := a.use(session, name, arguments); !failed || !strings.Contains(text, want) {
				t.Errorf("%s %s: %t %s", name, filter, failed, text)
			}
		}
	}
	if text, failed := a.use(session, "context_search_code", map[string]any{"query": "q", "filter": "x"}); !failed || !strings.Contains(text, "filter must be an object") {
		t.Errorf("a text as a filter: %t %s", failed, text)
	}
}
