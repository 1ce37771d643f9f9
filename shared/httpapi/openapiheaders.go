package httpapi

import (
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/scim"
)

const requestIDHeader = "X-Request-Id"

// headerTexts describes the headers that replies of several operations have.
var headerTexts = map[string]string{
	requestIDHeader:    "Identifies the request in logs and in support. A client may choose it by sending the header.",
	"Retry-After":      "Seconds until it is worth trying again (RFC 9110 section 10.2.3).",
	"RateLimit":        "What is left of each quota and limit, and the seconds until it is full again (draft-ietf-httpapi-ratelimit-headers-11).",
	"RateLimit-Policy": "The quotas and limits that the request counted against: team-rate and key-rate are requests per second, over windows of 10 seconds. A request that reads or writes much in the tables counts as several, afterwards: one more for each 500 read and write units.",
	"WWW-Authenticate": "Bearer (RFC 6750).",
	"Allow":            "The methods of the path.",
	"ETag":             "The version of what the reply shows, for If-Match and If-None-Match.",
	"Location":         "The address of what was created, or to which the reply leads.",
	"Link":             "RFC 8288 links with rel prev and next, where there are such pages.",
}

// compressedText is in words and not a parameter: tools that generate requests would set the header without compressing
// the body.
const compressedText = "It may be compressed: Content-Encoding: gzip."

func headerRef(name string) *huma.Param { return &huma.Param{Ref: "#/components/headers/" + name} }

// describeHeaders moves the headers of replies to the components of the document, and adds those
// that every reply has.
func describeHeaders(doc *huma.OpenAPI) {
	doc.Components.Headers = map[string]*huma.Header{}
	for name, text := range headerTexts {
		kind := huma.TypeString
		if name == "Retry-After" {
			kind = huma.TypeInteger
		}
		doc.Components.Headers[name] = &huma.Param{Description: text, Schema: &huma.Schema{Type: kind}}
	}
	for path, op := range operations(doc) {
		if op.RequestBody != nil && mayBeCompressed(path, op.RequestBody.Content) {
			op.RequestBody.Description = strings.TrimSpace(op.RequestBody.Description + " " + compressedText)
		}
		for code, r := range op.Responses {
			if status, err := strconv.Atoi(code); err != nil || status >= http.StatusBadRequest {
				continue
			}
			if r.Headers == nil {
				r.Headers = map[string]*huma.Param{}
			}
			r.Headers[requestIDHeader] = headerRef(requestIDHeader)
			if op.Security == nil { // it takes a key
				r.Headers["RateLimit"], r.Headers["RateLimit-Policy"] = headerRef("RateLimit"), headerRef("RateLimit-Policy")
			}
			for name := range r.Headers {
				if _, shared := headerTexts[name]; shared {
					r.Headers[name] = headerRef(name)
				}
			}
		}
	}
}

// mayBeCompressed reports whether a body of these media types may come in gzip. Webhooks are signed as
// they are sent, and SCIM and registrations of programs are small.
func mayBeCompressed(path string, content map[string]*huma.MediaType) bool {
	if strings.HasPrefix(path, scim.Prefix) || strings.HasPrefix(path, "/webhooks/") || path == "/oauth/register" {
		return false
	}
	return content["application/json"] != nil || content["application/x-ndjson"] != nil
}

// operations yields each operation of the document with its path.
func operations(doc *huma.OpenAPI) iter.Seq2[string, *huma.Operation] {
	return func(yield func(string, *huma.Operation) bool) {
		for path, item := range doc.Paths {
			for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
				if op != nil && !yield(path, op) {
					return
				}
			}
		}
	}
}
