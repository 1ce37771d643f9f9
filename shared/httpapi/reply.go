package httpapi

import (
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"docent/shared/memory"
	"docent/shared/quota"
)

// reply adds the common headers, and answers a GET by its conditions: with 304 if its
// If-None-Match names the current version, and with 412 if its If-Match does not. It keeps the
// body until the request is handled and its other memory is free, then sends it as fast as the
// client reads, at a minimum pace.
type reply struct {
	http.ResponseWriter
	request *request
	r       *http.Request
	status  int
	empty   bool // the body is discarded
	body    []byte
	first   *memory.Lease // nil: not charged
	large   *memory.Lease
	events  *eventStream  // has sent the status and the headers; nil: none
	file    io.ReadCloser // sent instead of body; nil: none
}

// charge charges the body to a, starting now.
func (w *reply) charge(a *account) {
	w.first, w.large = a.first(), a.replies.Lease(a.owner)
}

// bodies has *[]byte: bodies of replies that were sent, to be written over.
var bodies sync.Pool

// mostPooled is the capacity of the largest body in bodies, in bytes.
const mostPooled = 64 << 10

// end returns the memory of the body.
func (w *reply) end() {
	if body := w.body; cap(body) > 0 && cap(body) <= mostPooled {
		body = body[:0]
		bodies.Put(&body)
	}
	w.body = nil
	if w.file != nil {
		_ = w.file.Close() // it was only read
		w.file = nil
	}
	if w.first != nil {
		w.first.End()
		w.large.End()
	}
}

// filePart is how much of a file is in memory while it is sent.
const filePart = 64 << 10

// sendFile makes file the body. It is closed when it is sent, or when the reply is another one.
func (w *reply) sendFile(file io.ReadCloser) error {
	if err := w.reserve(filePart); err != nil {
		_ = file.Close() // unread
		return err
	}
	w.file = file
	return nil
}

// Unwrap returns the connection for http.ResponseController.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader decides the status and the headers, once.
func (w *reply) WriteHeader(status int) {
	if w.status != 0 {
		return // only the first one counts
	}
	h := w.Header()
	if tag := h.Get("ETag"); tag != "" && status == http.StatusOK && (w.r.Method == http.MethodGet || w.r.Method == http.MethodHead) {
		switch status = w.conditional(tag); status {
		case http.StatusPreconditionFailed:
			w.replace(errStale)
			return
		case http.StatusNotModified:
			h.Del("Content-Type")
			h.Del("Content-Length")
		}
	}
	w.empty = w.r.Method == http.MethodHead || status == http.StatusNoContent || status == http.StatusNotModified
	if h.Get("Content-Type") == problemType && !names(w.r.Header.Get("Accept"), problemType) {
		h.Set("Content-Type", "application/json")
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

// conditional returns the status of a GET of a resource whose version has that tag: 200, 304 or 412. SCIM checks If-Match by its
// own rules.
func (w *reply) conditional(tag string) int {
	if required := w.r.Header.Get("If-Match"); required != "" && !listsTag(required, tag, false) && !isSCIM(w.r.URL.Path) {
		return http.StatusPreconditionFailed
	}
	if listsTag(w.r.Header.Get("If-None-Match"), tag, true) {
		return http.StatusNotModified
	}
	return http.StatusOK
}

// sendsBody reports whether the reply to the GET or HEAD of a resource whose version has that tag shows the resource.
func (w *reply) sendsBody(tag string) bool {
	return w.r.Method != http.MethodHead && w.conditional(tag) == http.StatusOK
}

// send writes the status, the headers and the body.
func (w *reply) send() {
	if w.status == 0 || w.events != nil {
		return
	}
	if len(w.body) > 0 && w.Header().Get("Content-Length") == "" {
		w.Header().Set("Content-Length", strconv.Itoa(len(w.body)))
	}
	w.ResponseWriter.WriteHeader(w.status)
	if len(w.body) > 0 {
		writePaced(w.ResponseWriter, w.body, newPace(time.Now, http.NewResponseController(w.ResponseWriter).SetWriteDeadline))
	}
	if w.file != nil && !w.empty {
		out := &pacedWriter{w.ResponseWriter, newPace(time.Now, http.NewResponseController(w.ResponseWriter).SetWriteDeadline)}
		// What is missing after a failure shows in the length. The client is gone or too slow, or the disk fails.
		_, _ = io.CopyBuffer(out, struct{ io.Reader }{w.file}, make([]byte, filePart))
	}
	if w.status < http.StatusBadRequest && (len(w.body) > 0 || w.empty) {
		// The client need not wait while the request is counted; a refusal is recorded
		// before it is sent. A function sends the reply when it has ended anyway.
		_ = http.NewResponseController(w.ResponseWriter).Flush()
	}
}

// forget discards the reply, so that another can replace it. A page that may read the one may read the other.
func (w *reply) forget() {
	maps.DeleteFunc(w.Header(), func(name string, _ []string) bool {
		return !strings.HasPrefix(name, "Access-Control-") && name != "Vary"
	})
	w.status, w.empty = 0, false
	w.end()
	w.first, w.large = nil, nil
}

// replace makes err the reply. What is written after it is dropped.
func (w *reply) replace(err error) {
	w.forget()
	writeError(w, w.r, err)
	w.empty = true
}

func (w *reply) Write(body []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.empty {
		return len(body), nil
	}
	if w.first != nil {
		if err := w.reserve(int64(len(w.body) + len(body))); err != nil {
			w.replace(err)
			return len(body), nil
		}
	}
	if w.body == nil {
		if spare, ok := bodies.Get().(*[]byte); ok {
			w.body = *spare
		}
	}
	w.body = append(w.body, body...)
	return len(body), nil
}

// reserve charges a body of that length.
func (w *reply) reserve(length int64) error {
	if more := min(length, freePart) - w.first.Held(); more > 0 {
		if err := w.first.Try(more); err != nil {
			return err
		}
	}
	if more := length - freePart - w.large.Held(); more > 0 {
		return w.large.Try(more)
	}
	return nil
}
