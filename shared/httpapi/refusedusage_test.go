package httpapi_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"docent/shared/team"
)

// outcomes are the calls of a feature in a report of usage.
type outcomes struct{ Requests, OK, Refused, Rejected int64 }

// outcomesOf returns the calls of today by feature.
func (a *api) outcomesOf(key string) map[string]outcomes {
	a.t.Helper()
	var page struct {
		Buckets []struct {
			Results []struct {
				Feature string
				Metrics outcomes
			}
		}
	}
	a.do(call{"GET", "/usage?groupBy=feature&start=" + a.clock.Now().UTC().Format(time.DateOnly), key, nil, nil}).want(a.t, 200).json(a.t, &page)
	all := map[string]outcomes{}
	for _, b := range page.Buckets {
		for _, r := range b.Results {
			all[r.Feature] = r.Metrics
		}
	}
	return all
}

// TestRefusedToolsAreCountedAsRefused: the reply to an agent has the status 200, but usage tells what became of the
// call, as it does for the same call of the operation.
func TestRefusedToolsAreCountedAsRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	_, reader := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "reader", Scopes: []team.Scope{team.ScopeRead}})
	tool := func(key, name string, arguments map[string]any) {
		t.Helper()
		text, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		got := a.rpc(key, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, text), nil)
		if got.Error != nil {
			t.Errorf("%s: %+v", name, got.Error)
		}
	}
	tool(acme.key, "context_search_issues", map[string]any{"query": "login"})
	tool(acme.key, "context_search_issues", map[string]any{"query": ""})
	tool(acme.key, "context_search_issues", map[string]any{"query": "login", "filter": map[string]any{"or": 1}})
	tool(acme.key, "context_query_issues", map[string]any{"query": "my issues"})
	tool(acme.key, "context_get_urls", map[string]any{"urls": []string{}})
	tool(reader, "ask", map[string]any{"question": "Who?"})
	got := a.outcomesOf(acme.key)
	for feature, want := range map[string]outcomes{
		"context.search.issues": {3, 1, 2, 0}, "context.query.issues": {1, 0, 1, 0}, "context.get": {1, 0, 1, 0}, "answers": {1, 0, 1, 0}, "admin": {},
	} {
		if got[feature] != want {
			t.Errorf("%s: %+v, want %+v", feature, got[feature], want)
		}
	}
	denied := a.feed(acme.key, "&eventType=auth.access_denied").Events
	if len(denied) != 1 || denied[0].Outcome.Reason != "missing-scope" {
		t.Errorf("events of the missing scope: %+v", denied)
	}
}

// TestEachRefusedOperationIsReportedSeparately: in usage and in the feed, where one refusal does not hide another.
func TestEachRefusedOperationIsReportedSeparately(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	_, reader := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "reader", Scopes: []team.Scope{team.ScopeRead}})
	for range 3 {
		a.do(call{"GET", "/answers", reader, nil, nil}).wantCode(t, 403, "missing-scope")
		a.do(call{"GET", "/security-events", reader, nil, nil}).wantCode(t, 403, "missing-scope")
		a.do(call{"GET", "/answers", acme.scim, nil, nil}).wantCode(t, 403, "wrong-key-kind")
	}
	paths := map[string]int{}
	for _, e := range a.feed(acme.key, "&eventType=auth.access_denied").Events {
		paths[e.Outcome.Reason+" "+e.Request.Path]++
	}
	if len(paths) != 3 || paths["missing-scope /v1/answers"] != 1 || paths["missing-scope /v1/security-events"] != 1 || paths["wrong-key-kind /v1/answers"] != 1 {
		t.Errorf("events %v", paths)
	}
	got := a.outcomesOf(acme.key)
	if got["answers"].Refused != 6 || got["security_events"].Refused != 3 || got["admin"].Requests != 0 {
		t.Errorf("usage %+v", got)
	}
}

// TestRefusedPathsCountWhereTheyBelong: a method that a path does not have, and a path below a feature that does not
// exist, are refused calls of that feature, not administration.
func TestRefusedPathsCountWhereTheyBelong(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, c := range []struct{ method, path string }{
		{"POST", "/documents"}, {"GET", "/documents/x/y"}, {"PUT", "/collections"}, {"GET", "/context/search"}, {"DELETE", "/security-events"},
		{"POST", "/answers/x"}, {"GET", "/usage/nothing"}, {"GET", "/context/nothing"}, {"GET", "/nothing"},
	} {
		if got := a.do(call{c.method, c.path, acme.key, nil, nil}); got.StatusCode != 404 && got.StatusCode != 405 {
			t.Errorf("%s %s: %d", c.method, c.path, got.StatusCode)
		}
	}
	got := a.outcomesOf(acme.key)
	for feature, want := range map[string]int64{"documents": 2, "collections": 1, "context.search": 1, "security_events": 1, "answers": 1, "usage": 1, "admin": 2} {
		if got[feature].Refused != want {
			t.Errorf("%s: %+v, want %d refused", feature, got[feature], want)
		}
	}
	if len(got) != 7 {
		t.Errorf("features %v", got)
	}
}
