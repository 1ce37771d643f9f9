package main

import (
	"encoding/json"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/apierr"
)

// response is a reply that the gateway sends without a function.
type response struct {
	types  []string
	status int
	title  string
	code   string
	detail string
	again  bool // with Retry-After
}

// responses cover every reply that the gateway may send itself, so that clients read one format. A type that is not
// listed uses its DEFAULT. 429 is only for the daily quotas: a throttled request is 503.
var responses = []response{
	{[]string{"MISSING_AUTHENTICATION_TOKEN", "RESOURCE_NOT_FOUND"}, // what the gateway calls an unknown path
		404, "Not found", apierr.CodeNotFound, "No resource exists at this path.", false},
	{[]string{"REQUEST_TOO_LARGE"}, 413, "Request too large", apierr.CodeTooLarge,
		"A request must not exceed 10 MB, or 6 MB as the service receives it. " +
			"Send the document's body as base64 of its gzip form, or send fewer bytes.", false},
	{[]string{"THROTTLED", "QUOTA_EXCEEDED"}, 503, "Temporarily unavailable", apierr.CodeUnavailable,
		"There are too many requests at this moment. Try again.", true},
	{[]string{"UNSUPPORTED_MEDIA_TYPE"}, 415, "Unsupported media type", apierr.CodeUnsupportedMedia,
		"The body's media type is not supported here.", false},
	{[]string{"BAD_REQUEST_BODY", "BAD_REQUEST_PARAMETERS", "DEFAULT_4XX"}, 400, "Invalid request", apierr.CodeInvalidRequest,
		"The request is not valid.", false},
	{[]string{"UNAUTHORIZED"}, 401, "Unauthorized", apierr.CodeUnauthorized,
		"A valid API key is required in the header Authorization: Bearer <key>.", false},
	{[]string{"ACCESS_DENIED", "WAF_FILTERED", "INVALID_API_KEY", "EXPIRED_TOKEN", "INVALID_SIGNATURE"}, 403, "Forbidden", codeForbidden,
		"This request is refused.", false},
	{[]string{"INTEGRATION_TIMEOUT", "INTEGRATION_FAILURE"}, 503, "Temporarily unavailable", apierr.CodeUnavailable,
		"The service is temporarily unavailable. Try again.", true},
	{[]string{"API_CONFIGURATION_ERROR", "AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "DEFAULT_5XX"}, 500, "Internal error", apierr.CodeInternal,
		"An internal error occurred. Give the request id to support.", false},
}

// codeForbidden is used only by the gateway: the functions say why they refuse.
const codeForbidden = "forbidden"

func (s *stack) addResponses() {
	for _, r := range responses {
		headers := map[string]*string{"X-Request-Id": jsii.String("context.requestId"),
			"Cache-Control": jsii.String("'no-store'"), "X-Content-Type-Options": jsii.String("'nosniff'")}
		if r.again {
			headers["Retry-After"] = jsii.String("'1'")
		}
		if r.status == 401 {
			headers["WWW-Authenticate"] = jsii.String("'Bearer'")
		}
		for _, t := range r.types {
			s.api.AddGatewayResponse(id("Response", t), &awsapigateway.GatewayResponseOptions{
				Type:            awsapigateway.ResponseType_Of(jsii.String(t)),
				StatusCode:      jsii.String(strconv.Itoa(r.status)),
				ResponseHeaders: &headers,
				Templates:       &map[string]*string{"application/json": jsii.String(r.body())},
			})
		}
	}
}

// body is the reply's body; the gateway inserts the request id.
func (r response) body() string {
	text, err := json.Marshal(struct {
		Status    int    `json:"status"`
		Type      string `json:"type"`
		Title     string `json:"title"`
		Detail    string `json:"detail"`
		Code      string `json:"code"`
		RequestID string `json:"requestId"`
	}{r.status, "urn:docent:problem:" + r.code, r.title, r.detail, r.code, "$context.requestId"})
	if err != nil {
		panic(err) // texts and a number can always be encoded
	}
	return string(text)
}
