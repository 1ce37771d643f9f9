package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"docent/shared/app/parts/oidc"
	"docent/shared/fetch"
	"docent/shared/signon"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// provider is an OpenID Connect provider that authenticates everybody as claims say.
type provider struct {
	*httptest.Server
	key       *rsa.PrivateKey
	challenge string // of the last request
	change    func(claims map[string]any)
	algorithm string
	signer    *rsa.PrivateKey
	status    int
	bloated   bool
	userinfo  map[string]any // what it says to the access token; nil: it has no such endpoint
	read      int            // how often its configuration was
}

func newProvider(t testing.TB) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key, algorithm: "RS256", status: 200}
	p.signer = key
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	write := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		p.read++
		if p.bloated {
			_, _ = w.Write([]byte(`{"x":"` + strings.Repeat("a", 4<<20) + `",`))
		}
		configuration := map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}}
		if p.userinfo != nil {
			configuration["userinfo_endpoint"] = p.URL + "/userinfo"
		}
		write(configuration)
	case "/userinfo":
		if r.Header.Get("Authorization") != "Bearer a" || len(p.userinfo) == 0 {
			w.WriteHeader(403)
		}
		write(p.userinfo)
	case "/keys":
		write(map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256",
			"n": base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(p.key.E)).Bytes())}}})
	case "/token":
		user, password, _ := r.BasicAuth()
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if p.status != 200 || user != "docent" || password != "secret" || r.FormValue("code") == "" || base64.RawURLEncoding.EncodeToString(sum[:]) != p.challenge {
			w.WriteHeader(max(p.status, 400))
			write(map[string]any{"error": "invalid_grant"})
			return
		}
		nonce, _, _ := strings.Cut(r.FormValue("code"), ".")
		claims := map[string]any{"iss": p.URL, "aud": "docent", "sub": "u1", "exp": noon.Add(time.Hour).Unix(), "iat": noon.Unix(), "nonce": nonce,
			"email": "ada@acme.test", "email_verified": true}
		if p.change != nil {
			p.change(claims)
		}
		maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
		text, _ := json.Marshal(claims)
		write(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": oidctest.SignIDToken(p.signer, "1", p.algorithm, string(text))})
	default:
		http.NotFound(w, r)
	}
}

// visit signs in at p and returns whom the protocol names, or why it refuses.
func (p *provider) visit(t *testing.T, edit func(answer url.Values, r *signon.Request)) (signon.Identity, signon.Reason) {
	t.Helper()
	protocol := oidc.With(fetch.NewReaching(nil, func(netip.AddrPort) bool { return true }))
	at := signon.Party{Callback: "https://docent.test/v1/sso/acme/callback", Secret: "secret", Now: noon}
	at.Settings.OIDC = &signon.Client{Issuer: p.URL, ClientID: "docent"}
	r := signon.Request{Method: signon.OIDC}
	to, err := protocol.Begin(t.Context(), at, &r, "state")
	if err != nil {
		return signon.Identity{}, reason(t, err)
	}
	u, err := url.Parse(to.URL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("state") != "state" || q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" || q.Get("redirect_uri") != at.Callback ||
		q.Get("nonce") != r.Nonce || r.Nonce == "" || r.Verifier == "" || strings.Contains(to.URL, r.Verifier) || strings.Contains(to.URL, "secret=") {
		t.Errorf("sent to %s", to.URL)
	}
	p.challenge = q.Get("code_challenge")
	answer := url.Values{"state": {"state"}, "code": {r.Nonce + ".code"}}
	if edit != nil {
		edit(answer, &r)
	}
	who, err := protocol.Finish(t.Context(), at, r, answer)
	return who, reason(t, err)
}

func reason(t *testing.T, err error) signon.Reason {
	t.Helper()
	var f *signon.Failure
	if err != nil && !errors.As(err, &f) {
		t.Fatal(err)
	}
	if f == nil {
		return ""
	}
	return f.Reason
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	who, refused := p.visit(t, nil)
	if refused != "" || who.Name != "ada@acme.test" || who.Subject != "u1" || who.Issuer != p.URL || who.ProofID != "" {
		t.Errorf("%q, %+v", refused, who)
	}
}

// TestConfigurationIsReadOnceAMinute: anyone may begin any number of sign-ins, and none of them makes a request to the provider then.
func TestConfigurationIsReadOnceAMinute(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	protocol := oidc.With(fetch.NewReaching(nil, func(netip.AddrPort) bool { return true }))
	at := signon.Party{Callback: "https://docent.test/v1/sso/acme/callback", Secret: "secret"}
	at.Settings.OIDC = &signon.Client{Issuer: p.URL, ClientID: "docent"}
	for _, step := range []struct {
		after  time.Duration
		testBy string
		read   int
	}{{0, "", 1}, {0, "", 1}, {59 * time.Second, "", 1}, {time.Minute, "", 2}, {time.Minute, "admin", 3}, {61 * time.Second, "", 3}, {0, "", 4}} {
		at.Now = noon.Add(step.after)
		if _, err := protocol.Begin(t.Context(), at, &signon.Request{Method: signon.OIDC, TestBy: step.testBy}, "state"); err != nil {
			t.Fatal(err)
		}
		if p.read != step.read {
			t.Errorf("after %s, test by %q: read %d times, want %d", step.after, step.testBy, p.read, step.read)
		}
	}
	at.Now = noon
	p.Close()
	if _, err := protocol.Begin(t.Context(), at, &signon.Request{Method: signon.OIDC}, "state"); err != nil {
		t.Error("the provider is away, and its configuration known:", err)
	}
}

func TestOnlyVerifiedAddressesName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		verified, domain any
		want             string
	}{
		"verified": {true, nil, "ada@acme.test"}, "verified, as text": {"true", nil, "ada@acme.test"}, "not verified": {false, nil, ""}, "not said": {nil, nil, ""},
		"as text": {"false", nil, ""}, "Entra ID, domain verified": {nil, true, "ada@acme.test"}, "Entra ID, domain not verified": {nil, false, ""},
		"not verified in a verified domain": {false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.change = func(claims map[string]any) { claims["email_verified"], claims["xms_edov"] = c.verified, c.domain }
			if who, refused := p.visit(t, nil); refused != "" || who.Name != c.want || who.Subject != "u1" {
				t.Errorf("%q, %+v", refused, who)
			}
		})
	}
}

// TestAddressesOfUserInfo: with the code flow a provider has the claims of the scope email there (OpenID Connect Core, section 5.4), not
// in the ID token. One of Okta has an address in the ID token, but does not say there that it is verified.
func TestAddressesOfUserInfo(t *testing.T) {
	t.Parallel()
	verified := map[string]any{"sub": "u1", "email": "ada@acme.test", "email_verified": true}
	with := func(name string, value any) map[string]any {
		changed := maps.Clone(verified)
		changed[name] = value
		maps.DeleteFunc(changed, func(_ string, v any) bool { return v == nil })
		return changed
	}
	for name, c := range map[string]struct {
		email, verified any // in the ID token
		userinfo        map[string]any
		want            string
		unnamed         signon.Reason
	}{
		"nothing in the token":              {nil, nil, verified, "ada@acme.test", ""},
		"an address alone in the token":     {"ada@acme.test", nil, verified, "ada@acme.test", ""},
		"another address in the token":      {"eve@acme.test", nil, verified, "ada@acme.test", ""},
		"verified by the token alone":       {nil, true, with("email_verified", nil), "", ""},
		"the token says that it is not":     {"ada@acme.test", false, verified, "", ""},
		"not verified":                      {nil, nil, with("email_verified", false), "", ""},
		"of another subject":                {nil, nil, with("sub", "u2"), "", signon.Malformed},
		"of no subject":                     {nil, nil, with("sub", ""), "", signon.Malformed},
		"refused":                           {nil, nil, map[string]any{}, "", signon.ProviderDown},
		"not asked, as the token has it":    {"ada@acme.test", true, map[string]any{}, "ada@acme.test", ""},
		"there is none":                     {nil, nil, nil, "", ""},
		"there is none, and half the claim": {"ada@acme.test", nil, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.userinfo = c.userinfo
			p.change = func(claims map[string]any) { claims["email"], claims["email_verified"] = c.email, c.verified }
			who, refused := p.visit(t, nil)
			if refused != "" || who.Name != c.want || reason(t, who.Unnamed) != c.unnamed || who.Subject != "u1" {
				t.Errorf("%q, %+v", refused, who)
			}
		})
	}
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string, value any) func(*provider) {
		return func(p *provider) { p.change = func(claims map[string]any) { claims[name] = value } }
	}
	for name, c := range map[string]struct {
		before func(*provider)
		edit   func(answer url.Values, r *signon.Request)
		want   signon.Reason
	}{
		"refused by the provider":  {edit: func(a url.Values, _ *signon.Request) { a.Set("error", "access_denied") }, want: signon.ProviderRefused},
		"no code":                  {edit: func(a url.Values, _ *signon.Request) { a.Del("code") }, want: signon.Malformed},
		"another issuer's answer":  {edit: func(a url.Values, _ *signon.Request) { a.Set("iss", "https://evil.test") }, want: signon.OtherIssuer},
		"another verifier":         {edit: func(_ url.Values, r *signon.Request) { r.Verifier = signon.NewSecret() }, want: signon.ProviderRefused},
		"the code is used":         {before: func(p *provider) { p.status = 400 }, want: signon.ProviderRefused},
		"another key":              {before: func(p *provider) { p.signer = other }, want: signon.BadSignature},
		"another algorithm":        {before: func(p *provider) { p.algorithm = "PS256" }, want: signon.BadSignature},
		"another nonce":            {before: set("nonce", signon.NewSecret()), want: signon.OtherRequest},
		"no nonce":                 {before: set("nonce", nil), want: signon.OtherRequest},
		"another audience":         {before: set("aud", "other"), want: signon.OtherAudience},
		"several, for another":     {before: set("aud", []string{"docent", "other"}), want: signon.OtherAudience},
		"made for another party":   {before: set("azp", "other"), want: signon.OtherAudience},
		"another issuer":           {before: set("iss", "https://evil.test"), want: signon.BadSignature},
		"expired":                  {before: set("exp", noon.Add(-3*time.Minute).Unix()), want: signon.Expired},
		"of an hour ago":           {before: set("iat", noon.Add(-time.Hour).Unix()), want: signon.Expired},
		"of the future":            {before: set("iat", noon.Add(3*time.Minute).Unix()), want: signon.Expired},
		"no subject":               {before: set("sub", ""), want: signon.NoName},
		"a very long subject":      {before: set("sub", strings.Repeat("a", 256)), want: signon.NoName},
		"an endless configuration": {before: func(p *provider) { p.bloated = true }, want: signon.ProviderDown},
		"the provider is away":     {before: func(p *provider) { p.Close() }, want: signon.ProviderDown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			if c.before != nil {
				c.before(p)
			}
			if who, refused := p.visit(t, c.edit); refused != c.want {
				t.Errorf("%q, want %q: %+v", refused, c.want, who)
			}
		})
	}
}

// TestPrivateAddressesAreNotReached: the issuer is an address that an admin enters.
func TestPrivateAddressesAreNotReached(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	at := signon.Party{Now: noon}
	at.Settings.OIDC = &signon.Client{Issuer: p.URL, ClientID: "docent"}
	_, err := oidc.Public().Begin(t.Context(), at, &signon.Request{}, "state")
	if reason(t, err) != signon.ProviderDown || !errors.Is(err, fetch.ErrBlocked) {
		t.Errorf("%v", err)
	}
}

// TestAddressesWithoutTLSAreNotUsed: a provider whose issuer has TLS sends its keys, and gets the secret, by TLS.
func TestAddressesWithoutTLSAreNotUsed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]signon.Reason{
		"": "", "authorization_endpoint": signon.ProviderDown, "token_endpoint": signon.ProviderDown, "jwks_uri": signon.ProviderDown,
	} {
		t.Run("plain "+name, func(t *testing.T) {
			t.Parallel()
			var idp *httptest.Server
			idp = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				configuration := map[string]string{"issuer": idp.URL, "authorization_endpoint": idp.URL + "/authorize", "token_endpoint": idp.URL + "/token", "jwks_uri": idp.URL + "/keys"}
				if at, ok := configuration[name]; ok {
					configuration[name] = "http:" + strings.TrimPrefix(at, "https:")
				}
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(configuration)
			}))
			t.Cleanup(idp.Close)
			at := signon.Party{Now: noon}
			at.Settings.OIDC = &signon.Client{Issuer: idp.URL, ClientID: "docent"}
			anywhere := fetch.NewReaching(nil, func(netip.AddrPort) bool { return true }, idp.Certificate())
			_, err := oidc.With(anywhere).Begin(t.Context(), at, &signon.Request{}, "state")
			if got := reason(t, err); got != want {
				t.Errorf("%q, want %q: %v", got, want, err)
			}
		})
	}
}
