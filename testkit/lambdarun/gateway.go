package lambdarun

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
)

// The limits of a REST API.
const (
	maxPayload         = 10 << 20
	integrationTimeout = 29 * time.Second
)

// Gateway is a regional REST API with one stage. Its resources /{area} and /{area}/{proxy+} are proxied to one
// function each. The path in the event is decoded and has no stage. Headers and parameters are passed as single and
// multiple values. A gzip body is decompressed and its Content-Encoding removed.
type Gateway struct {
	Stage     string              // without slashes; empty: "v1"
	Functions map[string]Invoker  // by the first element of the path; "" catches every other path
	Streams   map[string]Streamer // by the first element of the path, instead of Functions
	Binary    []string            // media types whose bodies are passed as base64; others are passed as text
	Domain    string              // of the API; empty: the host of the request
}

// ServeHTTP answers as the gateway does: with the function's response, or with its own in the format of the API's
// errors.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := uuid.NewString()
	stage := "/" + g.Stage
	if g.Stage == "" {
		stage = "/v1"
	}
	path, ok := strings.CutPrefix(r.URL.Path, stage)
	if !ok || path != "" && path[0] != '/' {
		refuse(w, id, 404, "not-found", "No resource exists at this path.")
		return
	}
	area, rest, below := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	invoke, ok := g.Functions[area]
	stream := g.Streams[area]
	if !ok && stream == nil {
		area, rest, below = "", strings.TrimPrefix(path, "/"), path != "" && path != "/"
		if invoke, ok = g.Functions[""]; !ok {
			refuse(w, id, 404, "not-found", "No resource exists at this path.")
			return
		}
	}
	event, status, err := g.event(r, id, stage, path)
	switch {
	case status == 413:
		tooLarge(w, id)
		return
	case err != nil:
		refuse(w, id, 400, "invalid-request", "The request is not valid.")
		return
	}
	event.Resource = "/" + area
	if below {
		event.Resource = strings.TrimSuffix(event.Resource, "/") + "/{proxy+}"
		event.PathParameters = map[string]string{"proxy": rest}
	}
	event.RequestContext.ResourcePath = event.Resource
	if stream != nil {
		g.pass(w, r, id, stream, event)
		return
	}
	g.proxy(w, r, id, invoke, event)
}

// proxy invokes the function and writes its response.
func (g *Gateway) proxy(w http.ResponseWriter, r *http.Request, id string, invoke Invoker, event events.APIGatewayProxyRequest) {
	text, err := json.Marshal(event)
	if err != nil {
		refuse(w, id, 500, "internal", "An internal error occurred. Give the request id to support.")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), integrationTimeout)
	defer cancel()
	answer, err := invoke(ctx, text)
	var response events.APIGatewayProxyResponse
	switch {
	case errors.Is(err, ErrTooLarge):
		tooLarge(w, id)
		return
	case err != nil:
		w.Header().Set("Retry-After", "1")
		refuse(w, id, 503, "unavailable", "The service is temporarily unavailable. Try again.")
		return
	case json.Unmarshal(answer, &response) != nil || response.StatusCode < 200 || response.StatusCode > 599:
		refuse(w, id, 500, "internal", "An internal error occurred. Give the request id to support.")
		return
	}
	for name, value := range response.Headers {
		w.Header().Set(rename(name), value)
	}
	for name, values := range response.MultiValueHeaders {
		w.Header()[http.CanonicalHeaderKey(rename(name))] = values
	}
	w.Header().Set("X-Amzn-Requestid", id)
	body := []byte(response.Body)
	if response.IsBase64Encoded && g.binary(r.Header.Get("Accept")) {
		if body, err = base64.StdEncoding.DecodeString(response.Body); err != nil {
			refuse(w, id, 500, "internal", "An internal error occurred. Give the request id to support.")
			return
		}
	}
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body)
}

// remapped are the headers that the gateway renames in a function's response.
var remapped = []string{"Connection", "Content-Length", "Date", "Server", "Transfer-Encoding", "Www-Authenticate"}

func rename(name string) string {
	if slices.Contains(remapped, http.CanonicalHeaderKey(name)) {
		return "X-Amzn-Remapped-" + name
	}
	return name
}

// event returns r as a proxy event. The status is 413 if it is too large.
func (g *Gateway) event(r *http.Request, id, stage, path string) (events.APIGatewayProxyRequest, int, error) {
	var event events.APIGatewayProxyRequest
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPayload+1))
	if err != nil {
		return event, 0, fmt.Errorf("read body: %w", err)
	}
	if len(body) > maxPayload {
		return event, 413, nil
	}
	header := r.Header.Clone()
	if strings.EqualFold(header.Get("Content-Encoding"), "gzip") {
		header.Del("Content-Encoding")
		if body, err = inflate(body); err != nil {
			return event, 0, fmt.Errorf("inflate body: %w", err)
		}
		if len(body) > maxPayload {
			return event, 413, nil
		}
	}
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr
	}
	header.Set("Host", r.Host)
	header.Set("X-Forwarded-For", strings.TrimPrefix(header.Get("X-Forwarded-For")+", "+ip, ", "))
	header.Set("X-Forwarded-Proto", "https")
	header.Set("X-Forwarded-Port", "443")
	if path == "" {
		path = "/"
	}
	domain := g.Domain
	if domain == "" {
		domain = r.Host
	}
	event = events.APIGatewayProxyRequest{Path: path, HTTPMethod: r.Method,
		Headers: last(header), MultiValueHeaders: header,
		RequestContext: events.APIGatewayProxyRequestContext{AccountID: "000000000000", APIID: "local", RequestID: id,
			Stage: stage[1:], Path: stage + path, HTTPMethod: r.Method, Protocol: r.Proto, DomainName: domain,
			RequestTimeEpoch: time.Now().UnixMilli(),
			Identity:         events.APIGatewayRequestIdentity{SourceIP: ip, UserAgent: r.UserAgent()}}}
	if query := r.URL.Query(); len(query) > 0 {
		event.QueryStringParameters, event.MultiValueQueryStringParameters = last(query), query
	}
	if g.binary(header.Get("Content-Type")) {
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	} else {
		event.Body = strings.ToValidUTF8(string(body), string(utf8.RuneError)) // bytes that are not text are lost
	}
	return event, 0, nil
}

func (g *Gateway) binary(mediaTypes string) bool {
	first, _, _ := strings.Cut(mediaTypes, ",")
	media, _, err := mime.ParseMediaType(first)
	return err == nil && (slices.Contains(g.Binary, media) || slices.Contains(g.Binary, "*/*"))
}

// last returns the last value of each name, as in the maps of single values.
func last(values map[string][]string) map[string]string {
	out := make(map[string]string, len(values))
	for name, all := range values {
		if len(all) > 0 {
			out[name] = all[len(all)-1]
		}
	}
	return out
}

func inflate(packed []byte) ([]byte, error) {
	stream, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(stream, maxPayload+1))
}

func tooLarge(w http.ResponseWriter, id string) {
	refuse(w, id, 413, "request-too-large", "A request must not exceed 10 MB, or 6 MB as the service receives it. "+
		"Send the document's body as base64 of its gzip form, or send fewer bytes.")
}

// refuse answers as a gateway response of the stack does.
func refuse(w http.ResponseWriter, id string, status int, code, detail string) {
	body, err := json.Marshal(map[string]any{"status": status, "title": http.StatusText(status), "code": code,
		"detail": detail, "requestId": id})
	if err != nil {
		panic(err) // texts and a number can always be encoded
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", id)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
