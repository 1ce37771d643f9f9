package lambdahttp

import (
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// basePath is the path of the API on a custom domain.
const basePath = "/v1"

// proxyHeader is the prefix of headers that the conversion library takes for the
// gateway's, so a client may not send them.
const proxyHeader = "X-Golambdaproxy-"

const requestIDHeader = "X-Request-Id"

// gzipStart is the first byte of a gzip stream (RFC 1952 section 2.3.1). No JSON text starts with it.
const gzipStart = "\x1f"

// newRequest returns the request of event. If it is refused, the request has all that
// the client sent except the path and the body.
func newRequest(ctx context.Context, event events.APIGatewayProxyRequest) (*http.Request, *problem) {
	refused := check(&event)
	// The library would log what it cannot convert; check has rejected that.
	r, err := httpadapter.New(nil).EventToRequestWithContext(ctx, event)
	if err != nil {
		refused = badRequest
		event = events.APIGatewayProxyRequest{Path: "/", HTTPMethod: http.MethodGet, RequestContext: events.APIGatewayProxyRequestContext{
			RequestID: event.RequestContext.RequestID}}
		if r, err = httpadapter.New(nil).EventToRequestWithContext(ctx, event); err != nil {
			panic(err) // a constant
		}
	}
	for name := range r.Header {
		if len(name) >= len(proxyHeader) && strings.EqualFold(name[:len(proxyHeader)], proxyHeader) { // a name with a blank is not canonical
			delete(r.Header, name)
		}
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host // as net/http does
		r.Header.Del("Host")
	}
	if id := event.RequestContext.RequestID; id != "" && r.Header.Get(requestIDHeader) == "" {
		r.Header.Set(requestIDHeader, id) // one id in the gateway's log and in ours
	}
	switch strings.ToLower(r.Header.Get("Content-Encoding")) {
	case "gzip", "x-gzip":
		// The gateway decompresses bodies, but may keep the header. One that it passed as text, because it does not know the coding by
		// that name, has lost bytes after the first.
		if !strings.HasPrefix(event.Body, gzipStart) {
			r.Header.Del("Content-Encoding")
		}
	}
	r.RemoteAddr = net.JoinHostPort(event.RequestContext.Identity.SourceIP, "0")
	return r, refused
}

// check refuses an event that is not a request, and prepares the others for the
// library: it removes the base path, makes the path one that parses, and decodes the body.
func check(event *events.APIGatewayProxyRequest) (refused *problem) {
	event.Path = withoutBasePath(event.Path, event.RequestContext.Path)
	if !strings.HasPrefix(event.Path, "/") {
		event.Path = "/" + event.Path
	}
	if event.IsBase64Encoded {
		body, err := base64.StdEncoding.DecodeString(event.Body)
		if err != nil {
			refused = badRequest
		}
		event.Body, event.IsBase64Encoded = string(body), false
	}
	if event.HTTPMethod == "" {
		event.HTTPMethod, refused = http.MethodGet, badRequest
	}
	if _, err := url.Parse("https://host" + event.Path); err != nil || strings.ContainsAny(event.Path, "?#") {
		event.Path = (&url.URL{Path: event.Path}).EscapedPath() // the gateway decoded it; the library parses it, and cuts it at ? and #
	}
	if refused != nil {
		event.Path, event.Body = "/", ""
	}
	return refused
}

// withoutBasePath returns the path of an event relative to the API. whole is the path that the client sent, with the stage or the
// base path. Without a domain, path has no base path: /v1/v1/me is /v1/me, and no path of the API.
func withoutBasePath(path, whole string) string {
	rest, ok := strings.CutPrefix(path, basePath)
	staged, _ := strings.CutPrefix(whole, basePath)
	if !ok || !strings.HasPrefix(rest+"/", "/") || strings.HasPrefix(staged+"/", basePath+"/") && !strings.HasPrefix(rest+"/", basePath+"/") {
		return path
	}
	return rest
}
