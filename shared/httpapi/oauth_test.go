package httpapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const (
	redirect = "https://assistant.example/callback?from=docent"
	verifier = "a-verifier-of-at-least-forty-three-characters-1"
)

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// program is a program that a person may connect.
type program struct {
	*api
	id string
}

func (a *api) program(redirects ...string) program {
	a.t.Helper()
	reply := a.do(call{"POST", "/oauth/register", "", map[string]any{"client_name": "Assistant", "redirect_uris": redirects, "grant_types": []string{"authorization_code", "refresh_token"}, "logo_uri": "https://x.test"}, nil}).want(a.t, 201)
	return program{a, reply.text(a.t, "client_id")}
}

// request returns the program's authorization request, changed by the pairs of with.
func (p program) request(with ...string) map[string]any {
	r := map[string]any{"response_type": "code", "client_id": p.id, "redirect_uri": redirect, "state": "s 1&2", "scope": "read",
		"resource": baseURL + "/mcp", "code_challenge": challengeOf(verifier), "code_challenge_method": "S256"}
	for i := 0; i < len(with); i += 2 {
		r[with[i]] = with[i+1]
	}
	return r
}

// decide sends the person's decision, and returns the query of the address that the browser is sent to.
func (p program) decide(c *http.Cookie, allow bool) url.Values {
	p.t.Helper()
	body := p.request()
	body["allow"] = allow
	to, err := url.Parse(p.do(call{"POST", "/oauth/decision", "", body, by(c)}).want(p.t, 200).text(p.t, "redirectTo"))
	if err != nil || !strings.HasPrefix(to.String(), redirect+"&") {
		p.t.Fatalf("the browser is sent to %s: %v", to, err)
	}
	return to.Query()
}

// token sends a form to the token endpoint.
func (p program) token(form map[string]string) response {
	p.t.Helper()
	values := url.Values{}
	for name, value := range form {
		values.Set(name, value)
	}
	return p.do(call{"POST", "/oauth/token", "", values.Encode(), map[string]string{"Content-Type": "application/x-www-form-urlencoded"}})
}

func (p program) codeForm(code string) map[string]string {
	return map[string]string{"grant_type": "authorization_code", "client_id": p.id, "code": code, "redirect_uri": redirect, "code_verifier": verifier, "resource": baseURL + "/mcp"}
}

const toolsList = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

func TestAProgramIsConnectedAndDisconnected(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	c := a.signIn(x)
	p := a.program(redirect)
	asked := a.do(call{"POST", "/oauth/consent", "", p.request(), by(c)}).want(t, 200)
	if asked.text(t, "name") != "Assistant" || asked.text(t, "host") != "assistant.example" {
		t.Errorf("asked %s", asked.body)
	}
	answer := p.decide(c, true)
	if answer.Get("state") != "s 1&2" || answer.Get("iss") != baseURL || answer.Get("from") != "docent" {
		t.Errorf("answer %v", answer)
	}
	reply := p.token(p.codeForm(answer.Get("code"))).want(t, 200)
	if reply.Header.Get("Cache-Control") != "no-store" || reply.text(t, "token_type") != "Bearer" || reply.text(t, "scope") != "read" {
		t.Errorf("tokens %s, %v", reply.body, reply.Header)
	}
	access, refresh := reply.text(t, "access_token"), reply.text(t, "refresh_token")
	a.rpc(access, toolsList, nil)
	if me := a.do(call{"GET", "/me", access, nil, nil}).want(t, 200); me.text(t, "key.kind") != "agent" || me.text(t, "user.id") != x.admin.ID {
		t.Errorf("me %s", me.body)
	}
	for _, path := range []string{"/documents", "/answers", "/team", "/agents", "/sessions", "/api-keys"} {
		if got := a.do(call{"GET", path, access, nil, nil}); got.StatusCode != 403 {
			t.Errorf("GET %s with an agent's token: status %d", path, got.StatusCode)
		}
	}
	again := p.token(map[string]string{"grant_type": "refresh_token", "client_id": p.id, "refresh_token": refresh}).want(t, 200)
	a.rpc(again.text(t, "access_token"), toolsList, nil)
	list := a.do(call{"GET", "/agents", "", nil, by(c)}).want(t, 200)
	if !strings.Contains(string(list.body), `"name":"Assistant","host":"assistant.example"`) {
		t.Errorf("agents %s", list.body)
	}
	me := a.do(call{"GET", "/me", again.text(t, "access_token"), nil, nil}).want(t, 200)
	a.do(call{"DELETE", "/agents/" + me.text(t, "key.id"), "", nil, by(c)}).want(t, 204)
	refused := a.do(call{"POST", "/mcp", again.text(t, "access_token"), toolsList, nil}).wantCode(t, 401, "unauthorized")
	if got, want := refused.Header.Get("WWW-Authenticate"), `Bearer error="invalid_token", resource_metadata="`+baseURL+`/.well-known/oauth-protected-resource/mcp"`; got != want {
		t.Errorf("WWW-Authenticate %s, want %s", got, want)
	}
	if events := string(a.do(call{"GET", "/security-events", x.key, nil, nil}).want(t, 200).body); !strings.Contains(events, `"to":"agent"`) || !strings.Contains(events, `"api_key.revoked"`) {
		t.Errorf("the feed lacks the agent: %s", events)
	}
}

func TestAProgramDescribesItself(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	c := a.signIn(a.newTenant("acme"))
	p := program{a, clientAddress}
	asked := a.do(call{"POST", "/oauth/consent", "", p.request(), by(c)}).want(t, 200)
	if asked.text(t, "name") != "Program" || asked.text(t, "publisher") != "program.example" || asked.text(t, "host") != "assistant.example" {
		t.Errorf("asked %s", asked.body)
	}
	reply := p.token(p.codeForm(p.decide(c, true).Get("code"))).want(t, 200)
	list := a.do(call{"GET", "/agents", "", nil, by(c)}).want(t, 200)
	if !strings.Contains(string(list.body), `"name":"Program","host":"assistant.example"`) {
		t.Errorf("agents %s", list.body)
	}
	refresh := map[string]string{"grant_type": "refresh_token", "client_id": clientAddress + "?other", "refresh_token": reply.text(t, "refresh_token")}
	p.token(refresh).want(t, 400)
	refresh["client_id"] = clientAddress
	a.rpc(p.token(refresh).want(t, 200).text(t, "access_token"), toolsList, nil)

	for name, request := range map[string]map[string]any{
		"an address that it does not name": p.request("redirect_uri", "https://program.example/other"),
		"a private address":                p.request("client_id", "https://127.0.0.1/client.json"),
		"an address without a path":        p.request("client_id", "https://program.example"),
	} {
		refused := a.do(call{"POST", "/oauth/consent", "", request, by(c)}).wantCode(t, 400, "invalid-request")
		t.Logf("%s: %s", name, refused.body)
	}
	server := map[string]any{}
	a.do(call{"GET", "/.well-known/oauth-authorization-server", "", nil, nil}).want(t, 200).json(t, &server)
	if server["client_id_metadata_document_supported"] != true {
		t.Errorf("metadata %v", server)
	}
}

func TestACodeWorksOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	c := a.signIn(a.newTenant("acme"))
	p, other := a.program(redirect), a.program("https://other.example/")
	code := p.decide(c, true).Get("code")
	for name, change := range map[string][2]string{
		"another verifier":         {"code_verifier", verifier + "x"},
		"a short verifier":         {"code_verifier", "x"},
		"another client":           {"client_id", other.id},
		"another redirect address": {"redirect_uri", "https://assistant.example/callback"},
		"another code":             {"code", strings.ToLower(code)},
		"no code":                  {"code", ""},
	} {
		form := p.codeForm(code)
		form[change[0]] = change[1]
		if got := p.token(form).want(t, 400); got.text(t, "error") != "invalid_grant" {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	access := p.token(p.codeForm(code)).want(t, 200).text(t, "access_token")
	a.rpc(access, toolsList, nil)
	if got := p.token(p.codeForm(code)).want(t, 400); got.text(t, "error") != "invalid_grant" {
		t.Errorf("a used code: %s", got.body)
	}
	a.do(call{"POST", "/mcp", access, toolsList, nil}).wantCode(t, 401, "unauthorized")

	late := p.decide(c, true).Get("code")
	a.clock.Advance(time.Minute)
	if got := p.token(p.codeForm(late)).want(t, 400); got.text(t, "error") != "invalid_grant" {
		t.Errorf("an expired code: %s", got.body)
	}
	if denied := p.decide(c, false); denied.Get("error") != "access_denied" || denied.Get("code") != "" || denied.Get("state") == "" {
		t.Errorf("refused: %v", denied)
	}
}

func TestRequestsThatNobodyIsAskedFor(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	c := a.signIn(x)
	p := a.program(redirect, "http://127.0.0.1/callback", "cursor://anysphere.cursor/callback")
	for name, change := range map[string][2]string{
		"an address that is not registered": {"redirect_uri", "https://evil.example/callback"},
		"a longer address":                  {"redirect_uri", redirect + "&x=1"},
		"loopback with another path":        {"redirect_uri", "http://127.0.0.1:4711/other"},
		"an unknown client":                 {"client_id", "client_e30"},
		"a changed client":                  {"client_id", p.id + "A"},
		"no client":                         {"client_id", ""},
		"the implicit flow":                 {"response_type", "token"},
		"no challenge":                      {"code_challenge", ""},
		"no base64 as a challenge":          {"code_challenge", strings.Repeat("!", 43)},
		"base64 that is not for URLs":       {"code_challenge", strings.Repeat("+", 42) + "A"},
		"a challenge with a line break":     {"code_challenge", strings.Repeat("A", 42) + "\n"},
		"a padded challenge":                {"code_challenge", strings.Repeat("A", 42) + "="},
		"a long challenge":                  {"code_challenge", challengeOf(verifier) + "A"},
		"a plain challenge":                 {"code_challenge_method", "plain"},
		"another resource":                  {"resource", "https://other.example/mcp"},
		"another resource next to ours":     {"resource", baseURL + "/mcp https://other.example/mcp"},
		"a path in upper case":              {"resource", baseURL + "/MCP"},
		"a resource with a fragment":        {"resource", baseURL + "/mcp#"},
		"a resource without a scheme":       {"resource", "/"},
		"no scope that is known":            {"scope", "offline_access openid"},
		"a scope in upper case":             {"scope", "READ"},
	} {
		body := p.request(change[0], change[1])
		a.do(call{"POST", "/oauth/consent", "", body, by(c)}).wantCode(t, 400, "invalid-request")
		body["allow"] = true
		if got := a.do(call{"POST", "/oauth/decision", "", body, by(c)}); got.StatusCode != 400 {
			t.Errorf("%s: status %d: %s", name, got.StatusCode, got.body)
		}
	}
	for name, address := range map[string]string{"a port of the machine": "http://127.0.0.1:4711/callback", "a program's scheme": "cursor://anysphere.cursor/callback"} {
		if got := a.do(call{"POST", "/oauth/consent", "", p.request("redirect_uri", address), by(c)}); got.StatusCode != 200 {
			t.Errorf("%s: status %d: %s", name, got.StatusCode, got.body)
		}
	}
	cross := by(c)
	cross["Sec-Fetch-Site"] = "cross-site"
	a.do(call{"POST", "/oauth/decision", "", p.request(), cross}).wantCode(t, 401, "unauthorized")
	a.do(call{"POST", "/oauth/decision", x.pat, map[string]any{"allow": true}, nil}).wantCode(t, 400, "invalid-request")
	allowed := p.request()
	allowed["allow"] = true
	a.do(call{"POST", "/oauth/decision", x.pat, allowed, nil}).wantCode(t, 403, "wrong-key-kind")
}

// TestARepeatedParameterAsksNobody: the page takes one of two values, and the program may have meant the other one. The
// same value twice and several resources are no doubt.
func TestARepeatedParameterAsksNobody(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.program(redirect)
	query := url.Values{}
	for name, value := range p.request() {
		query.Set(name, value.(string))
	}
	for name := range query {
		twice := call{"GET", "/oauth/authorize?" + query.Encode() + "&" + name + "=other", "", nil, nil}
		if name == "resource" {
			a.do(twice).want(t, 302)
			continue
		}
		if got := a.do(twice).wantCode(t, 400, "invalid-request"); !strings.Contains(string(got.body), "/query/"+name+": must have one value") {
			t.Errorf("%s twice: %s", name, got.body)
		}
		a.do(call{"GET", "/oauth/authorize?" + query.Encode() + "&" + url.Values{name: query[name]}.Encode(), "", nil, nil}).want(t, 302)
	}
}

// TestNamesOfResourcesAndScopes: of the scopes those count that are known; a resource may be named more than once, and
// its host in any case (RFC 8707, RFC 3986).
func TestNamesOfResourcesAndScopes(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	c := a.signIn(a.newTenant("acme"))
	p := a.program(redirect)
	for scope, want := range map[string]string{"": `["read","ask"]`, " ": `["read","ask"]`, "offline_access": `["read","ask"]`, "ask": `["ask"]`, "openid read offline_access": `["read"]`} {
		if got := a.do(call{"POST", "/oauth/consent", "", p.request("scope", scope), by(c)}).want(t, 200); !strings.Contains(string(got.body), `"scopes":`+want) {
			t.Errorf("scope %q: %s", scope, got.body)
		}
	}
	if got := a.do(call{"POST", "/oauth/consent", "", p.request("scope", "admin"), by(c)}).wantCode(t, 400, "invalid-request"); !strings.Contains(string(got.body), "read ask") {
		t.Errorf("an unknown scope: %s", got.body)
	}
	scheme, rest, _ := strings.Cut(baseURL, "://")
	host, path, _ := strings.Cut(rest, "/")
	shouted := strings.ToUpper(scheme+"://"+host) + "/" + path + "/mcp"
	for _, resource := range []string{shouted, shouted + "/", baseURL, baseURL + "/mcp " + shouted, ""} {
		a.do(call{"POST", "/oauth/consent", "", p.request("resource", resource), by(c)}).want(t, 200)
	}
	exchange := func(form map[string]string, resources ...string) response {
		values := url.Values{"resource": resources}
		for name, value := range form {
			if name != "resource" {
				values.Set(name, value)
			}
		}
		return a.do(call{"POST", "/oauth/token", "", values.Encode(), map[string]string{"Content-Type": "application/x-www-form-urlencoded"}})
	}
	form := p.codeForm(p.decide(c, true).Get("code"))
	if got := exchange(form, shouted, "https://other.example/mcp").want(t, 400); got.text(t, "error") != "invalid_target" {
		t.Errorf("two resources: %s", got.body)
	}
	tokens := exchange(form, shouted, baseURL+"/mcp", baseURL+"/mcp").want(t, 200)
	again := map[string]string{"grant_type": "refresh_token", "client_id": p.id, "refresh_token": tokens.text(t, "refresh_token"), "scope": "admin"}
	if got := exchange(again).want(t, 400); got.text(t, "error") != "invalid_scope" {
		t.Errorf("an unknown scope: %s", got.body)
	}
	again["scope"] = "read offline_access"
	if got := exchange(again).want(t, 200); got.text(t, "scope") != "read" {
		t.Errorf("new tokens: %s", got.body)
	}
}

func TestRegistrationOfPrograms(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for name, test := range map[string]struct {
		body any
		code string
	}{
		"no address":             {map[string]any{"client_name": "x"}, "invalid_redirect_uri"},
		"http elsewhere":         {map[string]any{"redirect_uris": []string{"http://evil.example/"}}, "invalid_redirect_uri"},
		"a script":               {map[string]any{"redirect_uris": []string{"javascript:alert(1)"}}, "invalid_redirect_uri"},
		"a fragment":             {map[string]any{"redirect_uris": []string{"https://x.test/#a"}}, "invalid_redirect_uri"},
		"a user":                 {map[string]any{"redirect_uris": []string{"https://good.test@evil.test/"}}, "invalid_redirect_uri"},
		"a relative address":     {map[string]any{"redirect_uris": []string{"/callback"}}, "invalid_redirect_uri"},
		"a name that turns text": {map[string]any{"client_name": "a\u202eb", "redirect_uris": []string{"https://x.test/"}}, "invalid_client_metadata"},
		"a long name":            {map[string]any{"client_name": strings.Repeat("x", 101), "redirect_uris": []string{"https://x.test/"}}, "invalid_client_metadata"},
		"machine to machine":     {map[string]any{"grant_types": []string{"client_credentials"}, "redirect_uris": []string{"https://x.test/"}}, "invalid_client_metadata"},
		"a scope that is none":   {map[string]any{"scope": 1, "redirect_uris": []string{"https://x.test/"}}, "invalid_client_metadata"},
		"no JSON":                {"{", "invalid_client_metadata"},
		"no JSON in another":     {`{"redirect_uris":["https://x.test/"],"x":y}`, "invalid_client_metadata"},
		"a list":                 {`[{"redirect_uris":["https://x.test/"]}]`, "invalid_client_metadata"},
		"an address twice":       {`{"redirect_uris":["https://good.test/"],"redirect_uris":["https://evil.test/"]}`, "invalid_client_metadata"},
		"another spelling":       {`{"Redirect_URIs":["https://x.test/"]}`, "invalid_redirect_uri"},
		"too much":               {`{"x":"` + strings.Repeat("x", 20_000) + `"}`, "invalid_client_metadata"},
	} {
		if got := a.do(call{"POST", "/oauth/register", "", test.body, nil}).want(t, 400); got.text(t, "error") != test.code {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	p := a.program(redirect)
	for name, form := range map[string]map[string]string{
		"invalid_client":         {"grant_type": "authorization_code", "client_id": "x"},
		"unsupported_grant_type": {"grant_type": "password", "client_id": p.id},
		"invalid_target":         {"grant_type": "refresh_token", "client_id": p.id, "resource": "https://other.example"},
		"invalid_grant":          {"grant_type": "refresh_token", "client_id": p.id, "refresh_token": "x"},
		"invalid_request":        {"client_id": p.id},
	} {
		if got := p.token(form); got.text(t, "error") != name || got.StatusCode != map[bool]int{true: 401, false: 400}[name == "invalid_client"] {
			t.Errorf("%s: status %d: %s", name, got.StatusCode, got.body)
		}
	}
	// A client that is told invalid_client forgets its registration, which is no remedy here (RFC 6749 section 5.2).
	for name, form := range map[string]map[string]string{
		"no client_id":       {"grant_type": "refresh_token", "refresh_token": "x"},
		"an empty client_id": {"grant_type": "refresh_token", "refresh_token": "x", "client_id": ""},
	} {
		if got := p.token(form); got.StatusCode != 400 || got.text(t, "error") != "invalid_request" || got.text(t, "error_description") != "client_id is required." {
			t.Errorf("%s: status %d: %s", name, got.StatusCode, got.body)
		}
	}
	if got := a.do(call{"POST", "/oauth/token", "", `{"grant_type":"refresh_token"}`, nil}).want(t, 400); got.text(t, "error") != "invalid_request" {
		t.Errorf("JSON: %s", got.body)
	}
}

// TestRevokingNothingIsNoSuccess: of two tokens only the first was revoked, and of none none (RFC 7009 section 2.1).
func TestRevokingNothingIsNoSuccess(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for form, status := range map[string]int{"": 400, "token=": 400, "Token=x": 400, "token=x&token=y": 400, "token=x&token=x": 400,
		"token=x": 200, "token=x&token_type_hint=access_token&client_id=y": 200} {
		reply := a.do(call{"POST", "/oauth/revoke", "", form, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}).want(t, status)
		if status == 400 && reply.text(t, "error") != "invalid_request" {
			t.Errorf("%s: %s", form, reply.body)
		}
	}
}

// TestARegistrationMayBeCompressed: API Gateway decompresses it, so docent serve does too.
func TestARegistrationMayBeCompressed(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	small := packed(t, `{"redirect_uris":["https://x.test/"]}`)
	send := func(coding, body string) response {
		return a.do(call{"POST", "/oauth/register", "", body, map[string]string{"Content-Encoding": coding}})
	}
	for _, coding := range []string{"gzip", "X-GZIP"} {
		send(coding, string(small)).want(t, 201)
	}
	for name, reply := range map[string]response{
		"another coding": send("br", string(small)), "plain text": send("gzip", `{"redirect_uris":["https://x.test/"]}`), "cut off": send("gzip", string(small[:30])),
		"too much": send("gzip", string(packed(t, `{"redirect_uris":["https://x.test/"],"x":"`+strings.Repeat("x", 20_000)+`"}`))),
	} {
		if got := reply.want(t, 400).text(t, "error"); got != "invalid_client_metadata" {
			t.Errorf("%s: %s", name, reply.body)
		}
	}
}

// Where no operation requires a key, another method is refused for itself and not for a missing key.
func TestAWrongMethodWithoutAKeyIs405(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, path := range []string{"/oauth/token", "/oauth/register"} {
		for _, method := range []string{"GET", "HEAD", "DELETE"} {
			if got := a.do(call{method, path, "", nil, nil}).want(t, 405); got.Header.Get("Allow") != "POST, OPTIONS" {
				t.Errorf("%s %s: Allow %q", method, path, got.Header.Get("Allow"))
			}
		}
	}
	for _, path := range []string{"/sessions", "/collections", "/nothing"} {
		a.do(call{"PATCH", path, "", nil, nil}).wantCode(t, 401, "unauthorized")
	}
}

func TestMetadataLeadsToTheAuthorizationServer(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	refused := a.do(call{"POST", "/mcp", "", toolsList, nil}).wantCode(t, 401, "unauthorized")
	_, address, _ := strings.Cut(refused.Header.Get("WWW-Authenticate"), `resource_metadata="`)
	address, _ = strings.CutSuffix(address, `"`)
	path, ok := strings.CutPrefix(address, baseURL)
	if !ok {
		t.Fatalf("WWW-Authenticate %q", refused.Header.Get("WWW-Authenticate"))
	}
	var resource struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	a.do(call{"GET", path, "", nil, nil}).want(t, 200).json(t, &resource)
	if resource.Resource != baseURL+"/mcp" || len(resource.Servers) != 1 || resource.Servers[0] != baseURL {
		t.Errorf("%+v", resource)
	}
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		server := map[string]any{}
		a.do(call{"GET", path, "", nil, nil}).want(t, 200).json(t, &server)
		for name, want := range map[string]string{"issuer": "", "authorization_endpoint": "/oauth/authorize", "token_endpoint": "/oauth/token", "registration_endpoint": "/oauth/register"} {
			if server[name] != baseURL+want {
				t.Errorf("%s of %s: %v", name, path, server[name])
			}
		}
	}
	query := url.Values{"client_id": {"x"}, "state": {"a b&c#d"}}.Encode()
	to := a.do(call{"GET", "/oauth/authorize?" + query, "", nil, nil}).want(t, 302).Header.Get("Location")
	if to != baseURL+"/dashboard/#/connect/"+url.PathEscape(query) {
		t.Errorf("the browser is sent to %s", to)
	}
	if header := maps.Clone(refused.Header); header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("the tools are open to scripts of every origin")
	}
}

func TestPagesOfOtherOriginsReachTheAuthorizationServer(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ask := map[string]string{"Origin": "https://agent.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type,mcp-protocol-version"}
	for path, method := range map[string]string{"/oauth/register": "POST", "/oauth/token": "POST", "/oauth/revoke": "POST",
		"/.well-known/oauth-authorization-server": "GET", "/.well-known/oauth-protected-resource/mcp": "GET"} {
		h := a.do(call{"OPTIONS", path, "", nil, ask}).want(t, 204).Header
		if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Headers") != "*" ||
			!strings.Contains(h.Get("Access-Control-Allow-Methods"), method) || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %v", path, h)
		}
	}
	for _, path := range []string{"/mcp", "/me", "/oauth/consent", "/oauth/decision", "/oauth/register/", "/oauth/unknown", "/sessions"} {
		if got := a.do(call{"OPTIONS", path, "", nil, ask}); got.StatusCode < 400 && got.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s is open to scripts of every origin: %v", path, got.Header)
		}
	}
}
