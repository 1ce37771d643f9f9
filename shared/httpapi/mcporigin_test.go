package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPagesOfOtherOriginsCallNoTools: a page that reaches the server by a name of its own has a key in no
// case, but the protocol demands the check.
func TestPagesOfOtherOriginsCallNoTools(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const deployed, local = "https://docent.example/v1", "http://127.0.0.1:8080/v1"
	for _, test := range []struct {
		base, host string
		origins    []string
		want       int
	}{
		{deployed, "docent.example", nil, 200},
		{deployed, "docent.example", []string{"https://docent.example"}, 200},
		{deployed, "docent.example", []string{"chrome-extension://aaaaaaaaaaaaaaaa"}, 200},
		{deployed, "docent.example", []string{"http://docent.example"}, 403},
		{deployed, "docent.example", []string{"https://docent.example:8443"}, 403},
		{deployed, "docent.example", []string{"https://docent.example.evil.test"}, 403},
		{deployed, "docent.example", []string{"http://localhost:6274"}, 403},
		{deployed, "docent.example", []string{"https://docent.example", "https://evil.test"}, 403},
		{deployed, "docent.example", []string{"null"}, 403},
		{deployed, "docent.example", []string{""}, 403},
		{deployed, "docent.example", []string{"https://%zz"}, 403},
		{local, "evil.test:8080", []string{"http://evil.test:8080"}, 403},
		{local, "127.0.0.1:8080", []string{"https://evil.test"}, 403},
		{local, "127.0.0.1:8080", []string{"http://127.0.0.1:8080"}, 200},
		{local, "localhost:8080", []string{"http://localhost:6274"}, 200},
		{local, "[::1]:8080", []string{"http://[::1]:8080"}, 200},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		r.Host = test.host
		r.Header = http.Header{"Authorization": {"Bearer " + acme.key}, "Content-Type": {"application/json"}, "Origin": test.origins}
		w := httptest.NewRecorder()
		a.local.Handler(test.base).ServeHTTP(w, r)
		if reply := w.Body.String(); w.Code != test.want || test.want == 403 && !strings.Contains(reply, `"code":"cross-origin"`) {
			t.Errorf("%s, Origin %q: %d %s, want %d", test.base, test.origins, w.Code, reply, test.want)
		}
	}
}

// TestInspectorsOnTheMachineReadReplies: a browser asks first, without a key, and shows the page nothing unless its origin is allowed.
func TestInspectorsOnTheMachineReadReplies(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const deployed, local = "https://docent.example/v1", "http://127.0.0.1:8080/v1"
	for _, test := range []struct {
		base, origin, key string
		preflight, post   int
		allowed           bool
	}{
		{local, "http://localhost:6274", acme.key, 204, 200, true},
		{local, "http://localhost:6274", "", 204, 401, true},
		{local, "https://evil.test", acme.key, 401, 403, false},
		{deployed, "https://docent.example", acme.key, 204, 200, true},
		{deployed, "http://localhost:6274", acme.key, 401, 403, false},
		{deployed, "null", acme.key, 401, 403, false},
		{local, "", acme.key, 401, 200, false},
	} {
		for method, want := range map[string]int{http.MethodOptions: test.preflight, http.MethodPost: test.post} {
			r := httptest.NewRequestWithContext(t.Context(), method, "/v1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			if method == http.MethodPost {
				r.Header.Set("Content-Type", "application/json")
				if test.key != "" {
					r.Header.Set("Authorization", "Bearer "+test.key)
				}
			}
			w := httptest.NewRecorder()
			a.local.Handler(test.base).ServeHTTP(w, r)
			h := w.Result().Header
			if w.Code != want || (h.Get("Access-Control-Allow-Origin") == test.origin) != (test.allowed || test.origin == "") || (h.Get("Vary") == "Origin") != test.allowed ||
				h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s %s from %q: %d, want %d: %v", method, test.base, test.origin, w.Code, want, h)
			}
			if asked := method == http.MethodOptions && test.allowed; asked != strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") {
				t.Errorf("%s %s from %q allows the headers %q", method, test.base, test.origin, h.Get("Access-Control-Allow-Headers"))
			}
			if w.Code == 401 && method == http.MethodPost && !strings.Contains(h.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
				t.Errorf("an inspector does not see where to ask for access: %v", h)
			}
		}
	}
}
