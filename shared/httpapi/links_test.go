package httpapi_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/httpapi"
)

// inCursor are parameters of the feed that its cursors contain, so that links need not repeat them.
var inCursor = []string{"since", "until"}

// TestLinksKeepEveryParameter: the link to a neighbouring page has every parameter of the list, so that the next page is
// not one of another list. It covers every operation of the document with a Link header, and every parameter of it.
func TestLinksKeepEveryParameter(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.provisioned("acme")
	ada := a.newColleague(acme, "ada@acme.test")
	wiki := a.newCollection(acme.pat, "wiki")
	hook, _ := a.newWebhook(acme.pat, "https://hooks.test/1")
	for _, n := range []string{"1", "2"} {
		a.newCollection(acme.pat, n)
		a.putDocument(acme.key, wiki, "https://x.test/"+n, n, n)
		a.ask(acme.pat, unknownID[:35]+n, "Who?")
		a.newWebhook(acme.pat, "https://hooks.test/more")
		a.do(call{"POST", "/webhook-endpoints/" + hook + "/test", acme.pat, nil, nil}).want(t, 202)
	}
	a.do(call{"GET", "/collections", ada.key, nil, nil}).want(t, 200)
	me := a.do(call{"GET", "/me", acme.pat, nil, nil}).want(t, 200)
	userID, keyID := me.text(t, "user.id"), me.text(t, "key.id")

	queries := map[string][]url.Values{
		"listCollections":       {{}},
		"listDocuments":         {{"collectionId": {wiki}}},
		"listAnswers":           {{}},
		"listApiKeys":           {{}},
		"listDataSources":       {{}},
		"listWebhookEndpoints":  {{}},
		"listWebhookDeliveries": {{}},
		"listSecurityEvents": {{"since": {"2026-11-20T00:00:00Z"}, "until": {"2026-11-23T00:00:00Z"}, "order": {"desc"}, "format": {"ocsf"},
			"eventType": {"collection.created", "webhook_endpoint.created"}, "category": {"data", "configuration"}, "actorId": {userID, "x"}, "outcome": {"success", "failure"}}},
		"getUsage": {{"start": {"2026-11-20"}, "end": {"2026-11-23"}, "granularity": {"hour"}, "timeZone": {"Europe/Berlin"}, "groupBy": {"feature", "apiKey"},
			"feature": {"answers"}, "userId": {userID}, "apiKeyId": {keyID}}, {"start": {"2026-11-20"}, "collectionId": {wiki}}},
		"listUsageUsers": {{"start": {"2026-11-20"}, "end": {"2026-11-23"}}},
	}
	for path, item := range httpapi.OpenAPI(app.Providers()).Paths {
		if item.Get == nil || item.Get.Responses["200"] == nil || item.Get.Responses["200"].Headers["Link"] == nil {
			continue
		}
		of, known := queries[item.Get.OperationID]
		if !known {
			t.Errorf("add queries with all parameters of %s to this test", item.Get.OperationID)
			continue
		}
		delete(queries, item.Get.OperationID)
		for _, p := range item.Get.Parameters {
			given := slices.ContainsFunc(of, func(query url.Values) bool { return query.Has(p.Name) })
			if p.In == "query" && !given && !slices.Contains([]string{"limit", "after", "before"}, p.Name) {
				t.Errorf("add a value of %s to the queries of %s in this test", p.Name, item.Get.OperationID)
			}
		}
		for _, query := range of {
			a.keepsParameters(acme.pat, strings.ReplaceAll(path, "{webhookEndpointId}", hook), query)
		}
	}
	if len(queries) > 0 {
		t.Errorf("no operations with links: %v", slices.Sorted(maps.Keys(queries)))
	}
}

// keepsParameters checks the links of the first two pages.
func (a *api) keepsParameters(key, path string, query url.Values) {
	a.t.Helper()
	query.Set("limit", "1")
	first := a.do(call{"GET", path + "?" + query.Encode(), key, nil, nil}).want(a.t, 200)
	next := first.link(a.t, "next")
	if next == nil {
		a.t.Errorf("%s: no second page: %s", path, first.body)
		return
	}
	second := a.do(call{"GET", path + "?" + next.Encode(), key, nil, nil}).want(a.t, 200)
	for _, link := range []url.Values{next, second.link(a.t, "next"), second.link(a.t, "prev")} {
		for name, values := range query {
			if link != nil && !slices.Equal(link[name], values) && !slices.Contains(inCursor, name) {
				a.t.Errorf("%s: the link has %s=%q, want %q", path, name, link[name], values)
			}
		}
	}
}
