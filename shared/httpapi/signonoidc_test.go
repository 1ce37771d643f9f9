package httpapi_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"docent/shared/app"
	"docent/shared/app/parts/oidc"
	"docent/shared/fetch"
	"docent/shared/signon"
	"docent/shared/team"
	"docent/shared/team/teamtest"
	"docent/testkit/oidcprovider"
)

// independent is a tenant with a provider that shares no code with Docent. Its users are known by
// their subjects: 1 is the admin, 2 is Grace, 3 is in no team, and 4 says that she is Grace.
type independent struct {
	*api
	tenant
	idp *oidcprovider.Provider
}

const oidcSecret = "the-secret-of-the-client-is-long-enough-for-HS256"

// newIndependent returns a tenant with a provider that says addresses as inToken says (oidcprovider.Start).
func newIndependent(t *testing.T, inToken bool) *independent {
	t.Helper()
	anywhere := oidc.With(fetch.NewReaching(nil, func(netip.AddrPort) bool { return true }))
	a := newAPIWith(t, app.SignOn{signon.OIDC: anywhere})
	a.clock.Advance(time.Since(a.clock.Now())) // the provider has no other clock
	x := &independent{api: a, tenant: a.newTenant("acme")}
	if _, err := teamtest.CreateUser(t.Context(), a.local.Teams, x.ID, "grace@acme.test", team.RoleMember); err != nil {
		t.Fatal(err)
	}
	back := []string{baseURL + "/sso/" + x.ID + "/callback"}
	x.idp = oidcprovider.Start(t, []oidcprovider.Client{
		{ID: "docent", Secret: oidcSecret, Redirects: back}, {ID: "elliptic", Secret: oidcSecret, Redirects: back, Signature: "ES256"},
		{ID: "public", Redirects: back, Auth: "none"}, {ID: "symmetric", Secret: oidcSecret, Redirects: back, Signature: "HS256"},
	}, map[string]oidcprovider.User{"1": {Email: "Admin@acme.test", Verified: true}, "2": {Email: "grace@acme.test", Verified: true},
		"3": {Email: "eve@evil.test", Verified: true}, "4": {Email: "grace@acme.test"}}, inToken)
	x.use("docent", oidcSecret)
	a.do(call{"PATCH", "/team/single-sign-on", x.pat, map[string]any{"method": "oidc"}, nil}).want(t, 200)
	return x
}

// use makes the team sign in as a client of the provider.
func (x *independent) use(client, secret string) {
	x.t.Helper()
	x.do(call{"PUT", "/team/openid-provider", x.pat, map[string]any{"issuer": x.idp.Issuer, "clientId": client, "clientSecret": secret}, nil}).want(x.t, 200)
}

// visit begins a sign-in in b, with parameters of the request changed, and returns the provider's
// answer about the subject.
func (x *independent) visit(b *browser, subject string, changed ...string) *url.URL {
	x.t.Helper()
	to, err := url.Parse(b.get("/sso/" + x.ID).location(x.t))
	if err != nil {
		x.t.Fatal(err)
	}
	q := to.Query()
	for i := 0; i < len(changed); i += 2 {
		q.Set(changed[i], changed[i+1])
	}
	to.RawQuery = q.Encode()
	return x.idp.Visit(x.t, to.String(), subject)
}

// come comes back with an answer, some of its parameters changed, and returns why that fails.
func (x *independent) come(b *browser, answer *url.URL, changed ...string) string {
	x.t.Helper()
	q := answer.Query()
	for i := 0; i < len(changed); i += 2 {
		q.Set(changed[i], changed[i+1])
	}
	r := b.get("/sso/" + x.ID + "/callback?" + q.Encode())
	if failed := r.failure(x.t); failed != "" {
		return failed
	}
	return b.get(r.location(x.t)).failure(x.t)
}

// TestSignInAtAnIndependentProvider signs in at the npm package oidc-provider, which demands PKCE.
func TestSignInAtAnIndependentProvider(t *testing.T) {
	t.Parallel()
	x := newIndependent(t, oidcprovider.InToken)
	b := x.newBrowser()
	answer := x.visit(b, "1")
	if !strings.HasPrefix(answer.String(), baseURL+"/sso/"+x.ID+"/callback?") || answer.Query().Get("iss") != x.idp.Issuer {
		t.Errorf("answer %s", answer)
	}
	if got := x.come(b, answer); got != "" || !b.signedIn() {
		t.Fatalf("the admin: %q", got)
	}
	session := &http.Cookie{Name: "__Host-docent", Value: b.cookies["__Host-docent"]}
	if me := x.do(call{"GET", "/me", "", nil, by(session)}).want(t, 200); me.text(t, "user.userName") != "admin@acme.test" {
		t.Errorf("me %s", me.body)
	}
	if got := x.come(b, answer); got != "request-unknown" {
		t.Errorf("the same answer again: %q", got)
	}
	for _, c := range []struct{ client, secret string }{{"elliptic", oidcSecret}, {"public", ""}} {
		x.use(c.client, c.secret)
		if got := x.come(b, x.visit(b, "2")); got != "" {
			t.Errorf("as the client %s: %q", c.client, got)
		}
	}
	if feed := x.feed(x.key, "&eventType=oidc.login"); len(feed.Events) != 3 {
		t.Errorf("%d sign-ins in the feed, want 3", len(feed.Events))
	}
	if log := x.log.String(); strings.Contains(log, oidcSecret) || strings.Contains(log, answer.Query().Get("code")) {
		t.Error("a secret is logged")
	}
}

// TestSignInAtAProviderWithUserInfo: the provider follows the standard, by which the ID token has no e-mail address.
func TestSignInAtAProviderWithUserInfo(t *testing.T) {
	t.Parallel()
	x := newIndependent(t, oidcprovider.UserInfo)
	for subject, want := range map[string]signon.Reason{"2": "", "3": signon.UserUnknown, "4": signon.EmailNotVerified} {
		b := x.newBrowser()
		if got := x.come(b, x.visit(b, subject)); got != string(want) || b.signedIn() != (want == "") {
			t.Errorf("%s: %q, want %q", subject, got, want)
		}
	}
}

func TestWhatAnIndependentProviderSendsInVain(t *testing.T) {
	t.Parallel()
	x := newIndependent(t, oidcprovider.InToken)
	code := func() string { // of another sign-in of the same user, which was intercepted
		return x.visit(x.newBrowser(), "1").Query().Get("code")
	}
	for name, c := range map[string]struct {
		come func(b *browser) string
		want signon.Reason
	}{
		"the person refuses":      {func(b *browser) string { return x.come(b, x.visit(b, "nobody")) }, signon.ProviderRefused},
		"a user of no team":       {func(b *browser) string { return x.come(b, x.visit(b, "3")) }, signon.UserUnknown},
		"an address not verified": {func(b *browser) string { return x.come(b, x.visit(b, "4")) }, signon.EmailNotVerified},
		"another nonce":           {func(b *browser) string { return x.come(b, x.visit(b, "1", "nonce", signon.NewSecret())) }, signon.OtherRequest},
		"another challenge":       {func(b *browser) string { return x.come(b, x.visit(b, "1", "code_challenge", signon.NewSecret())) }, signon.ProviderRefused},
		"without PKCE": {func(b *browser) string {
			return x.come(b, x.visit(b, "1", "code_challenge", "", "code_challenge_method", ""))
		}, signon.ProviderRefused},
		"the code of another request":  {func(b *browser) string { return x.come(b, x.visit(b, "1"), "code", code()) }, signon.ProviderRefused},
		"the code of another client":   {func(b *browser) string { return x.come(b, x.visit(b, "1", "client_id", "elliptic")) }, signon.ProviderRefused},
		"no code that there is":        {func(b *browser) string { return x.come(b, x.visit(b, "1"), "code", signon.NewSecret()) }, signon.ProviderRefused},
		"another issuer's answer":      {func(b *browser) string { return x.come(b, x.visit(b, "1"), "iss", "https://evil.test") }, signon.OtherIssuer},
		"another state":                {func(b *browser) string { return x.come(b, x.visit(b, "1"), "state", signon.NewSecret()) }, signon.RequestUnknown},
		"an answer to another browser": {func(b *browser) string { return x.come(b, x.visit(x.newBrowser(), "1")) }, signon.OtherBrowser},
		"after more than ten minutes": {func(b *browser) string {
			a := x.visit(b, "1")
			x.clock.Advance(signon.RequestLife)
			defer x.clock.Advance(-signon.RequestLife)
			return x.come(b, a)
		}, signon.RequestUnknown},
	} {
		b := x.newBrowser()
		if got := c.come(b); got != string(c.want) || b.signedIn() {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		client, secret string
		want           signon.Reason
	}{
		"another secret":                 {"docent", "another", signon.ProviderRefused},
		"a token signed with the secret": {"symmetric", oidcSecret, signon.BadSignature},
	} {
		x.use(c.client, c.secret)
		b := x.newBrowser()
		if got := x.come(b, x.visit(b, "1")); got != string(c.want) || b.signedIn() {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	// The provider names itself otherwise than the admin has entered.
	x.do(call{"PUT", "/team/openid-provider", x.pat, map[string]any{"issuer": x.idp.Issuer + "/", "clientId": "docent", "clientSecret": oidcSecret}, nil}).want(t, 200)
	if got := x.newBrowser().get("/sso/" + x.ID).failure(t); got != string(signon.ProviderDown) {
		t.Errorf("another issuer: %q", got)
	}
}
