package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/oauth"
)

// describeOAuth adds the operations of the authorization server to the document, which huma does not
// serve: their bodies and errors are those of OAuth.
func describeOAuth(api huma.API) {
	doc := api.OpenAPI()
	// Each text has a schema of its own: that of a member of a JSON body is made nullable later, which nothing in a form can be.
	text := func() *huma.Schema { return &huma.Schema{Type: huma.TypeString} }
	object := func(names ...string) *huma.Schema {
		s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Properties: map[string]*huma.Schema{}}
		for _, name := range names {
			s.Properties[name] = text()
		}
		return s
	}
	named := func(name, about string, s *huma.Schema) *huma.Schema {
		s.Description = about
		doc.Components.Schemas.Map()[name] = s
		return &huma.Schema{Ref: schemaPrefix + name}
	}
	oauthError := object("error", "error_description")
	oauthError.Required = []string{"error"}
	fault := named("OAuthError", "An error of OAuth (RFC 6749 section 5.2).", oauthError)
	metadata := named("OAuthMetadata", "What a client reads before it asks for access (RFC 8414, RFC 9728).", object())
	tokens := object("access_token", "token_type", "refresh_token", "scope")
	tokens.Properties["expires_in"] = &huma.Schema{Type: huma.TypeInteger, Description: "Seconds."}
	tokens.Required = []string{"access_token", "token_type"}
	registration := object("client_id", "client_name", "token_endpoint_auth_method", "scope")
	registration.Properties["redirect_uris"] = &huma.Schema{Type: huma.TypeArray, MinItems: ptr(1), MaxItems: ptr(oauth.MaxRedirectURIs), Items: text()}
	registration.Required = []string{"redirect_uris"}
	client := named("OAuthClient", "A client (RFC 7591 section 3.2.1).", registration)
	reply := named("OAuthTokens", "Tokens (RFC 6749 section 5.1).", tokens)
	exchange := object("grant_type", "client_id", "code", "redirect_uri", "code_verifier", "refresh_token", "scope", "resource")
	exchange.Properties["grant_type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{"authorization_code", "refresh_token"}}
	exchange.Required = []string{"grant_type", "client_id"}
	const form = "application/x-www-form-urlencoded"
	for _, o := range []oauthOperation{
		{oauthRegister, "registerClient", "Register a program that asks people for access", http.StatusCreated, client, "application/json", client},
		{oauthAuthorize, "authorize", "Ask the person in this browser for access", http.StatusFound, nil, "", nil},
		{oauthToken, "exchangeToken", "Exchange a code or a refresh token for tokens", http.StatusOK, reply, form, exchange},
		{oauthRevoke, "revokeToken", "End the access that a token gives", http.StatusOK, nil, form, object("token", "token_type_hint", "client_id")},
		{serverMetadata, "getAuthorizationServer", "Get the metadata of the authorization server", http.StatusOK, metadata, "", nil},
		{serverMetadataOIDC, "getAuthorizationServerByDiscovery", "Get the metadata of the authorization server where OpenID Connect has it", http.StatusOK, metadata, "", nil},
		{resourceMetadata, "getProtectedResource", "Get the metadata of the tools as a protected resource", http.StatusOK, metadata, "", nil},
		{resourceMetadataMCP, "getProtectedResourceOfTools", "Get the metadata of the tools as a protected resource", http.StatusOK, metadata, "", nil},
	} {
		op := o.operation(fault)
		if o.pattern == oauthAuthorize {
			op.Responses[strconv.Itoa(o.status)].Headers = map[string]*huma.Param{"Location": {Schema: text()}}
			problem := doc.Paths["/agents/{agentId}"].Delete.Responses["404"]
			op.Responses["400"] = &huma.Response{Description: http.StatusText(http.StatusBadRequest), Content: problem.Content}
			for _, name := range authorizeParameters {
				op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Schema: text()})
			}
		}
		doc.AddOperation(op)
	}
}

// oauthOperation is one operation of the authorization server.
type oauthOperation struct {
	pattern, id, summary string
	status               int
	reply                *huma.Schema
	media                string // of body
	body                 *huma.Schema
}

// operation returns the description of o, whose errors have the schema fault.
func (o oauthOperation) operation(fault *huma.Schema) *huma.Operation {
	method, path, _ := strings.Cut(o.pattern, " ")
	success := &huma.Response{Description: http.StatusText(o.status)}
	if o.reply != nil {
		success.Content = map[string]*huma.MediaType{"application/json": {Schema: o.reply}}
	}
	op := &huma.Operation{OperationID: o.id, Method: method, Path: path, Summary: o.summary, Tags: []string{"Agents"},
		Security: []map[string][]string{{}}, Responses: map[string]*huma.Response{strconv.Itoa(o.status): success}}
	if o.body != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{o.media: {Schema: o.body}}}
		for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized} {
			op.Responses[strconv.Itoa(status)] = &huma.Response{Description: "An error of OAuth.", Content: map[string]*huma.MediaType{"application/json": {Schema: fault}}}
		}
	}
	return op
}
