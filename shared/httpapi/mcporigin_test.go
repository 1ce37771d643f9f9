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
