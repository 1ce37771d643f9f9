package lambdahttp

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
)

// problem is a problem object (RFC 9457) for a request that does not reach the handler
// or a response that cannot be sent.
type problem struct {
	Status    int    `json:"status"`
	Type      string `json:"type"`
	Title     string `json:"title"`
	Detail    string `json:"detail"`
	Code      string `json:"code"`
	RequestID string `json:"requestId,omitempty"`
}

var (
	badRequest = &problem{Status: http.StatusBadRequest, Type: "urn:docent:problem:invalid-request", Title: "Invalid request",
		Detail: "The request is not valid: its body cannot be decoded.", Code: "invalid-request"}
	internal = &problem{Status: http.StatusInternalServerError, Type: "urn:docent:problem:internal", Title: "Internal error",
		Detail: "An internal error occurred. Give the request id to support.", Code: "internal"}
)

// response returns p as the answer to r. header has the headers that the handler set,
// nil if it was not called.
func (p *problem) response(r *http.Request, header http.Header) events.APIGatewayProxyResponse {
	told := *p
	told.RequestID = requestID(r, header)
	out := http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"}}
	if strings.Contains(r.Header.Get("Accept"), "application/problem+json") {
		out.Set("Content-Type", "application/problem+json")
	}
	if told.RequestID != "" {
		out.Set(requestIDHeader, told.RequestID)
	}
	response := events.APIGatewayProxyResponse{StatusCode: p.Status, MultiValueHeaders: out}
	if r.Method == http.MethodHead {
		return response
	}
	body, err := json.Marshal(told)
	if err != nil {
		panic(err) // texts and a number
	}
	response.Body = string(body)
	return response
}

// echoable matches request ids of clients that a reply may repeat.
var echoable = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// requestID returns the request id that the handler set; without one, the client's or
// the gateway's.
func requestID(r *http.Request, header http.Header) string {
	if id := header.Get(requestIDHeader); id != "" {
		return id
	}
	if id := r.Header.Get(requestIDHeader); echoable.MatchString(id) {
		return id
	}
	gateway, _ := core.GetAPIGatewayContextFromContext(r.Context())
	return gateway.RequestID
}
