package httpapi

import (
	"context"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/scim"
	"docent/shared/team"
)

// scopes has, by operation, the scopes of which a key needs one. An empty list: every key may call it.
// The edge checks it before anything else of the operation runs. A key with scopes cannot call an operation
// that is missing here. Operations without a key are not listed, and those of SCIM need manage.
var scopes = map[string][]team.Scope{
	// What a caller is, and what it can call.
	"GET /me":                              {},
	"GET /team":                            {},
	"GET /models":                          {},
	"GET /models/{model}":                  {},
	"GET /usage/quotas":                    {},
	"DELETE /sessions/{sessionId}":         {}, // to sign out
	"POST /oauth/consent":                  {}, // gives an agent no more than the session has
	"POST /oauth/decision":                 {},
	"POST " + mcpPath:                      {team.ScopeRead, team.ScopeAsk}, // each tool needs one of them
	"GET /collections":                     {team.ScopeRead},
	"GET /collections/{collectionId}":      {team.ScopeRead},
	"GET /data-sources":                    {team.ScopeRead},
	"GET /documents":                       {team.ScopeRead},
	"GET /documents/{documentId}":          {team.ScopeRead},
	"GET /documents/{documentId}/access":   {team.ScopeRead},
	"GET /documents/{documentId}/original": {team.ScopeRead},
	"POST /context/search":                 {team.ScopeRead},
	"POST /context/search/code":            {team.ScopeRead},
	"POST /context/search/prs":             {team.ScopeRead},
	"POST /context/search/issues":          {team.ScopeRead},
	"POST /context/search/documentation":   {team.ScopeRead},
	"POST /context/search/messages":        {team.ScopeRead},
	"POST /context/research":               {team.ScopeRead},
	"POST /context/query/issues":           {team.ScopeRead},
	"POST /context/query/prs":              {team.ScopeRead},
	"POST /context/get":                    {team.ScopeRead},

	"GET /answers":                       {team.ScopeAsk},
	"GET /answers/{questionId}":          {team.ScopeAsk},
	"PUT /answers/{questionId}":          {team.ScopeAsk},
	"DELETE /answers/{questionId}":       {team.ScopeAsk},
	"PUT /answers/{questionId}/feedback": {team.ScopeAsk},
	"POST /chat/completions":             {team.ScopeAsk},
	"POST /responses":                    {team.ScopeAsk},

	"PUT /documents":                          {team.ScopeWrite},
	"POST /uploads":                           {team.ScopeWrite},
	"PATCH /documents/{documentId}":           {team.ScopeWrite},
	"DELETE /documents/{documentId}":          {team.ScopeWrite},
	"POST /data-sources/{dataSourceId}/items": {team.ScopeWrite},

	"POST /collections":                      {team.ScopeManage},
	"PATCH /collections/{collectionId}":      {team.ScopeManage},
	"DELETE /collections/{collectionId}":     {team.ScopeManage},
	"POST /data-sources":                     {team.ScopeManage},
	"PATCH /data-sources/{dataSourceId}":     {team.ScopeManage},
	"DELETE /data-sources/{dataSourceId}":    {team.ScopeManage},
	"POST /data-sources/{dataSourceId}/sync": {team.ScopeManage},
	"GET /api-keys":                          {team.ScopeManage},
	"POST /api-keys":                         {team.ScopeManage},
	"DELETE /api-keys/{keyId}":               {team.ScopeManage},
	"POST /api-keys/{keyId}/rotate":          {team.ScopeManage},
	"GET /agents":                            {team.ScopeManage},
	"DELETE /agents/{agentId}":               {team.ScopeManage},
	"GET /sessions":                          {team.ScopeManage},
	"DELETE /sessions":                       {team.ScopeManage},
	"PATCH /team":                            {team.ScopeManage},
	"GET /team/saml-metadata":                {team.ScopeManage},
	"PUT /team/saml-metadata":                {team.ScopeManage},
	"DELETE /team/saml-metadata":             {team.ScopeManage},
	"PUT /team/saml-metadata/url":            {team.ScopeManage},
	"PUT /team/openid-provider":              {team.ScopeManage},
	"DELETE /team/openid-provider":           {team.ScopeManage},
	"GET /team/single-sign-on":               {team.ScopeManage},
	"PATCH /team/single-sign-on":             {team.ScopeManage},

	"GET /webhook-endpoints":                                                     {team.ScopeManage},
	"POST /webhook-endpoints":                                                    {team.ScopeManage},
	"GET /webhook-endpoints/{webhookEndpointId}":                                 {team.ScopeManage},
	"PATCH /webhook-endpoints/{webhookEndpointId}":                               {team.ScopeManage},
	"DELETE /webhook-endpoints/{webhookEndpointId}":                              {team.ScopeManage},
	"POST /webhook-endpoints/{webhookEndpointId}/rotate":                         {team.ScopeManage},
	"POST /webhook-endpoints/{webhookEndpointId}/test":                           {team.ScopeManage},
	"GET /webhook-endpoints/{webhookEndpointId}/deliveries":                      {team.ScopeManage},
	"POST /webhook-endpoints/{webhookEndpointId}/deliveries/{deliveryId}/replay": {team.ScopeManage},

	"GET /security-events":           {team.ScopeAudit},
	"GET /security-events/types":     {team.ScopeAudit},
	"GET /security-events/{eventId}": {team.ScopeAudit},
	"GET /usage":                     {team.ScopeAudit},
	"GET /usage/users":               {team.ScopeAudit},
	"GET /usage/unanswered":          {team.ScopeAudit},
}

// signOnChanges are the operations that change how people sign in. Who signs in at a provider gets a session with all
// scopes that no key ends, so they need a full key.
var signOnChanges = []string{samlPattern, "PUT /team/saml-metadata/url", "DELETE /team/saml-metadata",
	"PUT /team/openid-provider", "DELETE /team/openid-provider", "PATCH /team/single-sign-on"}

// requireFullKey returns an error if the operation at pattern needs a full key and p has none.
func (s Services) requireFullKey(ctx context.Context, p team.Principal, pattern string) error {
	if !slices.Contains(signOnChanges, pattern) {
		return nil
	}
	return s.Teams.RequireFullKey(team.WithPrincipal(ctx, p), "change how people sign in")
}

// scopesOf returns the scopes of which the operation at pattern needs one; false: there is no such
// operation.
func scopesOf(pattern string) ([]team.Scope, bool) {
	if _, path, _ := strings.Cut(pattern, " "); isSCIM(path) {
		return []team.Scope{team.ScopeManage}, true
	}
	needed, ok := scopes[pattern]
	return needed, ok
}

// everyKind are the operations outside SCIM that a scim key may call.
var everyKind = []string{"GET /me", "GET /team"}

// requireProvisioning returns wrong-key-kind for a scim key outside SCIM, before anything of its request is checked:
// what is wrong with a request is of no use to a key that may not make it. pattern is empty for an unknown path or
// method.
func requireProvisioning(p team.Principal, path, pattern string) error {
	if isSCIM(path) || pattern == "" || slices.Contains(everyKind, pattern) {
		return nil
	}
	return team.RequireKind(p, team.KindPersonal, team.KindTeam, team.KindSession, team.KindAgent)
}

// requireScope returns missing-scope if p may not call the operation at pattern, which is empty for an unknown
// path or method.
func requireScope(p team.Principal, path, pattern string) error {
	if isSCIM(path) {
		pattern = " " + scim.Prefix
	}
	needed, ok := scopesOf(pattern)
	if pattern == "" || ok && len(needed) == 0 {
		return nil
	}
	return team.RequireScope(p, needed...)
}

// describeScopes adds the scope to the description of each operation with a key, and as x-scopes.
func describeScopes(doc *huma.OpenAPI) {
	for path, op := range operations(doc) {
		needed, ok := scopesOf(op.Method + " " + path)
		if !ok {
			continue
		}
		names := make([]string, len(needed))
		for i, scope := range needed {
			names[i] = string(scope)
		}
		op.Extensions = map[string]any{"x-scopes": names}
		switch {
		case len(names) == 0:
			op.Description += " Every key may call it, whatever its scopes."
		case slices.Contains(signOnChanges, op.Method+" "+path):
			op.Description += " It needs a key with all scopes and without an expiry, or a session that was opened by such a key or without a key."
		default:
			op.Description += " A key with scopes needs " + strings.Join(names, " or ") + "."
		}
	}
}
