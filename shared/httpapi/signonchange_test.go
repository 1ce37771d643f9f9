package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/app/parts/saml/samltest"
	"docent/shared/httpapi"
	"docent/shared/team"
)

// signOnChanges returns a call of each operation that changes how people sign in, by its pattern. Each succeeds for
// an admin in the order of the list, after which nothing is set.
func signOnChanges(metadata string) []call {
	xml := map[string]string{"Content-Type": "application/samlmetadata+xml"}
	return []call{
		{"PUT", "/team/saml-metadata", "", metadata, xml},
		{"PUT", "/team/saml-metadata/url", "", map[string]any{"url": samlAddress}, nil},
		{"PATCH", "/team/single-sign-on", "", map[string]any{"attribute": "mail"}, nil},
		{"PUT", "/team/openid-provider", "", map[string]any{"issuer": "https://idp.test", "clientId": "docent"}, nil},
		{"DELETE", "/team/openid-provider", "", nil, nil},
		{"DELETE", "/team/saml-metadata", "", nil, nil},
	}
}

// caller is a key, or the headers of a session.
type caller struct {
	key     string
	headers map[string]string
}

func (c caller) sends(what call) call {
	what.key = c.key
	if c.headers == nil {
		return what
	}
	header := map[string]string{}
	for _, headers := range []map[string]string{c.headers, what.header} {
		for name, value := range headers {
			header[name] = value
		}
	}
	what.header = header
	return what
}

// callers returns a new personal key of the admin, and a session that it opened.
func (a *api) callers(x tenant, k team.NewKey) map[string]caller {
	a.t.Helper()
	k.Kind, k.Name, k.UserID = team.KindPersonal, "a", x.admin.ID
	_, key := a.newKey(x.ID, k)
	r := a.do(call{"POST", "/sessions", "", map[string]any{"credential": key}, map[string]string{"Sec-Fetch-Site": "same-origin"}}).want(a.t, 201)
	return map[string]caller{"a key": {key, nil}, "its session": {"", by(r.Cookies()[0])}}
}

// TestOnlyAFullKeyChangesHowPeopleSignIn: otherwise a key could get, by a provider of its own, a session of any user
// with scopes that it lacks, which does not end with it.
func TestOnlyAFullKeyChangesHowPeopleSignIn(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	strange := samltest.New(t, "https://idp.evil.test/", "https://idp.evil.test/sso", a.clock.Now)
	changes := signOnChanges(strange.Metadata())
	for _, pattern := range httpapi.SignOnChanges {
		method, path, _ := strings.Cut(pattern, " ")
		if !slices.ContainsFunc(changes, func(c call) bool { return c.method == method && c.path == path }) {
			t.Errorf("not tested: %s", pattern)
		}
	}
	end := a.clock.Now().Add(24 * time.Hour)
	before := string(a.do(call{"GET", "/team/single-sign-on", p.pat, nil, nil}).want(t, 200).body)
	for name, c := range map[string]struct {
		key  team.NewKey
		code string
	}{
		"manage":          {team.NewKey{Scopes: []team.Scope{team.ScopeManage}}, "missing-scope"},
		"all but audit":   {team.NewKey{Scopes: team.Scopes()[:4]}, "missing-scope"},
		"an expiry":       {team.NewKey{ExpiresAt: &end}, "key-expires-first"},
		"scopes, an end":  {team.NewKey{Scopes: team.Scopes(), ExpiresAt: &end}, "key-expires-first"},
		"one scope, ends": {team.NewKey{Scopes: []team.Scope{team.ScopeManage}, ExpiresAt: &end}, "missing-scope"},
	} {
		for who, lesser := range a.callers(p.tenant, c.key) {
			for _, change := range changes {
				got := a.do(lesser.sends(change))
				if got.wantCode(t, http.StatusForbidden, c.code); !strings.Contains(got.text(t, "detail"), "To change how people sign in, use an admin's personal key that has all scopes and no expiry") {
					t.Errorf("%s with %s: %s %s: %s", who, name, change.method, change.path, got.body)
				}
			}
		}
	}
	if after := string(a.do(call{"GET", "/team/single-sign-on", p.pat, nil, nil}).want(t, 200).body); after != before {
		t.Errorf("the settings were changed: %s", after)
	}
	if entity := a.do(call{"GET", "/team/saml-metadata", p.pat, nil, nil}).want(t, 200).text(t, "entityId"); entity != p.idp.EntityID {
		t.Errorf("the provider is %s", entity)
	}
}

// TestAFullKeyChangesHowPeopleSignIn: keys with all scopes and without an expiry, and sessions, which all have one.
func TestAFullKeyChangesHowPeopleSignIn(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.provide("acme")
	b := a.newBrowser()
	if failed := p.signInWith(b, samltest.Options{}); failed != "" {
		t.Fatal(failed)
	}
	bySAML := by(&http.Cookie{Name: "__Host-docent", Value: b.cookies["__Host-docent"]})
	able := map[string]caller{"the session of a link": {"", by(a.signIn(p.tenant))}, "the session of a provider": {"", bySAML}}
	for name, k := range map[string]team.NewKey{"no scopes": {}, "all scopes": {Scopes: team.Scopes()}} {
		for who, c := range a.callers(p.tenant, k) {
			able[who+" with "+name] = c
		}
	}
	for name, c := range able {
		for _, change := range signOnChanges(p.idp.Metadata()) {
			if got := a.do(c.sends(change)); got.StatusCode > 204 {
				t.Errorf("%s: %s %s: %d %s", name, change.method, change.path, got.StatusCode, got.body)
			}
		}
	}
}
