package app_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"docent/shared/app"
)

// openLocal opens an empty data folder until the test ends.
func openLocal(t *testing.T, log slog.Handler) *app.Local {
	t.Helper()
	local, err := app.OpenLocal(t.Context(), t.TempDir(), app.LocalOptions{Log: slog.New(log), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	})
	return local
}

// TestOutsideOfTheAPIErrorsHaveItsShape: a client that forgot /v1 gets the usual problem object.
func TestOutsideOfTheAPIErrorsHaveItsShape(t *testing.T) {
	t.Parallel()
	local := openLocal(t, slog.DiscardHandler)
	handler := local.Handler("https://docent.test/v1")
	for _, path := range []string{"/", "/collections", "/v1x", "/v2/collections", "/scim/v2"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.Header.Set("X-Request-Id", "mine")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if path == "/scim/v2" { // whose clients read RFC 7644's errors
			if w.Code != http.StatusNotFound || w.Header().Get("X-Request-Id") != "mine" {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
			continue
		}
		var p struct {
			Status                               int
			Type, Title, Detail, Code, RequestID string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatalf("%s: %s", path, w.Body)
		}
		if w.Code != http.StatusNotFound || p.Status != w.Code || p.Code != "not-found" || p.Type == "" || p.Title == "" ||
			p.Detail != "The API is under /v1." || p.RequestID != "mine" || w.Header().Get("X-Request-Id") != "mine" {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
	}
}

// TestReadinessIsRead: GET and HEAD tell it, and other methods are refused as elsewhere.
func TestReadinessIsRead(t *testing.T) {
	t.Parallel()
	handler := openLocal(t, slog.DiscardHandler).Handler("https://docent.test/v1")
	for method, want := range map[string]int{http.MethodGet: 200, http.MethodHead: 200, http.MethodPost: 405, http.MethodDelete: 405, http.MethodOptions: 405} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/healthz", http.NoBody))
		if w.Code != want || want == 405 && (w.Header().Get("Allow") != "GET, HEAD" || w.Header().Get("X-Request-Id") == "") {
			t.Errorf("%s: %d %v %s", method, w.Code, w.Header(), w.Body)
		}
	}
}
