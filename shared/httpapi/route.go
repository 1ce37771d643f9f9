package httpapi

import (
	"context"
	"iter"
	"net/http"
	"path"
	"strings"

	"docent/shared/apierr"
	"docent/shared/usage"
)

// route finds the operation. ServeMux would answer unknown paths and methods as
// plain text and redirect unclean paths.
func (s Services) route(operations *mux, w http.ResponseWriter, r *http.Request) {
	r, err := withReadableQuery(r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	if isSCIM(r.URL.Path) && operations.scim != nil {
		operations.scim(w, r)
		return
	}
	if !isClean(r.URL.Path) {
		writeError(w, r, unknownPath(r.URL.Path))
		return
	}
	if r.Method == http.MethodOptions {
		allow := operations.allowed(r)
		if allow == "" {
			writeError(w, r, unknownPath(r.URL.Path))
			return
		}
		w.Header().Set("Allow", allow)
		if s.isPreflight(r) {
			allowPreflight(w.Header(), allow)
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if _, pattern := operations.Handler(r); pattern != "" {
		requestFrom(r.Context()).route = pattern
		if foreseeable(pattern) {
			usage.OutcomeKnown(r.Context())
		}
		operations.ServeHTTP(w, r)
		return
	}
	if allow := operations.allowed(r); allow != "" {
		w.Header().Set("Allow", allow)
		writeError(w, r, methodNotAllowed(allow))
		return
	}
	writeError(w, r, unknownPath(r.URL.Path))
}

func unknownPath(path string) *apierr.Error {
	if isChat(path) {
		return apierr.New(apierr.NotFound, apierr.CodeNotFound, "No resource exists at this path. Of OpenAI's API there are POST /responses, POST /chat/completions and GET /models.")
	}
	return apierr.New(apierr.NotFound, apierr.CodeNotFound, "No resource exists at this path.")
}

// WriteNotFound answers a request for a path outside the API with a problem object whose
// detail is given.
func WriteNotFound(w http.ResponseWriter, r *http.Request, detail string) {
	writeOutside(w, r, apierr.New(apierr.NotFound, apierr.CodeNotFound, "%s", detail))
}

// WriteMethodNotAllowed answers a request for a path outside the API that supports only the methods in allow.
func WriteMethodNotAllowed(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	writeOutside(w, r, methodNotAllowed(allow))
}

func methodNotAllowed(allow string) *apierr.Error {
	return apierr.New(apierr.MethodNotAllowed, apierr.CodeMethodNotAllowed, "This path supports only %s.", allow)
}

func writeOutside(w http.ResponseWriter, r *http.Request, err error) {
	req := &request{id: requestIDOf(r), chat: isChat(r.URL.Path)}
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, req))
	reply := &reply{ResponseWriter: w, request: req, r: r}
	writeError(reply, r, err)
	reply.send()
}

// pattern returns that of the operation of r, empty if there is none. A ServeMux has one for an unclean path too, to
// which it would redirect. SCIM takes some of those.
func (m *mux) pattern(r *http.Request) string {
	if !isClean(r.URL.Path) && !isSCIM(r.URL.Path) {
		return ""
	}
	_, pattern := m.Handler(r)
	return pattern
}

// isClean reports whether p may be the path of an operation.
func isClean(p string) bool { return strings.HasPrefix(p, "/") && p == path.Clean(p) }

// allowed lists the methods of r's path, empty when the path is unknown.
func (m *mux) allowed(r *http.Request) string {
	var methods []string
	for method := range m.patterns(r) {
		methods = append(methods, method)
	}
	if methods == nil {
		return ""
	}
	return strings.Join(append(methods, http.MethodOptions), ", ")
}

// allOpen reports whether r's path has operations, and none of them requires a key. So no key makes another method work.
func (m *mux) allOpen(r *http.Request) bool {
	found := false
	for _, pattern := range m.patterns(r) {
		if !isOpen(pattern) {
			return false
		}
		found = true
	}
	return found
}

// patterns yields the methods of r's path and their operations.
func (m *mux) patterns(r *http.Request) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			probe := http.Request{Method: method, URL: r.URL, Host: r.Host} // all that a ServeMux looks at
			if _, pattern := m.Handler(&probe); pattern != "" && !yield(method, pattern) {
				return
			}
		}
	}
}
