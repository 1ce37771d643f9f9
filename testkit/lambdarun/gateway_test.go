package lambdarun_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"docent/testkit/lambdarun"
)

func zip(text string) string {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(text)) // into memory
	_ = w.Close()
	return packed.String()
}

func TestTheEventsOfARESTAPI(t *testing.T) {
	t.Parallel()
	ok := events.APIGatewayProxyResponse{StatusCode: 204}
	var e events.APIGatewayProxyRequest
	g := &lambdarun.Gateway{Functions: map[string]lambdarun.Invoker{"documents": answering(ok, &e)}, Binary: []string{"image/png"}}
	send := func(method, target, body string, header ...string) {
		t.Helper()
		e = events.APIGatewayProxyRequest{}
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		if w.Code != 204 {
			t.Fatalf("%s %s: %d %s", method, target, w.Code, w.Body)
		}
	}
	send("GET", "/v1/documents/a%2Fb%20c?tag=x&tag=y%26&empty=", "", "If-None-Match", `"a"`, "If-None-Match", `"b"`, "X-Forwarded-For", "10.0.0.1")
	if e.Path != "/documents/a/b c" || e.RequestContext.Path != "/v1/documents/a/b c" || e.RequestContext.Stage != "v1" ||
		e.Resource != "/documents/{proxy+}" || e.PathParameters["proxy"] != "a/b c" || e.HTTPMethod != "GET" {
		t.Errorf("paths: %+v", e)
	}
	if !reflect.DeepEqual(e.MultiValueQueryStringParameters, map[string][]string{"tag": {"x", "y&"}, "empty": {""}}) || e.QueryStringParameters["tag"] != "y&" {
		t.Errorf("query: %v %v", e.QueryStringParameters, e.MultiValueQueryStringParameters)
	}
	if !reflect.DeepEqual(e.MultiValueHeaders["If-None-Match"], []string{`"a"`, `"b"`}) || e.Headers["If-None-Match"] != `"b"` ||
		e.Headers["X-Forwarded-For"] != "10.0.0.1, 192.0.2.1" || e.Headers["Host"] != "example.com" {
		t.Errorf("headers: %v", e.MultiValueHeaders)
	}
	if e.RequestContext.Identity.SourceIP != "192.0.2.1" || len(e.RequestContext.RequestID) != 36 || e.RequestContext.DomainName != "example.com" {
		t.Errorf("context: %+v", e.RequestContext)
	}
	send("GET", "/v1/documents", "")
	if e.Path != "/documents" || e.Resource != "/documents" || e.PathParameters != nil || e.MultiValueQueryStringParameters != nil || e.Body != "" {
		t.Errorf("%+v", e)
	}
	send("PUT", "/v1/documents", zip("größer"), "Content-Encoding", "gzip", "Content-Type", "application/json")
	if e.Body != "größer" || e.IsBase64Encoded || e.Headers["Content-Encoding"] != "" {
		t.Errorf("gzip: %+v", e)
	}
	send("PUT", "/v1/documents", "\x89PNG", "Content-Type", "image/png")
	if e.Body != "iVBORw==" || !e.IsBase64Encoded {
		t.Errorf("binary: %+v", e)
	}
	send("PUT", "/v1/documents", "a\x89b", "Content-Type", "application/json")
	if e.Body != "a\uFFFDb" || e.IsBase64Encoded {
		t.Errorf("bytes that are not text: %q", e.Body)
	}
}

func TestFunctionsAreFoundByPath(t *testing.T) {
	t.Parallel()
	named := func(name string) lambdarun.Invoker {
		return answering(events.APIGatewayProxyResponse{StatusCode: 200, Body: name}, nil)
	}
	g := &lambdarun.Gateway{Functions: map[string]lambdarun.Invoker{"documents": named("documents"), "": named("admin")}}
	only := &lambdarun.Gateway{Stage: "beta", Functions: map[string]lambdarun.Invoker{"documents": named("documents")}}
	for name, c := range map[string]struct {
		g    *lambdarun.Gateway
		path string
		want string
	}{
		"area":                 {g, "/v1/documents", "200 documents"},
		"below area":           {g, "/v1/documents/x/y", "200 documents"},
		"area with a tail":     {g, "/v1/documentsx", "200 admin"},
		"root":                 {g, "/v1/", "200 admin"},
		"stage alone":          {g, "/v1", "200 admin"},
		"another stage":        {g, "/beta/documents", "404"},
		"stage with a tail":    {g, "/v1x/documents", "404"},
		"of the named stage":   {only, "/beta/documents", "200 documents"},
		"nobody takes unknown": {only, "/beta/other", "404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			c.g.ServeHTTP(w, httptest.NewRequest("GET", c.path, nil))
			got := fmt.Sprint(w.Code, " ", w.Body)
			if w.Code == 404 {
				isProblem(t, w, 404, "not-found")
				got = "404"
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func isProblem(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var p struct {
		Status                         int
		Title, Code, Detail, RequestID string
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%q: %v", w.Body, err)
	}
	if w.Code != status || p.Status != status || p.Code != code || p.Title == "" || p.RequestID != w.Header().Get("X-Request-Id") {
		t.Errorf("%d %+v, want %d %s", w.Code, p, status, code)
	}
}

func TestWhatTheGatewayAnswersItself(t *testing.T) {
	t.Parallel()
	failing := func(err error) lambdarun.Invoker {
		return func(context.Context, []byte) ([]byte, error) { return nil, err }
	}
	answers := func(text string) lambdarun.Invoker {
		return func(context.Context, []byte) ([]byte, error) { return []byte(text), nil }
	}
	unasked := failing(errors.New("the function was asked"))
	for name, c := range map[string]struct {
		invoke         lambdarun.Invoker
		body, encoding string
		status         int
		code           string
	}{
		"10 MB and a byte":          {unasked, strings.Repeat("a", 10<<20+1), "", 413, "request-too-large"},
		"10 MB and a byte unpacked": {unasked, zip(strings.Repeat("a", 10<<20+1)), "gzip", 413, "request-too-large"},
		"over the function's 6 MB":  {failing(fmt.Errorf("x: %w", lambdarun.ErrTooLarge)), "a", "", 413, "request-too-large"},
		"damaged gzip":              {unasked, "a", "gzip", 400, "invalid-request"},
		"function error":            {failing(&lambdarun.FunctionError{Type: "x", Message: "secret"}), "a", "", 503, "unavailable"},
		"timeout":                   {failing(lambdarun.ErrTimeout), "a", "", 503, "unavailable"},
		"no JSON":                   {answers("secret"), "a", "", 500, "internal"},
		"no status":                 {answers("{}"), "a", "", 500, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("PUT", "/v1/documents", strings.NewReader(c.body))
			if c.encoding != "" {
				r.Header.Set("Content-Encoding", c.encoding)
			}
			w := httptest.NewRecorder()
			(&lambdarun.Gateway{Functions: map[string]lambdarun.Invoker{"documents": c.invoke}}).ServeHTTP(w, r)
			isProblem(t, w, c.status, c.code)
			if strings.Contains(w.Body.String(), "secret") || (c.status == 503) != (w.Header().Get("Retry-After") == "1") {
				t.Errorf("%v %s", w.Header(), w.Body)
			}
		})
	}
}

func TestTheResponsesOfARESTAPI(t *testing.T) {
	t.Parallel()
	g := &lambdarun.Gateway{Binary: []string{"image/png"}, Functions: map[string]lambdarun.Invoker{
		"documents": answering(events.APIGatewayProxyResponse{StatusCode: 401, Body: "aGk=", IsBase64Encoded: true,
			Headers:           map[string]string{"Link": "<one>", "X-Single": "1"},
			MultiValueHeaders: map[string][]string{"Link": {"<a>", "<b>"}, "WWW-Authenticate": {"Bearer"}}}, nil)}}
	for accept, want := range map[string]string{"image/png": "hi", "application/json": "aGk="} {
		r := httptest.NewRequest("GET", "/v1/documents", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		body, err := io.ReadAll(w.Result().Body)
		if err != nil || w.Code != 401 || string(body) != want {
			t.Errorf("%d %q %v, want %q", w.Code, body, err, want)
		}
		h := w.Header()
		if !reflect.DeepEqual(h["Link"], []string{"<a>", "<b>"}) || h.Get("X-Single") != "1" || h.Get("WWW-Authenticate") != "" ||
			h.Get("X-Amzn-Remapped-WWW-Authenticate") != "Bearer" {
			t.Errorf("headers %v", h)
		}
	}
}
