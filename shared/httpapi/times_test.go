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

// TestTimesInAnAddressAsCollectorsWriteThem: many put +00:00 into an address as it is, where + means a space.
func TestTimesInAnAddressAsCollectorsWriteThem(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, path := range []string{
		"/security-events?since=2026-11-21T09:00:00+00:00&until=2026-11-21T10:00:00.5+00:00",
		"/usage?start=2026-11-21T09:00:00+00:00&end=2026-11-21T10:00:00+00:00",
		"/usage/users?start=2026-11-21T09:00:00+00:00",
	} {
		a.do(call{"GET", path, acme.pat, nil, nil}).want(t, 200)
	}
	encoded := a.do(call{"GET", "/security-events?until=2026-11-21T10:00:00%2B01:00", acme.pat, nil, nil}).want(t, 200)
	plain := a.do(call{"GET", "/security-events?until=2026-11-21T10:00:00+01:00", acme.pat, nil, nil}).want(t, 200)
	if string(encoded.body) != string(plain.body) {
		t.Errorf("%s differs from %s", plain.body, encoded.body)
	}
}
