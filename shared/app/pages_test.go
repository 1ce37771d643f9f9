package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestPagesAndAPI sends each path to the dashboard or to the API.
func TestPagesAndAPI(t *testing.T) {
	t.Parallel()
	echo := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, name+" "+r.URL.Path) })
	}
	whole := withHome(root(withPages(echo("pages"), echo("api"))))
	for _, c := range []struct{ method, path, location, body string }{
		{"GET", "/", "v1/dashboard/", ""},
		{"HEAD", "/", "v1/dashboard/", ""},
		{"GET", "/v1/dashboard", "dashboard/", ""},
		{"GET", "/v1/dashboard/", "", "pages /"},
		{"GET", "/v1/dashboard/main.js", "", "pages /main.js"},
		{"GET", "/v1/dashboards", "", "api /dashboards"},
		{"POST", "/v1/sessions", "", "api /sessions"},
		{"GET", "/v1", "", "api "},
	} {
		w := httptest.NewRecorder()
		whole.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil))
		if got := w.Header().Get("Location"); got != c.location || c.body != "" && w.Body.String() != c.body || (w.Code == 302) != (c.location != "") {
			t.Errorf("%s %s: %d to %q, %q", c.method, c.path, w.Code, got, w.Body)
		}
	}
	if same := withPages(nil, echo("api")); same == nil {
		t.Error("without pages there is no API")
	}
}
