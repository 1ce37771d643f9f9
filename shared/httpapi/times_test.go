package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestTimesAreReadTheSameEverywhere: RFC 3339 allows t and z, and nothing that time.Parse takes beyond it.
func TestTimesAreReadTheSameEverywhere(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	inQuery := func(path string) func(string) call {
		return func(text string) call { return call{"GET", path + url.QueryEscape(text), acme.pat, nil, nil} }
	}
	inBody := func(path string, body func(text string) map[string]any) func(string) call {
		return func(text string) call { return call{"POST", path, acme.pat, body(text), nil} }
	}
	places := map[string]func(text string) call{
		"since": inQuery("/security-events?since="),
		"until": inQuery("/security-events?until="),
		"start": inQuery("/usage?end=2027-06-01&start="),
		"end":   inQuery("/usage/users?start=2026-11-01&end="),
		"query": inBody("/context/query/issues", func(text string) map[string]any {
			return map[string]any{"query": "bugs", "createdAfter": text}
		}),
		"filter": inBody("/context/search", func(text string) map[string]any {
			return map[string]any{"query": "bugs", "filter": map[string]any{"createdAt": map[string]any{"gt": text}}}
		}),
		"expiry": inBody("/api-keys", func(text string) map[string]any {
			return map[string]any{"kind": "team", "name": "bot", "expiresAt": text}
		}),
	}
	send := func(t *testing.T, c call) *httptest.ResponseRecorder { // not by do: its validator knows no lower case
		t.Helper()
		body, err := json.Marshal(c.body)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), c.method, "/v1"+c.path, strings.NewReader(string(body)))
		if c.body == nil {
			r.Body = http.NoBody
		}
		r.Header.Set("Authorization", "Bearer "+c.key)
		w := httptest.NewRecorder()
		a.handler.ServeHTTP(w, r)
		return w
	}
	for name, of := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"2027-01-01T00:00:00Z", "2027-01-01t00:00:00.5z", "2027-01-01T00:00:00+23:59"} {
				if r := send(t, of(text)); r.Code >= 300 {
					t.Errorf("%s: %d %s", text, r.Code, r.Body)
				}
			}
			for _, text := range []string{"2027-01-01T00:00:00,5Z", "2027-01-01T0:00:00Z", "2027-01-01T00:00:00+24:00", "2027-01-01T00:00:60Z",
				"9999-12-31T23:59:59-23:59", "2027-01-01 00:00:00Z"} {
				if r := send(t, of(text)); r.Code != 400 || !strings.Contains(r.Body.String(), "RFC 3339") {
					t.Errorf("%s: %d %s", text, r.Code, r.Body)
				}
			}
		})
	}
}
