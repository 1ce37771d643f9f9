package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"docent/shared/apierr"
)

// unparsed has, by status, the problems of requests that an HTTP server refuses before it
// calls a handler. Any other status gets the problem of 400.
var unparsed = map[int]struct{ code, title, detail string }{
	http.StatusBadRequest:        {apierr.CodeInvalidRequest, "Invalid request", "This is not a well-formed request of HTTP/1.1."},
	http.StatusRequestTimeout:    {"request-timeout", "Request timeout", "The request did not arrive in time."},
	http.StatusExpectationFailed: {"expectation-failed", "Expectation failed", "The header Expect may only be 100-continue."},
	http.StatusRequestHeaderFieldsTooLarge: {"headers-too-large", "Header fields too large",
		"The request's line and headers may have 64 KB together."},
	http.StatusNotImplemented: {"unsupported-transfer-encoding", "Unsupported transfer encoding",
		"The only Transfer-Encoding is chunked."},
	http.StatusHTTPVersionNotSupported: {"unsupported-version", "HTTP version not supported", "Send HTTP/1.1."},
}

// Unparsed returns the bytes of the reply to a request that an HTTP server refused with
// status before it called a handler, in the API's shape. The reply closes the connection.
func Unparsed(status int) []byte {
	about, ok := unparsed[status]
	if !ok {
		about = unparsed[http.StatusBadRequest]
	}
	id := uuid.NewString()
	body, err := json.Marshal(problem{Status: status, Type: "urn:docent:problem:" + about.code, Title: about.title, Detail: about.detail,
		Code: about.code, RequestID: id})
	if err != nil {
		panic(err) // strings and an integer always encode
	}
	header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {id}}
	Protect(header)
	reply := &http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: header, Close: true,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body))}
	var out bytes.Buffer
	if err := reply.Write(&out); err != nil {
		panic(err) // a write to memory cannot fail
	}
	return out.Bytes()
}

// describeUnparsed adds to every operation the refusal of headers that are too large,
// including the path and the query.
func describeUnparsed(doc *huma.OpenAPI) {
	problem := map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: schemaPrefix + "Problem"}}}
	for _, op := range operations(doc) {
		op.Responses["431"] = &huma.Response{Description: http.StatusText(http.StatusRequestHeaderFieldsTooLarge), Content: problem}
	}
}
