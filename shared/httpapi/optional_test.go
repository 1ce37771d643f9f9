package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/app"
	"docent/shared/httpapi"
	"docent/shared/team"
)

// goodBodies returns a call of every operation that takes a described JSON object, by its id.
func goodBodies(a *api, acme tenant) map[string]call {
	wiki := a.newCollection(acme.key, "wiki")
	document := a.putDocument(acme.key, wiki, "https://x.test/changed", "t", "b")
	keyID, _ := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "rotated"})
	post := func(path string, body map[string]any) call { return call{"POST", path, acme.pat, body, nil} }
	query := map[string]any{"query": "kirschkern"}
	answered := numberedID(99)
	a.ask(acme.pat, answered, "Who?").want(a.t, 204)
	a.drain()
	var source struct{ ID string }
	made := a.do(post("/data-sources", map[string]any{"provider": "jira", "name": "Tickets"}))
	if err := json.Unmarshal(made.body, &source); err != nil {
		a.t.Fatal(err)
	}
	var hook struct{ ID string }
	newHook := map[string]any{"url": "https://hooks.x.test/", "eventTypes": []string{"answer.failed"}, "description": "d", "disabled": false}
	if err := json.Unmarshal(a.do(post("/webhook-endpoints", newHook)).body, &hook); err != nil {
		a.t.Fatal(err)
	}
	cookie, p := a.signIn(acme), a.program(redirect)
	decision := p.request()
	decision["allow"] = true
	return map[string]call{
		"createCollection":      post("/collections", map[string]any{"name": "n", "description": "d", "iconUrl": "https://x.test/i.png"}),
		"updateCollection":      {"PATCH", "/collections/" + wiki, acme.pat, map[string]any{"name": "n", "description": "d", "iconUrl": "https://x.test/i.png"}, nil},
		"putDocument":           {"PUT", "/documents", acme.key, map[string]any{"collectionId": wiki, "title": "t", "body": "b", "uri": "https://x.test/"}, nil},
		"updateDocument":        {"PATCH", "/documents/" + document, acme.key, map[string]any{"title": "t", "metadata": map[string]any{"a": 1}, "access": map[string]any{"users": []string{}}}, nil},
		"createUpload":          post("/uploads", map[string]any{"mediaType": "application/pdf", "size": 5, "sha256": strings.Repeat("0a", 32)}),
		"askQuestion":           {"PUT", "/answers/" + numberedID(1), acme.pat, map[string]any{"question": "q"}, nil},
		"createChatCompletion":  post("/chat/completions", map[string]any{"model": "docent", "messages": []any{map[string]any{"role": "user", "content": "q"}}, "stream": false, "stream_options": map[string]any{"include_usage": false}, "response_format": map[string]any{"type": "text"}}),
		"createResponse":        post("/responses", map[string]any{"model": "docent", "input": "q", "stream": false, "text": map[string]any{"format": map[string]any{"type": "text"}}, "metadata": map[string]any{}}),
		"rateAnswer":            {"PUT", "/answers/" + answered + "/feedback", acme.pat, map[string]any{"rating": "up", "comment": "c"}, nil},
		"createApiKey":          post("/api-keys", map[string]any{"kind": "team", "name": "n", "expiresAt": "2026-12-31T00:00:00Z", "dataSourceIds": []string{wiki}, "scopes": []string{"read"}}),
		"rotateApiKey":          post("/api-keys/"+keyID+"/rotate", map[string]any{"overlapSeconds": 60}),
		"signIn":                {"POST", "/sessions", "", map[string]any{"credential": acme.pat}, nil},
		"showConsent":           {"POST", "/oauth/consent", "", p.request(), by(cookie)},
		"decideConsent":         {"POST", "/oauth/decision", "", decision, by(cookie)},
		"updateTeam":            {"PATCH", "/team", acme.pat, map[string]any{"name": "Acme", "webFetch": false}, nil},
		"updateSingleSignOn":    {"PATCH", "/team/single-sign-on", acme.pat, map[string]any{"attribute": "mail", "required": false}, nil},
		"setOpenIdProvider":     {"PUT", "/team/openid-provider", acme.pat, map[string]any{"issuer": "https://idp.x.test", "clientId": "docent", "clientSecret": "s"}, nil},
		"setSamlMetadataUrl":    {"PUT", "/team/saml-metadata/url", acme.pat, map[string]any{"url": samlAddress}, nil},
		"createDataSource":      post("/data-sources", map[string]any{"provider": "web", "name": "n", "settings": map[string]any{"sitemap": "https://x.test/s.xml"}}),
		"updateDataSource":      {"PATCH", "/data-sources/" + source.ID, acme.pat, map[string]any{"settings": map[string]any{}}, nil},
		"searchContext":         post("/context/search", query),
		"searchCode":            post("/context/search/code", query),
		"searchDocumentation":   post("/context/search/documentation", query),
		"searchIssues":          post("/context/search/issues", query),
		"searchMessages":        post("/context/search/messages", query),
		"searchPullRequests":    post("/context/search/prs", query),
		"research":              post("/context/research", query),
		"queryIssues":           post("/context/query/issues", query),
		"queryPullRequests":     post("/context/query/prs", query),
		"getContent":            post("/context/get", map[string]any{"urls": []string{"https://x.test/"}}),
		"createWebhookEndpoint": post("/webhook-endpoints", newHook),
		"updateWebhookEndpoint": {"PATCH", "/webhook-endpoints/" + hook.ID, acme.pat, newHook, nil},
		"rotateWebhookSecret":   post("/webhook-endpoints/"+hook.ID+"/rotate", map[string]any{"overlapSeconds": 60}),
	}
}

// property is a member of a described request body.
type property struct {
	path     []string // names from the body down
	schema   *huma.Schema
	optional bool
}

// pointer returns the JSON pointer of the property.
func (p property) pointer() string { return "/" + strings.Join(p.path, "/") }

// in returns body with the property set to value, or left out.
func (p property) in(body map[string]any, value any, leaveOut bool) map[string]any {
	out := maps.Clone(body)
	name := p.path[0]
	switch {
	case len(p.path) > 1:
		inner, _ := body[name].(map[string]any)
		out[name] = property{path: p.path[1:]}.in(inner, value, leaveOut)
	case leaveOut:
		delete(out, name)
	default:
		if out == nil {
			out = map[string]any{}
		}
		out[name] = value
	}
	return out
}

// nullable reports whether null is described as a value of p.
func (p property) nullable() bool {
	return p.schema.Nullable || slices.ContainsFunc(p.schema.AnyOf, func(s *huma.Schema) bool { return s.Type == "null" })
}

// properties returns the members of a described object, and those of the objects in it. It leaves out filters,
// which contain filters: their members are no options, and null is refused; see TestBadFilters.
func properties(doc *huma.OpenAPI, s *huma.Schema, within ...string) (all []property) {
	switch path.Base(s.Ref) {
	case "Filter", "ToolChoice", "FunctionChoice": // which are accepted or refused as a whole
		return nil
	}
	for _, one := range s.AnyOf {
		all = append(all, properties(doc, one, within...)...)
	}
	if s.Ref != "" {
		s = doc.Components.Schemas.SchemaFromRef(s.Ref)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		at := append(slices.Clone(within), name)
		all = append(all, property{at, s.Properties[name], !slices.Contains(s.Required, name)})
		all = append(all, properties(doc, s.Properties[name], at...)...)
	}
	return all
}

// TestNullsAndWholeNumbers tries every operation of the OpenAPI document. For an optional member,
// null counts as left out, except in a merge patch, where it removes the member or is refused. For
// a required member it is refused. 1.0 and 1e0 are 1.
func TestNullsAndWholeNumbers(t *testing.T) {
	t.Parallel()
	doc := httpapi.OpenAPI(app.Providers())
	a := newAPI(t)
	acme := a.newTenant("acme")
	good := goodBodies(a, acme)
	hook := good["updateWebhookEndpoint"].path
	for path, item := range doc.Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch} {
			if op == nil || strings.HasPrefix(path, "/scim") {
				continue
			}
			path := strings.Replace(path, "/webhook-endpoints/{webhookEndpointId}", hook, 1)
			for _, p := range op.Parameters {
				if method == "GET" && p.Schema.Type == huma.TypeInteger {
					separator := "?"
					if strings.HasPrefix(path, "/usage") {
						separator = "?start=2026-11-20&"
					}
					for _, number := range []string{"1.0", "1e2", "20.00"} {
						r := httptest.NewRequestWithContext(t.Context(), method, "/v1"+path+separator+p.Name+"="+number, nil) // not by do: its validator knows digits alone
						r.Header.Set("Authorization", "Bearer "+acme.pat)
						w := httptest.NewRecorder()
						if a.handler.ServeHTTP(w, r); w.Code != 200 {
							t.Errorf("%s %s: %d %s", method, r.URL, w.Code, w.Body)
						}
					}
					a.refused(call{method, path + separator + p.Name + "=1.5", acme.pat, nil, nil}, 400, "invalid-request")
				}
			}
			if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil || op.OperationID == "registerClient" {
				continue // RFC 7591 has its own rules and errors
			}
			all := properties(doc, op.RequestBody.Content["application/json"].Schema)
			c, ok := good[op.OperationID]
			if !ok {
				if len(all) > 0 {
					t.Errorf("%s has no example here", op.OperationID)
				}
				continue
			}
			delete(good, op.OperationID)
			body := c.body.(map[string]any)
			wanted := a.do(c).StatusCode
			if wanted >= 300 {
				t.Errorf("%s: the example gives %d", op.OperationID, wanted)
			}
			for _, p := range all {
				null, left := c, c
				null.body, left.body = p.in(body, nil, false), p.in(body, nil, true)
				switch {
				case !p.optional, method == "PATCH" && !p.nullable():
					reply := a.refused(null, 400, "invalid-request")
					if !strings.Contains(string(reply.body), `"pointer":"`+p.pointer()+`"`) || method == "PATCH" && !strings.Contains(string(reply.body), "must not be null") {
						t.Errorf("%s %s: %s", op.OperationID, p.pointer(), reply.body)
					}
				default:
					if got, want := a.do(null).StatusCode, a.do(left).StatusCode; got != want {
						t.Errorf("%s %s: null gives %d, without it %d", op.OperationID, p.pointer(), got, want)
					}
				}
				if p.schema.Type == huma.TypeInteger {
					for _, form := range []string{"%d.0", "%de0", "%d0e-1", "%d.000e+0"} {
						number := c
						number.body = p.in(body, jsonNumber(fmt.Sprintf(form, max(int(*p.schema.Minimum), 1))), false)
						if got := a.do(number).StatusCode; got != wanted {
							t.Errorf("%s %s: %s gives %d", op.OperationID, p.pointer(), form, got)
						}
					}
					c.body = p.in(body, jsonNumber("1.5"), false)
					a.refused(c, 400, "invalid-request")
					c.body = body
				}
			}
		}
	}
	for id := range good {
		t.Errorf("%s is not in the document", id)
	}
}

// jsonNumber is a number with its spelling.
type jsonNumber string

// MarshalJSON writes it.
func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }
