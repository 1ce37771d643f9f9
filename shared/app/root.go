package app

import (
	"io"
	"net/http"
	"strings"

	"docent/shared/httpapi"
)

// root serves the API under /v1, and /healthz.
func root(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && r.Method != http.MethodGet && r.Method != http.MethodHead {
			httpapi.WriteMethodNotAllowed(w, r, "GET, HEAD")
			return
		}
		if r.URL.Path == "/healthz" {
			w.Header().Set("Content-Type", "application/json")
			httpapi.Protect(w.Header())
			_, _ = io.WriteString(w, `{"status":"ok"}`)
			return
		}
		if path, ok := wellKnown(r.URL.Path); ok {
			inner := *r.URL
			inner.Path, inner.RawPath = path, ""
			r = r.WithContext(r.Context())
			r.URL = &inner
		}
		if path, ok := strings.CutPrefix(r.URL.Path, "/v1"); ok && strings.HasPrefix(path+"/", "/") {
			inner := *r.URL
			inner.Path = path
			inner.RawPath = strings.TrimPrefix(r.URL.RawPath, "/v1")
			r = r.WithContext(r.Context())
			r.URL = &inner
			api.ServeHTTP(w, r)
			return
		}
		httpapi.WriteNotFound(w, r, "The API is under /v1.")
	})
}

// wellKnown returns the path under /v1 of metadata that clients look for at the root, with the path of
// what it describes behind its name (RFC 8414 section 3.1, RFC 9728 section 3.1).
func wellKnown(path string) (string, bool) {
	const root = "/.well-known/"
	name, ok := strings.CutPrefix(path, root)
	if !ok {
		return "", false
	}
	name, of, ok := strings.Cut(name, "/v1")
	return "/v1" + root + name + of, ok
}
