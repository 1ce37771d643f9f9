package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"docent/shared/app/parts/saml/samltest"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// browser is a browser that signs in: it keeps cookies and follows redirects as it is told.
type browser struct {
	*api
	cookies map[string]string
}

func (a *api) newBrowser() *browser { return &browser{a, map[string]string{}} }

// get sends a navigation, with the cookies that a browser sends along: a POST from another site
// has none that are SameSite=Lax.
func (b *browser) get(address string) response {
	b.t.Helper()
	return b.navigate("GET", address, nil)
}

func (b *browser) navigate(method, address string, form url.Values) response {
	b.t.Helper()
	c := call{method, strings.TrimPrefix(address, baseURL), "", nil, map[string]string{"Sec-Fetch-Site": "cross-site"}}
	if form != nil {
		c.body, c.header["Content-Type"] = form.Encode(), "application/x-www-form-urlencoded"
	} else {
		c.header["Cookie"] = b.cookie()
	}
	r := b.do(c)
	for _, cookie := range r.Cookies() {
		b.cookies[cookie.Name] = cookie.Value
	}
	return r
}

// cookie returns the header with all cookies.
func (b *browser) cookie() string {
	var all []string
	for name, value := range b.cookies {
		all = append(all, name+"="+value)
	}
	return strings.Join(all, "; ")
}

// location returns where the reply leads.
func (r response) location(t testing.TB) string {
	t.Helper()
	if r.StatusCode != http.StatusSeeOther {
		t.Fatalf("status %d, want a redirect: %s", r.StatusCode, r.body)
	}
	return r.Header.Get("Location")
}

// failure returns why a sign-in failed, as the dashboard reads it; empty: it has not failed.
func (r response) failure(t testing.TB) string {
	t.Helper()
	rest, ok := strings.CutPrefix(r.location(t), baseURL+"/dashboard/#/sign-in-failed/")
	if !ok {
		return ""
	}
	code, requestID, _ := strings.Cut(rest, "/")
	if requestID != r.Header.Get("X-Request-Id") {
		t.Errorf("the request id is %q", requestID)
	}
	return code
}

// provided is a tenant with a SAML provider.
type provided struct {
	*api
	tenant
	idp *samltest.Provider
}

func (a *api) provide(name string) *provided {
	a.t.Helper()
	p := &provided{a, a.newTenant(name), samltest.New(a.t, "https://idp."+name+".test/", "https://idp."+name+".test/sso", a.clock.Now)}
	p.idp.User = "Admin@" + name + ".test" // the first admin, in another case
	p.setMetadata(p.idp)
	return p
}

func (p *provided) setMetadata(idp *samltest.Provider) {
	p.t.Helper()
	p.do(call{"PUT", "/team/saml-metadata", p.pat, idp.Metadata(), map[string]string{"Content-Type": "application/samlmetadata+xml"}}).want(p.t, 200)
}

// TestSignInsOfOneAddressAreLimited: each that begins stores something, and needs no key.
func TestSignInsOfOneAddressAreLimited(t *testing.T) {
	t.Parallel()
	p := newAPI(t).provide("acme")
	begin := func(address string) string {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/sso/"+p.ID, nil)
		r.RemoteAddr = address + ":1"
		w := httptest.NewRecorder()
		p.handler.ServeHTTP(w, r)
		return response{w.Result(), w.Body.Bytes()}.failure(t)
	}
	for n := range 500 {
		if failed := begin("192.0.2.7"); failed != "" {
			t.Fatalf("sign-in %d: %s", n, failed)
		}
	}
	for address, want := range map[string]string{"192.0.2.7": "rate-exceeded", "192.0.2.8": "", "[2001:db8::1]": ""} {
		if failed := begin(address); failed != want {
			t.Errorf("%s: %q, want %q", address, failed, want)
		}
	}
	p.clock.Advance(time.Second)
	if failed := begin("192.0.2.7"); failed != "" {
		t.Errorf("a second later: %s", failed)
	}
}

// begin begins a sign-in in b and returns the request.
func (p *provided) begin(b *browser) samltest.Request {
	p.t.Helper()
	to := b.get("/sso/" + p.ID).location(p.t)
	r, err := samltest.ReadRequest(to)
	if err != nil || !strings.HasPrefix(to, p.idp.SignOn+"?") {
		p.t.Fatalf("%s: %v", to, err)
	}
	return r
}

// form returns what the provider sends back.
func (p *provided) form(r samltest.Request, o samltest.Options) url.Values {
	p.t.Helper()
	form, err := p.idp.Form(r, o)
	if err != nil {
		p.t.Fatal(err)
	}
	return form
}

// signInWith signs in with a response that o changes, and returns why that fails.
func (p *provided) signInWith(b *browser, o samltest.Options) string {
	p.t.Helper()
	r := p.begin(b)
	return p.come(b, p.form(r, o))
}

// come comes back from the provider with a form.
func (p *provided) come(b *browser, form url.Values) string {
	p.t.Helper()
	reply := b.navigate("POST", "/sso/"+p.ID+"/acs", form)
	if failed := reply.failure(p.t); failed != "" {
		return failed
	}
	return b.get(reply.location(p.t)).failure(p.t)
}

// signedIn reports whether b has a session.
func (b *browser) signedIn() bool {
	b.t.Helper()
	c := &http.Cookie{Name: "__Host-docent", Value: b.cookies["__Host-docent"]}
	return c.Value != "" && b.do(call{"GET", "/me", "", nil, by(c)}).StatusCode == 200
}

func TestSignInBySAML(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	b := a.newBrowser()
	r := p.begin(b)
	if r.ACS != baseURL+"/sso/"+p.ID+"/acs" || r.Audience != baseURL+"/sso/"+p.ID+"/metadata" {
		t.Errorf("request %+v", r)
	}
	reply := b.navigate("POST", "/sso/"+p.ID+"/acs", p.form(r, samltest.Options{}))
	if len(reply.Cookies()) > 0 {
		t.Error("a session was opened before the browser's cookie was checked")
	}
	done := b.get(reply.location(t))
	if to := done.location(t); to != baseURL+"/dashboard/#/signed-in" {
		t.Errorf("led to %s", to)
	}
	for _, c := range done.Cookies() {
		if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || !strings.HasPrefix(c.Name, "__Host-") {
			t.Errorf("cookie %s", c)
		}
	}
	session := &http.Cookie{Name: "__Host-docent", Value: b.cookies["__Host-docent"]}
	me := a.do(call{"GET", "/me", "", nil, by(session)}).want(t, 200)
	if me.text(t, "user.userName") != "admin@acme.test" || me.text(t, "user.role") != "admin" {
		t.Errorf("me %s", me.body)
	}
	if list := a.do(call{"GET", "/sessions", "", nil, by(session)}).want(t, 200); !strings.Contains(string(list.body), `"signIn":"saml"`) {
		t.Errorf("sessions %s", list.body)
	}
	feed := a.do(call{"GET", "/security-events?eventType=saml.login", p.key, nil, nil}).want(t, 200)
	for _, want := range []string{p.admin.ID, `"certificate"`, `"outcome":{"result":"success"`} {
		if !strings.Contains(string(feed.body), want) {
			t.Errorf("the feed lacks %s: %s", want, feed.body)
		}
	}
	if log := a.log.String(); strings.Contains(log, path.Base(reply.location(t))) || strings.Contains(log, b.cookies["__Host-docent"]) {
		t.Error("a secret is logged")
	}
}

// TestExchangedNamesMakeNobodyAnAdmin: a provider's key and a team key do not turn the name with which a member signs in
// into that of an admin.
func TestExchangedNamesMakeNobodyAnAdmin(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	ben, err := teamtest.CreateUser(t.Context(), a.local.Teams, p.ID, "ben@acme.test", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	rename := func(key, id, to string) response {
		body := `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","path":"userName","value":"` + to + `"}]}`
		return a.raw(call{"PATCH", "/scim/v2/Users/" + id, key, body, scimJSON})
	}
	for name, key := range map[string]string{"scim": p.scim, "team": p.key} {
		rename(key, ben.ID, "ben-old@acme.test").want(t, 200)
		if r := rename(key, p.admin.ID, "ben@acme.test").want(t, 403); !strings.Contains(r.text(t, "detail"), "Only an admin's personal key") {
			t.Errorf("by a %s key: %s", name, r.body)
		}
		if got := p.signInWith(a.newBrowser(), samltest.Options{Name: "ben@acme.test"}); got != "user-unknown" {
			t.Errorf("after a %s key has exchanged names, ben signs in: %q", name, got)
		}
		rename(key, ben.ID, "ben@acme.test").want(t, 200)
	}
	rename(p.pat, p.admin.ID, "ada@acme.test").want(t, 200)
	if got := p.signInWith(a.newBrowser(), samltest.Options{Name: "ada@acme.test"}); got != "" {
		t.Errorf("an admin whom an admin has renamed: %q", got)
	}
}

func TestOnlyActiveUsersOfTheTeamSignIn(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	other := a.newTenant("rival")
	grace, err := teamtest.CreateUser(t.Context(), a.local.Teams, p.ID, "grace@acme.test", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"GRACE@acme.TEST": "", "nobody@acme.test": "user-unknown", other.admin.UserName: "user-unknown"} {
		if got := p.signInWith(a.newBrowser(), samltest.Options{Name: name}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	role := `<saml:Attribute Name="role"><saml:AttributeValue>admin</saml:AttributeValue></saml:Attribute>`
	b := a.newBrowser()
	if got := p.signInWith(b, samltest.Options{Name: grace.UserName, Attributes: role}); got != "" {
		t.Fatal(got)
	}
	me := a.do(call{"GET", "/me", "", nil, by(&http.Cookie{Name: "__Host-docent", Value: b.cookies["__Host-docent"]})}).want(t, 200)
	if me.text(t, "user.role") != "member" {
		t.Errorf("an assertion gave a role: %s", me.body)
	}
	patch := map[string]any{"schemas": []string{"urn:ietf:params:scim:api:messages:2.0:PatchOp"}, "Operations": []any{map[string]any{"op": "replace", "value": map[string]any{"active": false}}}}
	a.do(call{"PATCH", "/scim/v2/Users/" + grace.ID, p.scim, patch, nil}).want(t, 200)
	a.clock.Advance(10 * time.Second)
	if b.signedIn() {
		t.Error("a deactivated user is signed in")
	}
	if got := p.signInWith(a.newBrowser(), samltest.Options{Name: grace.UserName}); got != "user-inactive" {
		t.Errorf("a deactivated user: %q", got)
	}
	feed := a.do(call{"GET", "/security-events?eventType=saml.login_failed", p.key, nil, nil}).want(t, 200)
	for _, want := range []string{`"reason":"user-inactive"`, `"reason":"user-unknown"`, "nobody@acme.test"} {
		if !strings.Contains(string(feed.body), want) {
			t.Errorf("the feed lacks %s: %s", want, feed.body)
		}
	}
}

func TestUserNameFromAnAttribute(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	a.do(call{"PATCH", "/team/single-sign-on", p.pat, map[string]any{"attribute": "mail"}, nil}).want(t, 200)
	mail := func(values ...string) string {
		text := `<saml:Attribute Name="mail">`
		for _, v := range values {
			text += `<saml:AttributeValue>` + v + `</saml:AttributeValue>`
		}
		return text + `</saml:Attribute>`
	}
	for _, c := range []struct{ name, attributes, want string }{
		{"one", mail("admin@acme.test"), ""},
		{"none", "", "no-name"},
		{"empty", mail(""), "no-name"},
		{"two", mail("admin@acme.test", "x@acme.test"), "no-name"},
		{"two attributes", mail("admin@acme.test") + mail("admin@acme.test"), "no-name"},
		{"markup", mail("<b>admin@acme.test</b>"), "no-name"},
	} {
		if got := p.signInWith(a.newBrowser(), samltest.Options{Name: "x9", Attributes: c.attributes}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSignInIsBoundToItsBrowser has what an attacker could send through somebody else's browser.
func TestSignInIsBoundToItsBrowser(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	attacker, victim := a.newBrowser(), a.newBrowser()
	if got := p.come(victim, p.form(p.begin(attacker), samltest.Options{})); got != "other-browser" || victim.signedIn() {
		t.Errorf("RelayState of another browser: %q", got)
	}
	p.begin(victim) // now it has a cookie, of its own
	if got := p.come(victim, p.form(p.begin(attacker), samltest.Options{})); got != "other-browser" || victim.signedIn() {
		t.Errorf("RelayState of another browser, beside a sign-in of its own: %q", got)
	}
	form := p.form(p.begin(attacker), samltest.Options{})
	ticket := attacker.navigate("POST", "/sso/"+p.ID+"/acs", form).location(t)
	if got := victim.get(ticket).failure(t); got != "other-browser" {
		t.Errorf("ticket of another browser: %q", got)
	}
	if got := attacker.get(ticket).failure(t); got != "ticket-unknown" {
		t.Errorf("a ticket that was tried: %q", got)
	}
	first, second := p.begin(victim), p.begin(victim) // two windows
	if one, two := p.come(victim, p.form(first, samltest.Options{})), p.come(victim, p.form(second, samltest.Options{})); one != "" || two != "" {
		t.Errorf("two windows: %q, %q", one, two)
	}
}

func TestSignInIsBegunHereAndOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p, rival := a.provide("acme"), a.provide("rival")
	b := a.newBrowser()
	r := p.begin(b)
	form := p.form(r, samltest.Options{})
	if got := p.come(b, form); got != "" {
		t.Fatal(got)
	}
	if got := p.come(b, form); got != "request-unknown" {
		t.Errorf("the same response again: %q", got)
	}
	again := p.begin(b)
	form.Set("RelayState", again.State)
	if got := p.come(b, form); got != "other-request" {
		t.Errorf("the same response with another RelayState: %q", got)
	}
	if got := p.come(b, p.form(samltest.Request{ID: again.ID, ACS: again.ACS, Audience: again.Audience}, samltest.Options{})); got != "request-unknown" {
		t.Errorf("begun by the provider: %q", got)
	}
	twice := p.form(p.begin(b), samltest.Options{})
	twice.Add("RelayState", "other")
	if got := p.come(b, twice); got != "malformed" {
		t.Errorf("two values of RelayState: %q", got)
	}
	twice["RelayState"] = twice["RelayState"][:1]
	if got := p.come(b, twice); got != "" {
		t.Errorf("after a response with two values: %q", got)
	}
	late := p.begin(b)
	a.clock.Advance(10 * time.Minute)
	if got := p.come(b, p.form(late, samltest.Options{})); got != "request-unknown" {
		t.Errorf("after ten minutes: %q", got)
	}
	ready := b.navigate("POST", "/sso/"+p.ID+"/acs", p.form(p.begin(b), samltest.Options{})).location(t)
	if got := b.get(ready + "&ticket=other").failure(t); got != "ticket-unknown" {
		t.Errorf("two tickets: %q", got)
	}
	if got := b.get(ready).location(t); !strings.HasSuffix(got, "#/signed-in") {
		t.Errorf("after two tickets: %q", got)
	}
	slow := b.navigate("POST", "/sso/"+p.ID+"/acs", p.form(p.begin(b), samltest.Options{})).location(t)
	a.clock.Advance(2 * time.Minute)
	if got := b.get(slow).failure(t); got != "ticket-unknown" {
		t.Errorf("a ticket after two minutes: %q", got)
	}
	crossed := rival.form(p.begin(b), samltest.Options{})
	if got := rival.come(b, crossed); got != "request-unknown" {
		t.Errorf("at another team's address: %q", got)
	}
	if got := p.come(b, rival.form(p.begin(b), samltest.Options{Name: "admin@acme.test"})); got != "bad-signature" {
		t.Errorf("another team's provider: %q", got)
	}
	if got := p.come(b, rival.form(p.begin(b), samltest.Options{Name: "admin@acme.test", Issuer: p.idp.EntityID})); got != "bad-signature" {
		t.Errorf("another team's provider, as ours: %q", got)
	}
}

func TestSignOnWithoutAProvider(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	b := a.newBrowser()
	if got := b.get("/sso/" + x.ID).failure(t); got != "not-configured" {
		t.Errorf("without a provider: %q", got)
	}
	if got := b.get("/sso").location(t); got != baseURL+"/sso/"+x.ID {
		t.Errorf("the only team: %s", got)
	}
	for _, id := range []string{"0190a0a0-0000-7000-8000-000000000000", "x", "%20"} {
		if got := b.get("/sso/" + id).failure(t); got != "not-found" {
			t.Errorf("team %s: %q", id, got)
		}
		b.get("/sso/"+id+"/metadata").want(t, 404)
		if got := b.navigate("POST", "/sso/"+id+"/acs", url.Values{}).failure(t); got != "not-found" {
			t.Errorf("team %s: %q", id, got)
		}
	}
	a.newTenant("rival")
	if got := b.get("/sso").location(t); got != baseURL+"/dashboard/#/sign-in-team" {
		t.Errorf("two teams: %s", got)
	}
	if text := string(b.get("/sso/"+x.ID+"/metadata").want(t, 200).body); !strings.Contains(text, `Location="`+baseURL+"/sso/"+x.ID+`/acs"`) {
		t.Errorf("metadata %s", text)
	}
}

func TestProviderThatTakesOnlyForms(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	metadata := strings.Replace(p.idp.Metadata(), "HTTP-Redirect", "HTTP-POST", 1)
	metadata = strings.Replace(metadata, p.idp.SignOn, p.idp.SignOn+"?a=1&amp;b=&quot;", 1)
	a.do(call{"PUT", "/team/saml-metadata", p.pat, metadata, map[string]string{"Content-Type": "application/samlmetadata+xml"}}).want(t, 200)
	r := a.newBrowser().get("/sso/"+p.ID).want(t, 200)
	for _, want := range []string{`action="` + p.idp.SignOn + `?a=1&amp;b=&#34;"`, `name="SAMLRequest"`, `name="RelayState"`} {
		if !strings.Contains(string(r.body), want) {
			t.Errorf("the page lacks %s: %s", want, r.body)
		}
	}
	if csp := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
		t.Errorf("policy %q", csp)
	}
}
