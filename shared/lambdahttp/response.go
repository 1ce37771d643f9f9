package lambdahttp

import (
	"fmt"
	"log/slog"
	"net/http"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
)

// writer collects a response by the rules of net/http: the first status counts,
// headers count as they are at the first write, and a response that has no body
// (RFC 9110 section 6.4.1) gets none.
type writer struct {
	r         *http.Request
	log       *slog.Logger
	live      http.Header // what the handler sets
	sent      *core.ProxyResponseWriter
	status    int
	forbidden bool // a body may not be written
}

func newWriter(r *http.Request, log *slog.Logger) *writer {
	return &writer{r: r, log: log, live: http.Header{}, sent: core.NewProxyResponseWriter()}
}

func (w *writer) Header() http.Header { return w.live }

// Flush does nothing: the response is sent when the handler returns.
func (w *writer) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
}

func (w *writer) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("status %d", status)) // net/http panics, too
	}
	if w.status != 0 {
		w.log.WarnContext(w.r.Context(), "second status is ignored", "first", w.status, "second", status,
			"method", w.r.Method, "route", w.r.Pattern, "requestId", requestID(w.r, w.header()))
		return
	}
	if status < 200 {
		return // an interim response (RFC 9110 section 15.2) has no place in an event
	}
	w.status = status
	w.forbidden = status == http.StatusNoContent || status == http.StatusNotModified
	for name, values := range w.live.Clone() {
		w.sent.Header()[name] = values
	}
	w.sent.WriteHeader(status)
}

func (w *writer) Write(body []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.forbidden:
		return 0, http.ErrBodyNotAllowed
	case w.r.Method == http.MethodHead || len(body) == 0:
		return len(body), nil
	}
	return w.sent.Write(body)
}

// header returns the headers as sent, or as they would be sent now.
func (w *writer) header() http.Header {
	if w.status == 0 {
		return w.live
	}
	return w.sent.Header()
}

// response returns the response for Lambda, 200 without a body if the handler wrote
// nothing. It returns an error if the response cannot be sent.
func (w *writer) response() (events.APIGatewayProxyResponse, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	response, err := w.sent.GetProxyResponse()
	if err != nil {
		return response, err
	}
	if response.IsBase64Encoded || !utf8.ValidString(response.Body) {
		return response, fmt.Errorf("response body of %d bytes base64 is not UTF-8", len(response.Body))
	}
	if len(response.Body) > MaxResponse/8 { // no byte takes more than six in JSON
		n, err := size(response)
		if err != nil {
			return response, fmt.Errorf("measure the response: %w", err)
		}
		if n > MaxResponse {
			return response, fmt.Errorf("response of %d bytes as JSON, at most %d can be sent", n, MaxResponse)
		}
	}
	return response, nil
}
