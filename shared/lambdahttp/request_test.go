package lambdahttp_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

// seen is what a handler was given.
type seen struct {
	method, path, escaped, host, remote, uri string
	query                                    url.Values
	header                                   http.Header
	body                                     string
	length                                   int64
}

// give hands event to a handler and returns what it was given, nil when it was not asked.
func give(t *testing.T, event events.APIGatewayProxyRequest) (*seen, events.APIGatewayProxyResponse) {
	t.Helper()
	var got *seen
	response := handle(t, event, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = &seen{r.Method, r.URL.Path, r.URL.EscapedPath(), r.Host, r.RemoteAddr, r.RequestURI,
			r.URL.Query(), r.Header, string(body), r.ContentLength}
		w.WriteHeader(http.StatusNoContent)
	})
	return got, response
}

func TestBasePathIsStrippedBeforeASlashOrTheEnd(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/collections":       "/collections",
		"/v1/collections":    "/collections",
		"/v1/v1/collections": "/v1/collections",
		"/v1x":               "/v1x",
		"/v1x/collections":   "/v1x/collections",
		"/v1":                "/",
		"/v1/":               "/",
		"/":                  "/",
		"":                   "/",
		"collections":        "/collections",
		"//documents":        "//documents",
		"/v1//documents/..":  "//documents/..",
		"/v1%2Fcollections":  "/v1/collections", // an encoded slash is not a separator
		"/documents/é":       "/documents/é",
		"/documents/a b":     "/documents/a b",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got, _ := give(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: path})
			if got == nil || got.path != want {
				t.Errorf("path %q gave %+v, want %q", path, got, want)
			}
		})
	}
}

// TestBasePathIsStrippedOnce: with a domain the event's path has the base path, without one the stage is only in the path that the
// client sent.
func TestBasePathIsStrippedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, path, whole, want string }{
		{"stage", "/me", "/v1/me", "/me"},
		{"domain", "/v1/me", "/v1/me", "/me"},
		{"stage and base path", "/v1/me", "/v1/v1/me", "/v1/me"},
		{"stage and base path alone", "/v1", "/v1/v1", "/v1"},
		{"domain and base path twice", "/v1/v1/me", "/v1/v1/me", "/v1/me"},
		{"stage and base path twice", "/v1/v1/me", "/v1/v1/v1/me", "/v1/me"},
		{"domain, name that begins so", "/v1/v1x", "/v1/v1x", "/v1x"},
		{"another stage", "/v1/me", "/prod/v1/me", "/me"},
		{"encoded", "/v1/documents/a b", "/v1/documents/a%20b", "/documents/a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _ := give(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: c.path,
				RequestContext: events.APIGatewayProxyRequestContext{Path: c.whole}})
			if got == nil || got.path != c.want {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

func TestEncodedSlashStaysEncoded(t *testing.T) {
	t.Parallel()
	got, _ := give(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: "/v1/documents/a%2Fb"})
	if got.path != "/documents/a/b" || got.escaped != "/documents/a%2Fb" || got.uri != "/documents/a%2Fb" {
		t.Errorf("%+v", got)
	}
}

// TestDecodedPathsReachTheHandler: the gateway decodes a path, so that what was encoded as %25, %00 or %3F may not parse.
func TestDecodedPathsReachTheHandler(t *testing.T) {
	t.Parallel()
	for path, escaped := range map[string]string{
		"/documents/100%":          "/documents/100%25",
		"/documents/a\x00b":        "/documents/a%00b",
		"/documents/a\r\nHost: x":  "/documents/a%0D%0AHost:%20x",
		"/documents/a?b":           "/documents/a%3Fb",
		"/documents/a#b":           "/documents/a%23b",
		"/documents/a%2Fb?100%":    "/documents/a%252Fb%3F100%25",
		"/v1/documents/\xff\x7f/x": "/documents/%FF%7F/x",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got, response := give(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: path})
			if want := strings.TrimPrefix(path, "/v1"); got == nil || got.path != want || got.escaped != escaped || got.uri != escaped {
				t.Errorf("path %q gave %+v, %+v; want %q", path, got, response, escaped)
			}
		})
	}
}

func TestInputThatDoesNotDecodeIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event  events.APIGatewayProxyRequest
		status int
		code   string
	}{
		"no method":               {events.APIGatewayProxyRequest{Path: "/documents"}, 400, "invalid-request"},
		"method that is no token": {events.APIGatewayProxyRequest{HTTPMethod: "G T", Path: "/documents"}, 400, "invalid-request"},
		"bad base64":              {events.APIGatewayProxyRequest{HTTPMethod: "PUT", Path: "/documents", Body: "%%%", IsBase64Encoded: true}, 400, "invalid-request"},
		"cut base64":              {events.APIGatewayProxyRequest{HTTPMethod: "PUT", Path: "/documents", Body: "YWJjZA", IsBase64Encoded: true}, 400, "invalid-request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.event.RequestContext.RequestID = "gateway-1"
			got, response := give(t, c.event)
			if got != nil {
				t.Errorf("the handler was asked: %+v", got)
			}
			isProblem(t, response, c.status, c.code, "gateway-1")
		})
	}
}

func TestBodyIsDecoded(t *testing.T) {
	t.Parallel()
	binary := "\x00\xff\xfe"
	for name, event := range map[string]events.APIGatewayProxyRequest{
		"text":   {Body: "größer"},
		"base64": {Body: base64.StdEncoding.EncodeToString([]byte(binary)), IsBase64Encoded: true},
		"none":   {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			event.HTTPMethod, event.Path = "PUT", "/documents"
			want := map[string]string{"text": "größer", "base64": binary}[name]
			got, _ := give(t, event)
			if got.body != want || got.length != int64(len(want)) {
				t.Errorf("body %q of length %d, want %q", got.body, got.length, want)
			}
		})
	}
}

func TestHeadersAndQueryArriveWhole(t *testing.T) {
	t.Parallel()
	multi, _ := give(t, events.APIGatewayProxyRequest{HTTPMethod: "get", Path: "/documents",
		Headers:                         map[string]string{"if-none-match": `"last"`},
		MultiValueHeaders:               map[string][]string{"if-none-match": {`"a"`, `"b", "c"`}, "Host": {"api.example.com"}},
		QueryStringParameters:           map[string]string{"tag": "last"},
		MultiValueQueryStringParameters: map[string][]string{"tag": {"a&b", "ü ?#"}, "empty": {""}},
		RequestContext:                  events.APIGatewayProxyRequestContext{DomainName: "id.execute-api.example.com"}})
	if got := multi.header["If-None-Match"]; !slices.Equal(got, []string{`"a"`, `"b", "c"`}) {
		t.Errorf("If-None-Match: %q", got)
	}
	if !slices.Equal(multi.query["tag"], []string{"a&b", "ü ?#"}) || !multi.query.Has("empty") || len(multi.query) != 2 {
		t.Errorf("query: %v", multi.query)
	}
	if multi.method != http.MethodGet || multi.host != "api.example.com" || multi.header.Get("Host") != "" {
		t.Errorf("%+v", multi)
	}
	single, _ := give(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: "/documents",
		Headers: map[string]string{"accept": "text/html"}, QueryStringParameters: map[string]string{"limit": "2"},
		RequestContext: events.APIGatewayProxyRequestContext{DomainName: "id.execute-api.example.com"}})
	if single.header.Get("Accept") != "text/html" || single.query.Get("limit") != "2" || single.host != "id.execute-api.example.com" {
		t.Errorf("%+v", single)
	}
}

func TestForgedGatewayHeaderIsNotSeen(t *testing.T) {
	t.Parallel()
	got, _ := give(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: "/documents",
		MultiValueHeaders: map[string][]string{
			"X-GoLambdaProxy-ApiGw-Context":   {`{"identity":{"sourceIp":"6.6.6.6"}}`},
			"x-golambdaproxy-apigw-stagevars": {"{}"}, "Accept": {"*/*"}},
		RequestContext: events.APIGatewayProxyRequestContext{Identity: events.APIGatewayRequestIdentity{SourceIP: "192.0.2.7"}}})
	if len(got.header) != 1 || got.remote != "192.0.2.7:0" {
		t.Errorf("%+v", got)
	}
}

func TestTheGatewaysSourceIPIsTheAddress(t *testing.T) {
	t.Parallel()
	for ip, remote := range map[string]string{"192.0.2.7": "192.0.2.7:0", "2001:db8::7": "[2001:db8::7]:0"} {
		got, _ := give(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: "/documents",
			RequestContext: events.APIGatewayProxyRequestContext{Identity: events.APIGatewayRequestIdentity{SourceIP: ip}}})
		if got.remote != remote {
			t.Errorf("address %q, want %q", got.remote, remote)
		}
	}
}

func TestRequestIDIsTheClientsOrTheGateways(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{"": "gateway-1", "mine": "mine"} {
		event := events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: "/documents",
			RequestContext: events.APIGatewayProxyRequestContext{RequestID: "gateway-1"}}
		if sent != "" {
			event.MultiValueHeaders = map[string][]string{"x-request-id": {sent}}
		}
		got, _ := give(t, event)
		if id := got.header.Get("X-Request-Id"); id != want {
			t.Errorf("sent %q, got %q, want %q", sent, id, want)
		}
	}
}

func TestContentEncodingGoesWithTheCodingThatTheGatewayTookOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ coding, body, want string }{
		"inflated by the gateway": {"gzip", `{"a":1}`, ""},
		"old name":                {"X-Gzip", `{"a":1}`, ""},
		"as sent":                 {"gzip", "\x1f\x8b\x08", "gzip"},
		"passed as text":          {"x-gzip", "\x1f\ufffd\x08", "x-gzip"},
		"a coding we do not know": {"br", `{"a":1}`, "br"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := give(t, events.APIGatewayProxyRequest{HTTPMethod: "PUT", Path: "/documents", IsBase64Encoded: true,
				Body: base64.StdEncoding.EncodeToString([]byte(c.body)), Headers: map[string]string{"content-encoding": c.coding}})
			if coding := got.header.Get("Content-Encoding"); coding != c.want || got.body != c.body {
				t.Errorf("coding %q of %q, want %q", coding, got.body, c.want)
			}
		})
	}
}
