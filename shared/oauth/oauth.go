// Package oauth lets a person give a program, such as an assistant with tools, access without a key
// that is copied by hand: OAuth 2.1's authorization code flow with PKCE, for public clients. What a
// program is given are the tokens of an agent in package team.
//
// It follows RFC 6749, RFC 7636 (PKCE), RFC 7591 (registration), RFC 8252 (loopback redirects),
// RFC 8707 (resource), RFC 9207 (issuer), RFC 9700 (security) and
// draft-ietf-oauth-client-id-metadata-document (clients that describe themselves).
package oauth

import (
	"context"
	"slices"
	"strings"
	"time"

	"docent/shared/table"
	"docent/shared/team"
)

// CodeLife is how long an authorization code works.
const CodeLife = time.Minute

// Service is the authorization server.
type Service struct {
	Table table.Store
	Teams *team.Service
	Now   func() time.Time
	// Issuer identifies the server: the address of the API, absolute, without a slash at the end.
	Issuer string
	// ReadDocument returns the description of a client at its address, which must be public: at most MaxDocument bytes,
	// or one more. It returns the errors of Unreadable. If it is nil, clients have to register.
	ReadDocument func(ctx context.Context, address string) ([]byte, error)
}

// The codes of errors (RFC 6749 sections 4.1.2.1 and 5.2, RFC 7591 section 3.2.2, RFC 8707 section 2).
const (
	InvalidRequest          = "invalid_request"
	InvalidClient           = "invalid_client"
	InvalidGrant            = "invalid_grant"
	InvalidScope            = "invalid_scope"
	InvalidTarget           = "invalid_target"
	InvalidRedirectURI      = "invalid_redirect_uri"
	InvalidClientMetadata   = "invalid_client_metadata"
	UnsupportedGrantType    = "unsupported_grant_type"
	UnsupportedResponseType = "unsupported_response_type"
	AccessDenied            = "access_denied"
)

// Error is an error for the client, as JSON.
type Error struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Description }

func refuse(code, description string) *Error { return &Error{code, description} }

// Resource returns the address for which tokens are: the tools of the API.
func (s *Service) Resource() string { return s.Issuer + "/mcp" }

// Metadata describes the server (RFC 8414 section 2). Its registration and its clients need no
// secret, so authentication at its endpoints is "none".
func (s *Service) Metadata() map[string]any {
	return map[string]any{
		"issuer":                                         s.Issuer,
		"authorization_endpoint":                         s.Issuer + "/oauth/authorize",
		"token_endpoint":                                 s.Issuer + "/oauth/token",
		"registration_endpoint":                          s.Issuer + "/oauth/register",
		"revocation_endpoint":                            s.Issuer + "/oauth/revoke",
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"scopes_supported":                               team.AgentScopes(),
		"authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported":          s.ReadDocument != nil,
	}
}

// ScopeText returns scopes as OAuth writes them (RFC 6749 section 3.3).
func ScopeText(scopes []team.Scope) string {
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = string(scope)
	}
	return strings.Join(names, " ")
}

// offlineAccess asks for a refresh token, which every program gets (OpenID Connect Core section 11). It says nothing about
// what a program may do.
const offlineAccess = "offline_access"

// scopesOf returns the scopes in text that an agent can have, and leaves out others. It returns all of them
// for a text without a scope but offlineAccess, and invalid_scope if it knows none of the scopes in text.
func scopesOf(text string) ([]team.Scope, error) {
	names := slices.DeleteFunc(strings.Fields(text), func(name string) bool { return name == offlineAccess })
	if len(names) == 0 {
		return team.AgentScopes(), nil
	}
	var asked []team.Scope
	for _, scope := range team.AgentScopes() {
		if slices.Contains(names, string(scope)) {
			asked = append(asked, scope)
		}
	}
	if asked == nil {
		return nil, refuse(InvalidScope, "scope names none of: "+ScopeText(team.AgentScopes())+".")
	}
	return asked, nil
}

// ResourceMetadata describes the tools as a protected resource (RFC 9728 section 2).
func (s *Service) ResourceMetadata() map[string]any {
	return map[string]any{
		"resource":                 s.Resource(),
		"resource_name":            "Docent",
		"authorization_servers":    []string{s.Issuer},
		"scopes_supported":         team.AgentScopes(),
		"bearer_methods_supported": []string{"header"},
	}
}
