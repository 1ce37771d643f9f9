package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/app"
	"docent/shared/httpapi"
	"docent/shared/team"
)

// operation is an operation of the contract.
type operation struct {
	method, path string
	scopes       []team.Scope // of which a key needs one
	full         bool         // a key needs all scopes
}

// keyed returns the operations that need a key, and fails for one without an entry in the table of scopes.
func keyed(t *testing.T) []operation {
	t.Helper()
	var all []operation
	left := httpapi.ScopedPatterns()
	for path, item := range httpapi.OpenAPI(app.Providers()).Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			pattern := op.Method + " " + path
			scopes, ok := httpapi.ScopesOf(pattern)
			if open := httpapi.IsWithoutKey(pattern); open == ok {
				t.Errorf("%s: callable without a key %v, in the table scopes of scopes.go %v; it must be exactly one of the two", pattern, open, ok)
				continue
			} else if open {
				continue
			}
			said, _ := op.Extensions["x-scopes"].([]string)
			if len(said) != len(scopes) || !strings.Contains(op.Description, "scopes") {
				t.Errorf("%s is described with the scopes %v, and needs %v: %s", pattern, said, scopes, op.Description)
			}
			all = append(all, operation{op.Method, path, scopes, slices.Contains(httpapi.SignOnChanges, pattern)})
			left = slices.DeleteFunc(left, func(known string) bool { return known == pattern })
		}
	}
	if len(left) > 0 {
		t.Errorf("the table of scopes has what is no operation: %v", left)
	}
	return all
}

var pathParameter = regexp.MustCompile(`\{[^}]+\}`)

// TestAKeyCallsWhatItsScopesAllow calls every operation of the contract with a key of each scope: it is refused
// exactly where the scope is missing, by HEAD too, and the refusal names what is missing.
func TestAKeyCallsWhatItsScopesAllow(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	operations := keyed(t)
	for _, scope := range team.Scopes() {
		for _, kind := range []team.Kind{team.KindPersonal, team.KindTeam} {
			k := team.NewKey{Kind: kind, Name: "limited", Scopes: []team.Scope{scope}}
			if kind == team.KindPersonal {
				k.UserID = x.admin.ID
			}
			_, key := a.newKey(x.ID, k)
			for _, op := range operations {
				path := pathParameter.ReplaceAllString(op.path, numberedID(7))
				body, header := any(nil), map[string]string(nil)
				if op.method != http.MethodGet && op.method != http.MethodDelete {
					body = "{}"
				}
				named := len(op.scopes) == 0 || slices.Contains(op.scopes, scope)
				allowed := named && !op.full
				if strings.HasPrefix(path, "/scim/") {
					got := a.raw(call{op.method, path, key, body, scimJSON})
					if refused := strings.Contains(string(got.body), "lacks the scope"); refused == allowed {
						t.Errorf("%s key with %s: %s %s: %d %s", kind, scope, op.method, op.path, got.StatusCode, got.body)
					}
					continue
				}
				got := a.raw(call{op.method, path, key, body, header})
				var problem struct{ Code, Detail string }
				_ = json.Unmarshal(got.body, &problem)
				switch refused := problem.Code == "missing-scope" || strings.Contains(string(got.body), "lacks the scope"); {
				case refused == allowed:
					t.Errorf("%s key with %s: %s %s: %d %s", kind, scope, op.method, op.path, got.StatusCode, got.body)
				case refused && (got.StatusCode != 403 || !named && !strings.Contains(string(got.body), "lacks the scope "+string(op.scopes[0]))):
					t.Errorf("%s %s is refused with %d %s", op.method, op.path, got.StatusCode, got.body)
				}
				if op.method == http.MethodGet && !allowed {
					if got := a.raw(call{http.MethodHead, path, key, nil, nil}); got.StatusCode != 403 {
						t.Errorf("HEAD %s: %d", op.path, got.StatusCode)
					}
				}
			}
			a.do(call{"GET", "/unknown", key, nil, nil}).wantCode(t, 404, "not-found")
			a.do(call{"PUT", "/usage", key, "{}", nil}).wantCode(t, 405, "method-not-allowed")
		}
	}
}

// A stream is refused before it begins.
func TestAStreamNeedsItsScope(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	_, key := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "reader", Scopes: []team.Scope{team.ScopeRead}})
	events := map[string]string{"Accept": "text/event-stream"}
	a.raw(call{"PUT", "/answers/" + numberedID(1), key, map[string]any{"question": "Who?"}, events}).wantCode(t, 403, "missing-scope")
	a.do(call{"GET", "/answers/" + numberedID(1), x.key, nil, nil}).wantCode(t, 404, "not-found")
	chat := a.raw(call{"POST", "/chat/completions", key, map[string]any{"messages": []any{map[string]any{"role": "user", "content": "q"}}, "stream": true}, nil})
	if chat.StatusCode != 403 || !strings.Contains(string(chat.body), "missing-scope") {
		t.Errorf("chat: %d %s", chat.StatusCode, chat.body)
	}
}

func TestAKeyGrantsNoMoreThanItHas(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	create := func(key string, kind string, scopes ...string) response {
		t.Helper()
		body := map[string]any{"kind": kind, "name": "n"}
		if kind == "personal" {
			body["userId"] = x.admin.ID
		}
		if scopes != nil {
			body["scopes"] = scopes
		}
		return a.do(call{"POST", "/api-keys", key, body, nil})
	}
	made := create(x.pat, "personal", "write", "manage", "write").want(t, 201)
	if got := fmt.Sprint(made.any(t, "scopes")); got != "[write manage]" {
		t.Errorf("scopes %s", got)
	}
	limited := made.text(t, "secret")
	if got := fmt.Sprint(a.do(call{"GET", "/me", limited, nil, nil}).want(t, 200).any(t, "key.scopes")); got != "[write manage]" {
		t.Errorf("GET /me has scopes %s", got)
	}
	create(limited, "team").wantCode(t, 403, "missing-scope")
	create(limited, "personal", "manage", "read").wantCode(t, 403, "missing-scope")
	child := create(limited, "personal", "manage").want(t, 201)
	create(limited, "scim").want(t, 201)
	create(x.pat, "scim", "manage").wantCode(t, 400, "invalid-request")
	create(x.pat, "team", "everything").wantCode(t, 400, "invalid-request")
	a.do(call{"POST", "/api-keys", x.pat, map[string]any{"kind": "team", "name": "n", "scopes": []string{}}, nil}).wantCode(t, 400, "invalid-request")

	// A rotation shows a secret, so it must not show that of a key that can do more.
	a.do(call{"POST", "/api-keys/" + x.keyID + "/rotate", limited, nil, nil}).wantCode(t, 403, "missing-scope")
	a.do(call{"GET", "/me", x.key, nil, nil}).want(t, 200)
	rotated := a.do(call{"POST", "/api-keys/" + child.text(t, "id") + "/rotate", limited, nil, nil}).want(t, 200)
	if got := fmt.Sprint(rotated.any(t, "scopes")); got != "[manage]" {
		t.Errorf("after a rotation: scopes %s", got)
	}
	a.do(call{"GET", "/documents", rotated.text(t, "secret"), nil, nil}).wantCode(t, 403, "missing-scope")
	events := string(a.do(call{"GET", "/security-events", x.key, nil, nil}).want(t, 200).body)
	if !strings.Contains(events, `{"field":"scopes","from":null,"to":["write","manage"]}`) || !strings.Contains(events, "missing-scope") {
		t.Errorf("the feed lacks the scopes or the refusals: %s", events)
	}
}

// TestASessionHasTheScopesOfItsKey: what signs in with a key, and what is connected from there, can do no more
// than the key.
func TestASessionHasTheScopesOfItsKey(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	p := a.program(redirect)
	signIn := func(scopes ...team.Scope) map[string]string {
		_, key := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "limited", UserID: x.admin.ID, Scopes: scopes})
		r := a.do(call{"POST", "/sessions", "", map[string]any{"credential": key}, map[string]string{"Sec-Fetch-Site": "same-origin"}}).want(t, 201)
		return by(r.Cookies()[0])
	}
	reader := signIn(team.ScopeRead)
	a.do(call{"GET", "/documents", "", nil, reader}).want(t, 200)
	a.do(call{"GET", "/api-keys", "", nil, reader}).wantCode(t, 403, "missing-scope")
	asked := a.do(call{"POST", "/oauth/consent", "", p.request("scope", "read ask"), reader}).want(t, 200)
	if got := fmt.Sprint(asked.any(t, "scopes")); got != "[read]" {
		t.Errorf("asked for %s", got)
	}
	decision := p.request("scope", "read ask")
	decision["allow"] = true
	auditor := signIn(team.ScopeAudit)
	a.do(call{"POST", "/oauth/consent", "", p.request("scope", "read ask"), auditor}).wantCode(t, 403, "missing-scope")
	a.do(call{"POST", "/oauth/decision", "", decision, auditor}).wantCode(t, 403, "missing-scope")
	a.do(call{"DELETE", "/sessions/current", "", nil, auditor}).want(t, 204)
}

// TestAnAgentReadsNoMoreThanItsSession: a session of a key that is restricted to data sources gives an agent no others.
func TestAnAgentReadsNoMoreThanItsSession(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	wiki := a.newCollection(x.key, "wiki")
	_, key := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "limited", UserID: x.admin.ID, DataSourceIDs: []string{wiki}})
	r := a.do(call{"POST", "/sessions", "", map[string]any{"credential": key}, map[string]string{"Sec-Fetch-Site": "same-origin"}}).want(t, 201)
	p := a.program(redirect)
	tokens := p.token(p.codeForm(p.decide(r.Cookies()[0], true).Get("code"))).want(t, 200)
	me := a.do(call{"GET", "/me", tokens.text(t, "access_token"), nil, nil}).want(t, 200)
	if got := fmt.Sprint(me.any(t, "key.dataSourceIds")); got != "["+wiki+"]" {
		t.Errorf("the agent may read %s, its session %s", got, wiki)
	}
}

// TestAnAgentEndsWithTheKeyOfItsSession: after the key that a person signed in with is revoked, neither a code nor
// a token works that a program got in the session.
func TestAnAgentEndsWithTheKeyOfItsSession(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	id, key := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "laptop", UserID: x.admin.ID})
	c := a.do(call{"POST", "/sessions", "", map[string]any{"credential": key}, map[string]string{"Sec-Fetch-Site": "same-origin"}}).want(t, 201).Cookies()[0]
	p := a.program(redirect)
	tokens := p.token(p.codeForm(p.decide(c, true).Get("code"))).want(t, 200)
	code := p.decide(c, true).Get("code")
	a.rpc(tokens.text(t, "access_token"), toolsList, nil)
	a.do(call{"DELETE", "/api-keys/" + id, x.pat, nil, nil}).want(t, 204)
	refresh := map[string]string{"grant_type": "refresh_token", "client_id": p.id, "refresh_token": tokens.text(t, "refresh_token")}
	for name, form := range map[string]map[string]string{"a code": p.codeForm(code), "a refresh token": refresh} {
		if got := p.token(form).want(t, 400); got.text(t, "error") != "invalid_grant" {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	a.clock.Advance(10 * time.Second)
	a.do(call{"POST", "/mcp", tokens.text(t, "access_token"), toolsList, nil}).wantCode(t, 401, "unauthorized")
}

// TestToolsOfScopes: an agent is shown and may call the tools of the scopes that it was given.
func TestToolsOfScopes(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	c := a.signIn(x)
	p := a.program(redirect)
	for scope, want := range map[string]struct {
		granted string
		ask     bool
		search  bool
	}{
		"read":                  {"read", false, true},
		"ask":                   {"ask", true, false},
		"ask read":              {"read ask", true, true},
		"offline_access read":   {"read", false, true},
		"openid read ask write": {"read ask", true, true},
	} {
		body := p.request("scope", scope)
		body["allow"] = true
		_, code, _ := strings.Cut(a.do(call{"POST", "/oauth/decision", "", body, by(c)}).want(t, 200).text(t, "redirectTo"), "code=")
		code, _, _ = strings.Cut(code, "&")
		reply := p.token(p.codeForm(code)).want(t, 200)
		if got := reply.text(t, "scope"); got != want.granted {
			t.Errorf("scope %s: granted %s, want %s", scope, got, want.granted)
		}
		again := p.token(map[string]string{"grant_type": "refresh_token", "client_id": p.id, "refresh_token": reply.text(t, "refresh_token")}).want(t, 200)
		if got := again.text(t, "scope"); got != want.granted {
			t.Errorf("scope %s: %s after a refresh", scope, got)
		}
		access := again.text(t, "access_token")
		list := string(a.do(call{"POST", "/mcp", access, toolsList, nil}).want(t, 200).body)
		if ask, search := strings.Contains(list, `"name":"ask"`), strings.Contains(list, `"name":"context_search_code"`); ask != want.ask || search != want.search {
			t.Errorf("scope %s: the list has ask %v, search %v: %s", scope, ask, search, list)
		}
		s := a.mcpSession(access)
		for name, allowed := range map[string]bool{"ask": want.ask, "context_search_code": want.search} {
			text, _ := a.use(s, name, nil) // which, if it is allowed, lacks its arguments
			if want := map[bool]string{true: "invalid-request: ", false: "missing-scope: This key lacks the scope "}[allowed]; !strings.Contains(text, want) {
				t.Errorf("scope %s: %s gives %s", scope, name, text)
			}
		}
	}
}
