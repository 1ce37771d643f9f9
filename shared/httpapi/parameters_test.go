package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/app"
	"docent/shared/httpapi"
)

// TestAnEmptyValueDropsNoFilter: an empty value of a list in the query is left out, and the other
// values are still read and bounded.
func TestAnEmptyValueDropsNoFilter(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.newCollection(acme.pat, "wiki")
	get := func(path string) response { // not by do: its validator takes no empty value
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1"+path, nil)
		r.Header.Set("Authorization", "Bearer "+acme.pat)
		w := httptest.NewRecorder()
		a.handler.ServeHTTP(w, r)
		return response{w.Result(), w.Body.Bytes()}.want(t, 200)
	}
	events := func(query string) int {
		var page struct{ Events []struct{ Category string } }
		get("/security-events?"+query).json(t, &page)
		return len(page.Events)
	}
	all, one := events(""), events("eventType=collection.created")
	if one != 1 || all <= one {
		t.Fatalf("%d events, %d of them of a collection", all, one)
	}
	for query, want := range map[string]int{"eventType=": all, "eventType=&eventType=": all, "eventType=&eventType=collection.created": one,
		"eventType=collection.created&eventType=": one, "eventType=&eventType=collection.deleted": 0} {
		if got := events(query); got != want {
			t.Errorf("%s: %d events, want %d", query, got, want)
		}
	}
	many := "eventType=" + strings.Repeat("&eventType=x", 51)
	a.refused(call{"GET", "/security-events?" + many, acme.pat, nil, nil}, 400, "invalid-request")
	get("/usage?start=2026-11-20&groupBy=&groupBy=feature")
	a.refused(call{"GET", "/usage?start=2026-11-20&groupBy=&groupBy=" + marker, acme.pat, nil, nil}, 400, "invalid-request")
}

// TestANameWithoutAValueIsEmpty: what an empty value means, the name alone means too.
func TestANameWithoutAValueIsEmpty(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	document := a.putDocument(acme.pat, a.newCollection(acme.pat, "wiki"), "https://wiki.test/a", "A", "text")
	get := func(path, query string) (int, string) { // not by do: its validator takes no empty value
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1"+path, nil)
		r.Header.Set("Authorization", "Bearer "+acme.pat)
		r.Header.Set("X-Request-Id", "same")
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		a.handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for path, names := range map[string][]string{
		"/documents":                         {"limit", "after", "before", "collectionId", "limit&after", "unknown&limit"},
		"/documents/" + document + "/access": {"user"},
		"/security-events":                   {"limit", "since", "until", "eventType", "order", "format"},
		"/usage/users":                       {"start"},
		"/usage/unanswered":                  {"days", "limit"},
	} {
		for _, name := range names {
			status, body := get(path, name)
			if wantStatus, want := get(path, strings.ReplaceAll(name, "&", "=&")+"="); status != wantStatus || body != want {
				t.Errorf("%s?%s: %d %s, with =: %d %s", path, name, status, body, wantStatus, want)
			}
		}
	}
	if status, body := get("/documents", "collectionId"); status != 200 || !strings.Contains(body, document) {
		t.Errorf("all documents: %d %s", status, body)
	}
}

// TestAQueryThatCannotBeReadIsRefused: a filter with a wrong percent-encoding, or with a semicolon, was dropped, and
// everything was found.
func TestAQueryThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.newCollection(acme.pat, "wiki")
	a.do(call{"PUT", "/team/saml-metadata", acme.pat, samlText, map[string]string{"Content-Type": "application/samlmetadata+xml"}}).want(t, 200)
	get := func(path, query string) *httptest.ResponseRecorder { // not by do: its validator cannot read the query either
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1"+path, nil)
		r.Header.Set("Authorization", "Bearer "+acme.pat)
		r.Header.Set("Accept", "application/json")
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		a.handler.ServeHTTP(w, r)
		return w
	}
	for path, query := range map[string]string{"/documents": "collectionId=%zz", "/security-events": "eventType=%", "/usage": "start=2026-11-20&userId=%2",
		"/scim/v2/Users": `filter=userName+eq+"50%off"`, "/collections": "limit=1&%zz=1"} {
		if r := get(path, query); r.Code != 400 || !strings.Contains(r.Body.String(), "percent-encode") {
			t.Errorf("%s?%s: %d %s", path, query, r.Code, r.Body)
		}
	}
	for path, query := range map[string]string{"/scim/v2/Users": `filter=userName+eq+"a;b"`, "/security-events": "eventType=collection.created;x"} {
		if r := get(path, query); r.Code == 200 && !strings.Contains(r.Body.String(), `"totalResults":0`) {
			t.Errorf("%s?%s: %s", path, query, r.Body)
		}
	}
	a.do(call{"POST", "/scim/v2/Groups", acme.scim, `{"displayName":"Support; sales"}`, nil}).want(t, 201)
	if r := get("/scim/v2/Groups", `filter=displayName+eq+"Support;+sales"`); r.Code != 200 || !strings.Contains(r.Body.String(), `"totalResults":1`) {
		t.Errorf("the group: %d %s", r.Code, r.Body)
	}
}

// TestARepeatedParameterIsRefused, unless it is a list: its first value alone would count, so that an empty one dropped a filter.
func TestARepeatedParameterIsRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	repeat := func(path, name, first, second string) {
		t.Helper()
		begin := "?"
		if strings.Contains(path, "?") {
			begin = "&"
		}
		c := call{"GET", path + begin + name + "=" + first + "&" + name + "=" + second, acme.pat, nil, nil}
		if reply := a.refused(c, 400, "invalid-request"); !strings.Contains(string(reply.body), "/query/"+name+": must have one value") {
			t.Errorf("%s: %s", c.path, reply.body)
		}
	}
	repeat("/documents", "collectionId", "", unknownID)
	again := call{"GET", "/documents?limit=1&limit=1", acme.pat, nil, nil} // by a client that adds its own to those of a Link
	if reply := a.do(again); reply.StatusCode != 200 {
		t.Errorf("%s: %d", again.path, reply.StatusCode)
	}
	otherReaders := []string{"SCIM", "Sessions", "Agents"} // of queries
	repeated := 0
	for path, item := range httpapi.OpenAPI(app.Providers()).Paths {
		if item.Get == nil || strings.Contains(path, "{") || slices.ContainsFunc(item.Get.Tags, func(tag string) bool { return slices.Contains(otherReaders, tag) }) {
			continue
		}
		for _, p := range item.Get.Parameters {
			if p.In == "query" && p.Schema.Type != huma.TypeArray {
				repeated++
				repeat(path, p.Name, "1", "2")
			}
		}
	}
	if repeated < 30 {
		t.Errorf("only %d parameters were repeated", repeated)
	}
}
