package lambdahttp

import (
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// basePath is what a custom domain puts before the paths of the API.
const basePath = "/v1"

// proxyHeader starts the names of headers that the conversion library reads as
// the gateway's own words, so a client may not send them.
const proxyHeader = "X-Golambdaproxy-"

const requestIDHeader = "X-Request-Id"

const gzipMagic = "\x1f\x8b"

// newRequest makes the request of event. When it is refused the request stands
// for what the client sent in all but its path and body.
func newRequest(ctx context.Context, event events.APIGatewayProxyRequest) (*http.Request, *problem) {
	refused := check(&event)
	// The library would log what it can not convert; check has left nothing of it.
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
		if strings.HasPrefix(name, proxyHeader) {
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
		// The gateway inflates bodies and is not documented to take the header away.
		// No JSON text starts like a gzip stream (RFC 1952 section 2.3.1).
		if !strings.HasPrefix(event.Body, gzipMagic) {
			r.Header.Del("Content-Encoding")
		}
	}
	r.RemoteAddr = net.JoinHostPort(event.RequestContext.Identity.SourceIP, "0")
	return r, refused
}

// check refuses an event that is no request, and brings the others into the form
// in which the library's joining of texts is safe: path without the base path,
// body decoded.
func check(event *events.APIGatewayProxyRequest) (refused *problem) {
	if path, ok := strings.CutPrefix(event.Path, basePath); ok && strings.HasPrefix(path+"/", "/") {
		event.Path = path
	}
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
	if strings.ContainsAny(event.Path, "?#") {
		refused = unknownPath // the library would cut it there; no path of ours has one
	} else if _, err := url.Parse("https://host" + event.Path); err != nil {
		refused = badRequest
	}
	if refused != nil {
		event.Path, event.Body = "/", ""
	}
	return refused
}

// SourceIP is the address that the gateway saw the request of ctx come from,
// empty outside of one.
func SourceIP(ctx context.Context) string {
	gateway, _ := core.GetAPIGatewayContextFromContext(ctx)
	return gateway.Identity.SourceIP
}
