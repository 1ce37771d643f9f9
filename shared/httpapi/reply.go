package httpapi

import (
	"net/http"
	"strings"

	"docent/shared/quota"
)

// reply puts the headers on a reply that every one carries, and answers a GET
// whose If-None-Match names the current version with 304.
type reply struct {
	http.ResponseWriter
	request *request
	r       *http.Request
	status  int
	empty   bool // the body is dropped
}

// Unwrap gives http.ResponseController the connection.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends the headers, once.
func (w *reply) WriteHeader(status int) {
	if w.status != 0 {
		return // the first one stands
	}
	h := w.Header()
	get := w.r.Method == http.MethodGet || w.r.Method == http.MethodHead
	if wanted, tag := strings.Join(w.r.Header.Values("If-None-Match"), ","), h.Get("ETag"); get && status == http.StatusOK && tag != "" && listsTag(wanted, tag, true) {
		status = http.StatusNotModified
		h.Del("Content-Type")
		h.Del("Content-Length")
	}
	w.empty = w.r.Method == http.MethodHead || status == http.StatusNoContent || status == http.StatusNotModified
	if h.Get("Content-Type") == "application/json" && status >= 400 && strings.Contains(w.r.Header.Get("Accept"), "application/problem+json") {
		h.Set("Content-Type", "application/problem+json")
	}
	h.Set("X-Request-Id", w.request.id)
	if w.request.badCoding {
		h.Set("Accept-Encoding", "gzip") // RFC 9110 section 15.5.16
	}
	for name, value := range quota.Headers(w.request.arrived, w.request.quotas...) {
		h.Set(name, value)
	}
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *reply) Write(body []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.empty {
		return len(body), nil
	}
	return w.ResponseWriter.Write(body)
}
