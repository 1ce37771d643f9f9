package app

import (
	"net/http"
	"strings"

	"docent/shared/httpapi"
)

// withHome leads from the root to the dashboard, and serves everything else by next.
func withHome(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			lead(w, "v1"+pagesPath+"/")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// lead redirects to a relative path: a stage of API Gateway or a proxy's path may precede it.
func lead(w http.ResponseWriter, path string) {
	httpapi.Protect(w.Header())
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusFound)
}

// pagesPath is where the dashboard is, without /v1.
const pagesPath = "/dashboard"

// withPages serves the dashboard at pagesPath, and the API at every other path. If pages is nil,
// there is no dashboard.
func withPages(pages, api http.Handler) http.Handler {
	if pages == nil {
		return api
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.Path, pagesPath)
		switch {
		case ok && path == "":
			lead(w, "dashboard/")
		case ok && path[0] == '/':
			inner := *r.URL
			inner.Path, inner.RawPath = path, ""
			r = r.WithContext(r.Context()) // a copy: who has called may still read the path
			r.URL = &inner
			pages.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}
