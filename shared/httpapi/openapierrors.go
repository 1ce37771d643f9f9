package httpapi

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/scim"
)

// errorMeanings says, by status, what a refusal means for every operation that has it.
var errorMeanings = map[int]string{
	http.StatusBadRequest:                  "The request is not valid; errors names the faulty members or parameters. Nothing was changed.",
	http.StatusUnauthorized:                "There is no valid key: it is missing, unknown, expired or revoked, or its user is not active.",
	http.StatusForbidden:                   "The key is valid and may not do this; code says why.",
	http.StatusNotFound:                    "It does not exist, or this key may not know of it.",
	http.StatusMethodNotAllowed:            "The path does not have this method; Allow lists those that it has.",
	http.StatusConflict:                    "The request contradicts what is stored, or what the caller may read changed while it ran; code says how.",
	http.StatusGone:                        "What the request names is no longer kept.",
	http.StatusPreconditionFailed:          "The stored version is not the one that If-Match or If-None-Match asks for. Nothing was changed.",
	http.StatusRequestEntityTooLarge:       "The body, or what it holds when it is unpacked, is too large.",
	http.StatusUnsupportedMediaType:        "The Content-Type or Content-Encoding is not supported.",
	http.StatusTooManyRequests:             "A quota or a limit of requests per second is used up. Retry-After and RateLimit say when to continue.",
	http.StatusRequestHeaderFieldsTooLarge: "The request's line and headers are larger than 64 KB together.",
	http.StatusInternalServerError:         "An error of the service. The request id helps to find it.",
	http.StatusServiceUnavailable:          "The service cannot do it at the moment. Try again after Retry-After.",
}

// shareErrors moves the refusals that operations have in common to the components of the
// document, one for each status; those of SCIM, OAuth and the tools, whose errors have their own form, apart.
func shareErrors(doc *huma.OpenAPI) {
	shared := map[string]*huma.Response{}
	for path, op := range operations(doc) {
		for _, code := range slices.Sorted(maps.Keys(op.Responses)) {
			status, err := strconv.Atoi(code)
			if err != nil || status < http.StatusBadRequest {
				continue
			}
			name := strings.ReplaceAll(strings.ReplaceAll(http.StatusText(status), " ", ""), "-", "")
			if strings.HasPrefix(path, scim.Prefix) {
				name = "Scim" + name
			}
			response := op.Responses[code]
			if media := response.Content["application/json"]; media != nil && media.Schema.Ref == schemaPrefix+"OAuthError" {
				name = "OAuth" + name
			}
			if media := response.Content["application/json"]; media != nil && isOfTools(media.Schema) {
				name = "Tools" + name
			}
			if about, ok := errorMeanings[status]; ok {
				response.Description = about
			}
			describeErrorHeaders(response, status)
			if before, ok := shared[name]; !ok {
				shared[name] = response
			} else if !reflect.DeepEqual(before, response) {
				continue // this operation says something of its own
			}
			op.Responses[code] = &huma.Response{Ref: "#/components/responses/" + name}
		}
	}
	doc.Components.Responses = shared
}

// describeErrorHeaders adds the headers of a refusal.
func describeErrorHeaders(r *huma.Response, status int) {
	r.Headers = map[string]*huma.Param{}
	add := func(names ...string) {
		for _, name := range names {
			r.Headers[name] = headerRef(name)
		}
	}
	add(requestIDHeader)
	switch status {
	case http.StatusTooManyRequests:
		add("Retry-After", "RateLimit", "RateLimit-Policy")
	case http.StatusServiceUnavailable:
		add("Retry-After")
	case http.StatusUnauthorized:
		add("WWW-Authenticate")
	case http.StatusMethodNotAllowed:
		add("Allow")
	}
}
