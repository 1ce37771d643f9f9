package httpapi_test

import (
	"strings"
	"testing"

	"docent/shared/app/parts/saml/samltest"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// test tests single sign-on as the admin in b, with a response that o changes, and returns where
// the dashboard is led.
func (p *provided) test(b *browser, o samltest.Options) string {
	p.t.Helper()
	r := b.testing(p.ID)
	asked, err := samltest.ReadRequest(r.location(p.t))
	if err != nil {
		p.t.Fatal(err)
	}
	reply := b.navigate("POST", "/sso/"+p.ID+"/acs", p.form(asked, o))
	to := reply.location(p.t)
	if strings.Contains(to, "/finish?") {
		to = b.get(to).location(p.t)
	}
	where, _ := strings.CutPrefix(to, baseURL+"/dashboard/#/settings/single-sign-on/")
	code, _, _ := strings.Cut(where, "/")
	return code
}

// testing begins a test in b, from the dashboard's own page.
func (b *browser) testing(teamID string) response {
	b.t.Helper()
	c := call{"GET", "/sso/" + teamID + "?test=1", "", nil, map[string]string{"Sec-Fetch-Site": "same-origin", "Cookie": b.cookie()}}
	r := b.do(c)
	for _, cookie := range r.Cookies() {
		b.cookies[cookie.Name] = cookie.Value
	}
	return r
}

func (p *provided) patch(body map[string]any) response {
	p.t.Helper()
	return p.do(call{"PATCH", "/team/single-sign-on", p.pat, body, nil})
}

func TestSingleSignOnIsRequiredAfterATest(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	same := map[string]string{"Sec-Fetch-Site": "same-origin"}
	b := a.newBrowser()
	b.cookies["__Host-docent"] = a.signIn(p.tenant).Value
	if _, err := teamtest.CreateUser(t.Context(), a.local.Teams, p.ID, "grace@acme.test", team.RoleMember); err != nil {
		t.Fatal(err)
	}
	p.patch(map[string]any{"required": true}).wantCode(t, 409, "sign-on-not-tested")
	for want, o := range map[string]samltest.Options{"expired": {Issued: a.clock.Now().Add(-8 * 60e9)}, "test-not-by-admin": {Name: "grace@acme.test"}, "user-unknown": {Name: "x"}} {
		if got := p.test(b, o); got != want {
			t.Errorf("a test that fails: %q, want %q", got, want)
		}
	}
	p.patch(map[string]any{"required": true}).wantCode(t, 409, "sign-on-not-tested")
	before := b.cookies["__Host-docent"]
	if got := p.test(b, samltest.Options{}); got != "tested" || b.cookies["__Host-docent"] != before {
		t.Fatalf("a test: %q", got)
	}
	got := a.do(call{"GET", "/team/single-sign-on", p.pat, nil, nil}).want(t, 200)
	if got.text(t, "test.userName") != "admin@acme.test" || !strings.Contains(string(got.body), `"current":true`) || got.text(t, "method") != "saml" {
		t.Errorf("settings %s", got.body)
	}
	feed := a.do(call{"GET", "/security-events?eventType=single_sign_on.tested", p.key, nil, nil}).want(t, 200)
	if !strings.Contains(string(feed.body), p.ID) {
		t.Errorf("the test in the feed: %s", feed.body)
	}
	p.patch(map[string]any{"attribute": "mail"}).want(t, 200)
	p.patch(map[string]any{"required": true}).wantCode(t, 409, "sign-on-not-tested") // these settings were not
	p.patch(map[string]any{"attribute": nil}).want(t, 200)
	a.do(call{"POST", "/sessions", "", map[string]any{"credential": p.pat}, same}).want(t, 201)
	p.patch(map[string]any{"required": true}).want(t, 200)

	a.do(call{"POST", "/sessions", "", map[string]any{"credential": p.pat}, same}).wantCode(t, 403, "sign-on-required")
	a.signIn(p.tenant) // the operator's link still works, so nobody is locked out
	a.do(call{"GET", "/me", p.pat, nil, nil}).want(t, 200)
	a.do(call{"DELETE", "/team/saml-metadata", p.pat, nil, nil}).wantCode(t, 409, "sign-on-required")
	if got := p.signInWith(a.newBrowser(), samltest.Options{}); got != "" {
		t.Errorf("sign-in when it is required: %q", got)
	}
	p.idp.Rotate(t, a.clock.Now().AddDate(1, 0, 0))
	p.setMetadata(p.idp) // a new certificate keeps it required
	a.do(call{"POST", "/sessions", "", map[string]any{"credential": p.pat}, same}).wantCode(t, 403, "sign-on-required")
	p.patch(map[string]any{"required": false}).want(t, 200)
	a.do(call{"POST", "/sessions", "", map[string]any{"credential": p.pat}, same}).want(t, 201)
	a.do(call{"DELETE", "/team/saml-metadata", p.pat, nil, nil}).want(t, 204)
}

func TestWhoSetsUpSingleSignOn(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	for _, c := range []call{
		{"GET", "/team/single-sign-on", p.key, nil, nil}, {"PATCH", "/team/single-sign-on", p.key, map[string]any{"required": false}, nil},
		{"PUT", "/team/openid-provider", p.key, map[string]any{"issuer": "https://x.test", "clientId": "x"}, nil}, {"DELETE", "/team/openid-provider", p.key, nil, nil},
	} {
		a.do(c).wantCode(t, 403, "admin-required")
	}
	rival, b := a.provide("rival"), a.newBrowser()
	failed := func(r response) string {
		where, _ := strings.CutPrefix(r.location(t), baseURL+"/dashboard/#/settings/single-sign-on/")
		code, _, _ := strings.Cut(where, "/")
		return code
	}
	if got := failed(b.testing(p.ID)); got != "unauthorized" {
		t.Errorf("a test by nobody: %q", got)
	}
	b.cookies["__Host-docent"] = a.signIn(rival.tenant).Value
	if got := failed(b.testing(p.ID)); got != "not-found" {
		t.Errorf("a test by another team's admin: %q", got)
	}
	if got := failed(b.get("/sso/" + rival.ID + "?test=1")); got != "unauthorized" {
		t.Errorf("a test that another site begins: %q", got)
	}
	if _, err := teamtest.CreateUser(t.Context(), a.local.Teams, p.ID, "grace@acme.test", team.RoleMember); err != nil {
		t.Fatal(err)
	}
	member := a.newBrowser()
	if got := p.signInWith(member, samltest.Options{Name: "grace@acme.test"}); got != "" {
		t.Fatal(got)
	}
	if got := failed(member.testing(p.ID)); got != "admin-required" {
		t.Errorf("a test by a member: %q", got)
	}
	a.do(call{"DELETE", "/team/openid-provider", p.pat, nil, nil}).wantCode(t, 404, "not-found")
	p.patch(map[string]any{"method": "oidc"}).wantCode(t, 409, "sign-on-not-configured")
	p.patch(map[string]any{"method": "password"}).wantCode(t, 400, "invalid-request")
	p.patch(map[string]any{"attribute": "a\x00b"}).wantCode(t, 400, "invalid-request")
}

func TestOpenIDProviderSettings(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	put := func(body map[string]any) response {
		return a.do(call{"PUT", "/team/openid-provider", p.pat, body, nil})
	}
	for name, issuer := range map[string]string{"no address": "idp.acme.test", "no TLS": "http://idp.acme.test", "a query": "https://idp.acme.test?x=1",
		"a password": "https://a:b@idp.acme.test", "another scheme": "javascript:alert(1)", "a fragment": "https://idp.acme.test#x"} {
		if r := put(map[string]any{"issuer": issuer, "clientId": "docent"}); r.StatusCode != 400 {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
	const secret = "Birnenmost-as-a-secret"
	hasSecret := func(want bool, body map[string]any) {
		t.Helper()
		r := put(body).want(t, 200)
		if strings.Contains(string(r.body), secret) || strings.Contains(string(r.body), `"hasSecret":true`) != want {
			t.Errorf("%v: %s", body, r.body)
		}
	}
	hasSecret(true, map[string]any{"issuer": "https://idp.acme.test", "clientId": "docent", "clientSecret": secret})
	hasSecret(true, map[string]any{"issuer": "https://idp.acme.test", "clientId": "docent"})
	hasSecret(false, map[string]any{"issuer": "https://evil.test", "clientId": "docent"}) // never sent to another
	hasSecret(true, map[string]any{"issuer": "https://idp.acme.test", "clientId": "docent", "clientSecret": secret})
	hasSecret(false, map[string]any{"issuer": "https://idp.acme.test", "clientId": "docent", "clientSecret": ""})
	p.patch(map[string]any{"method": "oidc"}).want(t, 200)
	a.do(call{"DELETE", "/team/openid-provider", p.pat, nil, nil}).want(t, 204)
	if got := a.do(call{"GET", "/team/single-sign-on", p.pat, nil, nil}).want(t, 200); got.text(t, "method") != "saml" {
		t.Errorf("without the provider: %s", got.body)
	}
	feed := a.do(call{"GET", "/security-events?eventType=single_sign_on.updated", p.key, nil, nil}).want(t, 200)
	if strings.Contains(string(feed.body), secret) || !strings.Contains(string(feed.body), `"clientSecret"`) {
		t.Errorf("feed %s", feed.body)
	}
}

func TestFailedProvisioningIsInTheFeed(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	user := `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"` + p.admin.UserName + `"}`
	json := map[string]string{"Accept": "application/json"}
	a.raw(call{"POST", "/scim/v2/Users", p.scim, user, json}).want(t, 409)
	a.raw(call{"GET", "/scim/v2/Users?filter=nonsense", p.scim, nil, json}).want(t, 400)
	a.raw(call{"GET", "/scim/v2/Users/" + numberedID(1), p.scim, nil, json}).want(t, 404) // providers look for users
	a.raw(call{"POST", "/scim/v2/Users", p.pat, user, json}).want(t, 409)                 // not of the provider
	feed := a.do(call{"GET", "/security-events?eventType=scim.request_failed&outcome=failure", p.key, nil, nil}).want(t, 200)
	for _, want := range []string{`"reason":"uniqueness"`, `"reason":"invalidFilter"`, `"type":"scim"`} {
		if strings.Count(string(feed.body), want) == 0 {
			t.Errorf("the feed lacks %s: %s", want, feed.body)
		}
	}
	if n := strings.Count(string(feed.body), `"scim.request_failed"`); n != 2 {
		t.Errorf("%d events, want 2: %s", n, feed.body)
	}
	bulk := func(operations string) {
		t.Helper()
		a.raw(call{"POST", "/scim/v2/Bulk", p.scim, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"Operations":[` + operations + `]}`, json}).want(t, 200)
	}
	bulk(`{"method":"DELETE","path":"/Users/` + numberedID(1) + `"}`)
	bulk(`{"method":"POST","path":"/Groups","bulkId":"1","data":{"displayName":"g"}},{"method":"POST","path":"/Users","bulkId":"2","data":` + user + `},{"method":"POST","path":"/Users","bulkId":"3","data":{}}`)
	feed = a.do(call{"GET", "/security-events?eventType=scim.request_failed&outcome=failure", p.key, nil, nil}).want(t, 200)
	if n, conflicts := strings.Count(string(feed.body), `"scim.request_failed"`), strings.Count(string(feed.body), `"reason":"uniqueness","statusCode":409`); n != 3 || conflicts != 2 {
		t.Errorf("%d events with %d conflicts, want 3 with 2: %s", n, conflicts, feed.body)
	}
}
