package httpapi_test

import (
	"strings"
	"testing"

	"docent/shared/extract"
)

// TestWaysOutOfARefusal: a refusal that the caller can do something about says what.
func TestWaysOutOfARefusal(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	upload := a.do(call{"POST", "/uploads", acme.key, map[string]any{"mediaType": extract.PDF, "size": 5}, nil}).want(t, 201).text(t, "id")
	put := map[string]string{"collectionId": wiki, "uri": "https://x.test/file", "title": "t", "upload": upload}
	again := map[string]string{"Idempotency-Key": "k"}
	a.do(call{"POST", "/collections", acme.key, map[string]string{"name": "a", "description": "d"}, again}).want(t, 201)
	secret := map[string]any{"collectionId": wiki, "uri": "https://x.test/secret", "title": "t", "body": "b", "access": map[string]any{"users": []string{"nobody"}}}
	a.do(call{"PUT", "/documents", acme.pat, secret, nil}).want(t, 200)
	for _, tt := range []struct {
		call   call
		status int
		want   string
	}{
		{call{"PUT", "/documents", acme.pat, secret, nil}, 403, "A team key that acts for nobody may"},
		{call{"PUT", "/documents", acme.key, put, nil}, 409, "Send it to the uploadUrl"},
		{call{"POST", "/collections", acme.key, map[string]string{"name": "b", "description": "d"}, again}, 409, "Choose another one."},
		{call{"GET", "/team/saml-metadata", acme.pat, nil, nil}, 404, "Set it with PUT /team/saml-metadata."},
		{call{"DELETE", "/team/saml-metadata", acme.pat, nil, nil}, 404, "Set it with PUT /team/saml-metadata."},
		{call{"DELETE", "/team/openid-provider", acme.pat, nil, nil}, 404, "Set it with PUT /team/openid-provider."},
		{call{"GET", "/collections", acme.scim, nil, nil}, 403, "Use a personal or team key."},
		{call{"GET", "/sessions", acme.key, nil, nil}, 403, "Use a personal key."},
	} {
		if got := a.do(tt.call).want(t, tt.status).text(t, "detail"); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %q does not say %q", tt.call.method, tt.call.path, got, tt.want)
		}
	}
	a.do(call{"PUT", "/documents", acme.key, secret, nil}).want(t, 200)
}

// TestFaultsReadAlike: every validation error names the field and says what it must be.
func TestFaultsReadAlike(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, tt := range []struct {
		name           string
		call           call
		pointer, fault string
	}{
		{"a huge number", call{"POST", "/collections", acme.key, `{"name":"a","description":"b","unknown":1e400}`, nil}, "", "the body has a number that is too large"},
		{"no JSON", call{"POST", "/collections", acme.key, `{`, nil}, "", "the body is not well-formed JSON: it ends too early"},
		{"a comma too many", call{"POST", "/collections", acme.key, "{\n  \"name\": \"ä\",}", nil}, "", "the body is not well-formed JSON at line 2, column 15"},
		{"single quotes", call{"POST", "/collections", acme.key, `{'name':'a'}`, nil}, "", "the body is not well-formed JSON at column 2: strings are in double quotes"},
		{"a line break in a string", call{"POST", "/collections", acme.key, "{\"name\":\"a\nb\"}", nil}, "",
			`the body is not well-formed JSON at line 1, column 11: in a string, line breaks and other control characters are escaped, as in \n`},
		{"a path of Windows", call{"POST", "/collections", acme.key, `{"name":"C:\docs"}`, nil}, "",
			`the body is not well-formed JSON at column 13: in a string, a backslash is escaped, as in \\`},
		{"a byte order mark", call{"POST", "/collections", acme.key, "\ufeff{}", nil}, "",
			"the body is not well-formed JSON: it begins with a byte order mark, which JSON must not have"},
		{"a text after it", call{"POST", "/collections", acme.key, "{}\nx", nil}, "", "the body is not well-formed JSON at line 2, column 1"},
		{"a missing member", call{"POST", "/collections", acme.key, `{"name":"wiki"}`, nil}, "/description", "is required"},
		{"too short", call{"POST", "/collections", acme.key, `{"name":"","description":"d"}`, nil}, "/name", "must not be empty"},
		{"too long", call{"POST", "/context/search", acme.key, map[string]string{"query": strings.Repeat("x", 10_001)}, nil}, "/query", "must have at most 10000 characters"},
		{"no string", call{"POST", "/context/search", acme.key, `{"query":5}`, nil}, "/query", "must be a string"},
		{"too much", call{"POST", "/context/search", acme.key, `{"query":"x","limit":51}`, nil}, "/limit", "must be at most 50"},
		{"none of some", call{"POST", "/context/research", acme.key, `{"query":"x","effort":"extreme"}`, nil}, "/effort", `must be one of low, medium, high`},
		{"none of some, or null", call{"PATCH", "/team/single-sign-on", acme.pat, `{"method":"ldap"}`, nil}, "/method", "must be one of saml, oidc, null"},
		{"no time", call{"POST", "/context/query/issues", acme.key, `{"query":"x","createdAfter":"May"}`, nil}, "/createdAfter", "must be an RFC 3339 time"},
		{"a parameter that is not a number", call{"GET", "/collections?limit=x", acme.key, nil, nil}, "/query/limit", "must be a whole number"},
		{"a missing parameter", call{"GET", "/usage", acme.key, nil, nil}, "/query/start", "is required"},
		{"a parameter of ours", call{"GET", "/security-events?format=x", acme.key, nil, nil}, "/query/format", "must be native or ocsf"},
		{"two values in one", call{"GET", "/usage?start=2026-11-01&groupBy=user,feature", acme.key, nil, nil}, "/query/groupBy", "must be feature, user, apiKey, client, collection or dataSource; give it twice for two of them"},
		{"a member of a list, of ours", call{"POST", "/context/query/prs", acme.key, `{"query":"x","labels":[""]}`, nil}, "/labels/0", "must have 1 to 256 characters"},
		{"members of two lists, of ours", call{"POST", "/context/query/prs", acme.key, `{"query":"x","labels":[""],"projects":["a",""]}`, nil}, "/projects/1", "must have 1 to 256 characters"},
		{"a large bound", call{"POST", "/uploads", acme.key, `{"mediaType":"application/pdf","size":104857601}`, nil}, "/size", "must be at most 104857600"},
		{"a long list", call{"POST", "/uploads", acme.key, `{"mediaType":"text/plain","size":5}`, nil}, "/mediaType", "must be one of " + strings.Join(extract.MediaTypes(), ", ")},
		{"a wrong form", call{"POST", "/uploads", acme.key, map[string]any{"mediaType": extract.PDF, "size": 5, "sha256": strings.Repeat("x", 64)}, nil}, "/sha256", "must be 64 hexadecimal digits"},
		{"a wrong form and length", call{"POST", "/uploads", acme.key, `{"mediaType":"application/pdf","size":5,"sha256":"x"}`, nil}, "/sha256", "must have at least 64 characters"},
	} {
		reply := a.refused(tt.call, 400, "invalid-request")
		fault := tt.fault
		if tt.pointer != "" {
			fault = tt.pointer + ": " + fault
		}
		if got, want := reply.text(t, "detail"), "The request is not valid: "+fault+"."; got != want {
			t.Errorf("%s: %q, want %q", tt.name, got, want)
		}
		if strings.Count(string(reply.body), `"pointer"`) != 1 || !strings.Contains(string(reply.body), `"pointer":"`+tt.pointer+`"`) {
			t.Errorf("%s: %s", tt.name, reply.body)
		}
	}
}
