package httpapi

import (
	"net/http"
	"strings"

	"docent/shared/quota"
)

// reply puts the headers on a reply that every one carries, and answers a GET
// whose If-None-Match names the current version with 304. Nothing is sent before
// the first part of the body is known to fit into the memory that replies have.
type reply struct {
	http.ResponseWriter
	request *request
	r       *http.Request
	status  int
	sent    bool   // the status and the headers
	empty   bool   // the body is dropped
	memory  *lease // nil: not bounded
}

// Unwrap gives http.ResponseController the connection.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader decides the status and the headers, once.
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
	Protect(h)
	if w.request.badCoding {
		h.Set("Accept-Encoding", "gzip") // RFC 9110 section 15.5.16
	}
	for name, value := range quota.Headers(w.request.arrived, w.request.quotas...) {
		h.Set(name, value)
	}
	w.status = status
}

// send sends the status and the headers that were decided.
func (w *reply) send() {
	if !w.sent && w.status != 0 {
		w.sent = true
		w.ResponseWriter.WriteHeader(w.status)
	}
}

// forget takes back what was decided and is not sent, so that another reply can
// stand for it.
func (w *reply) forget() {
	clear(w.Header())
	w.status, w.empty, w.memory = 0, false, nil
}

func (w *reply) Write(body []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.empty {
		return len(body), nil
	}
	if w.memory != nil && !w.sent {
		if err := w.memory.take(int64(len(body))); err != nil {
			w.forget()
			writeError(w, w.r, err)
			w.empty = true // what else there is of it
			return len(body), nil
		}
	}
	w.send()
	return w.ResponseWriter.Write(body)
}
