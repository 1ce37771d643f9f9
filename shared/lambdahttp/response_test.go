package lambdahttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/lambdahttp"
)

var get = events.APIGatewayProxyRequest{HTTPMethod: http.MethodGet, Path: "/documents",
	RequestContext: events.APIGatewayProxyRequestContext{RequestID: "gateway-1"}}

// handle gives event to h, without a log.
func handle(t *testing.T, event events.APIGatewayProxyRequest, h http.HandlerFunc) events.APIGatewayProxyResponse {
	t.Helper()
	response, _ := handleLogged(t, event, h)
	return response
}

func handleLogged(t *testing.T, event events.APIGatewayProxyRequest, h http.HandlerFunc) (events.APIGatewayProxyResponse, string) {
	t.Helper()
	var log bytes.Buffer
	f := &lambdahttp.Function{Handler: h, Log: slog.New(slog.NewJSONHandler(&log, nil))}
	response, err := f.Handle(t.Context(), event)
	if err != nil {
		t.Fatalf("error %v", err)
	}
	return response, log.String()
}

func isProblem(t *testing.T, response events.APIGatewayProxyResponse, status int, code, requestID string) {
	t.Helper()
	var p struct {
		Status                               int
		Type, Title, Detail, Code, RequestID string
	}
	if err := json.Unmarshal([]byte(response.Body), &p); err != nil {
		t.Fatalf("body %q: %v", response.Body, err)
	}
	if response.StatusCode != status || p.Status != status || p.Code != code || p.Type != "urn:docent:problem:"+code ||
		p.Title == "" || p.Detail == "" {
		t.Errorf("%d %+v, want %d %s", response.StatusCode, p, status, code)
	}
	header := http.Header(response.MultiValueHeaders)
	if p.RequestID != requestID || header.Get("X-Request-Id") != requestID || header.Get("Content-Type") != "application/json" {
		t.Errorf("request id %q, want %q; headers %v", p.RequestID, requestID, header)
	}
}

func TestEmptyHandlerIs200(t *testing.T) {
	t.Parallel()
	response := handle(t, get, func(http.ResponseWriter, *http.Request) {})
	if response.StatusCode != 200 || response.Body != "" {
		t.Errorf("%+v", response)
	}
}

func TestFirstStatusWins(t *testing.T) {
	t.Parallel()
	response, log := handleLogged(t, get, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(201)
		_, _ = w.Write([]byte("made"))
		w.WriteHeader(500)
	})
	if response.StatusCode != 201 || response.Body != "made" || !strings.Contains(log, "second status") || strings.Count(log, "\n") != 1 {
		t.Errorf("%+v, log %s", response, log)
	}
}

func TestHeadersCountAsTheyAreAtTheFirstWrite(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(http.ResponseWriter){
		"status": func(w http.ResponseWriter) { w.WriteHeader(200) },
		"body":   func(w http.ResponseWriter) { _, _ = w.Write([]byte("x")) },
		"flush":  func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := handle(t, get, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Link"] = []string{"<a>", "<b>"}
				first(w)
				w.Header()["Link"][0] = "<changed>"
				w.Header().Set("Late", "1")
			})
			h := http.Header(response.MultiValueHeaders)
			if h.Get("Late") != "" || strings.Join(h["Link"], " ") != "<a> <b>" {
				t.Errorf("headers %v", h)
			}
		})
	}
}

func TestResponsesWithoutABody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method string
		status int
	}{"head": {"HEAD", 200}, "no content": {"GET", 204}, "not modified": {"GET", 304}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			event := get
			event.HTTPMethod = c.method
			response := handle(t, event, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("ETag", `"1"`)
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte("body"))
			})
			if response.StatusCode != c.status || response.Body != "" || http.Header(response.MultiValueHeaders).Get("ETag") != `"1"` {
				t.Errorf("%+v", response)
			}
		})
	}
	refusedHead := handle(t, events.APIGatewayProxyRequest{HTTPMethod: "HEAD", Path: "/", Body: "%", IsBase64Encoded: true}, func(http.ResponseWriter, *http.Request) {})
	if refusedHead.StatusCode != 400 || refusedHead.Body != "" {
		t.Errorf("refused HEAD: %+v", refusedHead)
	}
}

func TestPanicIs500AndTheFunctionGoesOn(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"before a write": func(http.ResponseWriter, *http.Request) { panic("secret") },
		"after a write": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("half"))
			panic("secret")
		},
		"status that is none": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, log := handleLogged(t, get, h)
			isProblem(t, response, 500, "internal", "gateway-1")
			if strings.Contains(response.Body, "secret") || !strings.Contains(log, "panicked") || !strings.Contains(log, "response_test.go") {
				t.Errorf("body %s, log %s", response.Body, log)
			}
		})
	}
	response, log := handleLogged(t, get, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	isProblem(t, response, 500, "internal", "gateway-1")
	if log != "" {
		t.Errorf("an abort was logged: %s", log)
	}
}

func TestWhatCanNotBeSentIs500(t *testing.T) {
	t.Parallel()
	png := "\x89PNG\r\n\x1a\n"
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"png":                  {png, 500},
		"7 MB":                 {strings.Repeat("a", 7<<20), 500},
		"5 MB":                 {strings.Repeat("a", 5<<20), 200},
		"5 MB of markup":       {strings.Repeat("<", 5<<20), 200}, // one byte each, as the runtime encodes it
		"4 MB of quotes":       {strings.Repeat(`"`, 4<<20), 500}, // two bytes each
		"2 MB of control":      {strings.Repeat("\x01", 2<<20), 500},
		"one byte over, whole": {strings.Repeat("a", lambdahttp.MaxResponse), 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, log := handleLogged(t, get, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", "handlers")
				w.Header().Set("ETag", `"1"`)
				_, _ = w.Write([]byte(c.body))
			})
			if c.status == 200 {
				if response.StatusCode != 200 || response.Body != c.body {
					t.Errorf("%d with %d bytes", response.StatusCode, len(response.Body))
				}
				return
			}
			isProblem(t, response, 500, "internal", "handlers")
			if !strings.Contains(log, "cannot be sent") || http.Header(response.MultiValueHeaders).Get("ETag") != "" {
				t.Errorf("log %.300s, headers %v", log, response.MultiValueHeaders)
			}
		})
	}
}

func TestProblemTakesTheMediaTypeThatIsAskedFor(t *testing.T) {
	t.Parallel()
	response := handle(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: "/a?b",
		MultiValueHeaders: map[string][]string{"accept": {"application/problem+json"}, "x-request-id": {"not fit\nto echo"}},
		RequestContext:    events.APIGatewayProxyRequestContext{RequestID: "gateway-1"}}, nil)
	h := http.Header(response.MultiValueHeaders)
	if h.Get("Content-Type") != "application/problem+json" || h.Get("X-Request-Id") != "gateway-1" {
		t.Errorf("headers %v", h)
	}
}

func TestHandlerAnswersBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ left, handlers time.Duration }{
		"28 seconds":   {28 * time.Second, 27 * time.Second},
		"half second":  {500 * time.Millisecond, 250 * time.Millisecond},
		"nothing left": {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), c.left)
				defer cancel()
				f := &lambdahttp.Function{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					<-r.Context().Done()
					w.WriteHeader(503)
				})}
				response, err := f.Handle(ctx, get)
				if err != nil || response.StatusCode != 503 || time.Since(start) != c.handlers {
					t.Errorf("%d, %v after %s, want 503 after %s", response.StatusCode, err, time.Since(start), c.handlers)
				}
			})
		})
	}
}
