package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
