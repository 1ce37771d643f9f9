// Package oidc signs people in at an OpenID Connect provider: OpenID Connect Core 1.0 with the
// authorization code flow, PKCE (RFC 7636), state and nonce.
package oidc

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"docent/shared/fetch"
	"docent/shared/signon"
)

// reached is an address prefix that Protocol may use in addition to public addresses: the one of
// a test's provider. Only the linker sets it (-X), in a binary that a test builds.
var reached string

// trusted is the certificate of that provider in base64 of its DER form. It is set like reached.
var trusted string

// Bounds of what a provider replies.
const (
	replyTime = 6 * time.Second // a function has 29 seconds for four requests
	maxReply  = 1 << 20
)

// knownFor is how long the configuration of a provider is used without reading it again. Anyone may begin a sign-in, so many of
// them must not become as many requests to the provider.
const knownFor = time.Minute

// maxKnown is the number of known configurations, of up to maxReply bytes each, at which all are forgotten.
const maxKnown = 20

// Protocol signs people in at OpenID Connect providers.
type Protocol struct {
	client *http.Client

	mu    sync.Mutex
	known map[string]known // by issuer
}

// known is the configuration of a provider.
type known struct {
	provider *oidc.Provider
	read     time.Time
}

// Public returns the Protocol of providers on public addresses.
func Public() *Protocol {
	if reached == "" {
		return With(fetch.New(nil))
	}
	own := netip.MustParsePrefix(reached)
	der, err := base64.StdEncoding.DecodeString(trusted)
	if err != nil {
		panic(err) // the test has set something else
	}
	certificates, err := x509.ParseCertificates(der)
	if err != nil {
		panic(err)
	}
	return With(fetch.NewReaching(nil, func(to netip.AddrPort) bool { return fetch.Public(to) || own.Contains(to.Addr()) }, certificates...))
}

// With returns the Protocol of providers that f reaches.
func With(f *fetch.Fetcher) *Protocol {
	client := f.Brief().Client(replyTime)
	client.Transport = bounded{client.Transport}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return errors.New("a provider must not redirect") }
	return &Protocol{client: client, known: map[string]known{}}
}

// bounded cuts replies off after maxReply bytes.
type bounded struct{ http.RoundTripper }

// RoundTrip sends r.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		reply.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(reply.Body, maxReply), reply.Body}
	}
	return reply, err
}

// provider returns the configuration of the issuer (OpenID Connect Discovery 1.0, section 4), read at most knownFor before now. For a
// test by an admin, who may just have changed it, it is read now.
func (p *Protocol) provider(ctx context.Context, issuer string, now time.Time, test bool) (*oidc.Provider, error) {
	p.mu.Lock()
	last, ok := p.known[issuer]
	p.mu.Unlock()
	if age := now.Sub(last.read); ok && !test && age >= 0 && age < knownFor {
		return last.provider, nil
	}
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return nil, fail(signon.ProviderDown, "read the configuration of %s: %w", issuer, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= maxKnown {
		clear(p.known)
	}
	p.known[issuer] = known{provider, now}
	return provider, nil
}

// discover returns the provider of a sign-in.
func (p *Protocol) discover(ctx context.Context, at signon.Party, r signon.Request) (*oidc.Provider, *oauth2.Config, error) {
	c := at.Settings.OIDC
	provider, err := p.provider(ctx, c.Issuer, at.Now, r.TestBy != "")
	if err != nil {
		return nil, nil, err
	}
	var more struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&more); err != nil {
		return nil, nil, fail(signon.ProviderDown, "read the configuration of %s: %w", c.Issuer, err)
	}
	endpoint := provider.Endpoint()
	for _, address := range []string{endpoint.AuthURL, endpoint.TokenURL, more.Keys} {
		if !isProtected(address, c.Issuer) {
			return nil, nil, fail(signon.ProviderDown, "the configuration of %s lacks an address, or has one without TLS", c.Issuer)
		}
	}
	return provider, &oauth2.Config{ClientID: c.ClientID, ClientSecret: at.Secret, Endpoint: endpoint, RedirectURL: at.Callback,
		Scopes: []string{oidc.ScopeOpenID, "email"}}, nil
}

// isProtected reports whether an address in the configuration of issuer has TLS, as the issuer has. Without it, others on the way
// would read the secret, sign tokens by keys of their own, or say who a person is.
func isProtected(address, issuer string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(issuer, "http:"))
}

// Begin makes an authentication request (OpenID Connect Core, section 3.1.2.1).
func (p *Protocol) Begin(ctx context.Context, at signon.Party, r *signon.Request, state string) (signon.Redirect, error) {
	_, config, err := p.discover(oidc.ClientContext(ctx, p.client), at, *r)
	if err != nil {
		return signon.Redirect{}, err
	}
	r.Nonce, r.Verifier = signon.NewSecret(), oauth2.GenerateVerifier()
	return signon.Redirect{URL: config.AuthCodeURL(state, oidc.Nonce(r.Nonce), oauth2.S256ChallengeOption(r.Verifier))}, nil
}

// Finish exchanges the code for an ID token, and verifies that (section 3.1.3.7).
func (p *Protocol) Finish(ctx context.Context, at signon.Party, r signon.Request, values url.Values) (signon.Identity, error) {
	var who signon.Identity
	if refused := values.Get("error"); refused != "" {
		return who, fail(signon.ProviderRefused, "error %.100q", refused)
	}
	// Another provider that this browser also visits could send its own code (RFC 9207).
	if issuer := values.Get("iss"); issuer != "" && issuer != at.Settings.OIDC.Issuer {
		return who, fail(signon.OtherIssuer, "the answer is of %.100q", issuer)
	}
	if values.Get("code") == "" {
		return who, fail(signon.Malformed, "no code")
	}
	ctx = oidc.ClientContext(ctx, p.client)
	provider, config, err := p.discover(ctx, at, r)
	if err != nil {
		return who, err
	}
	token, err := config.Exchange(ctx, values.Get("code"), oauth2.VerifierOption(r.Verifier))
	if err != nil {
		var refused *oauth2.RetrieveError
		if errors.As(err, &refused) {
			return who, fail(signon.ProviderRefused, "exchange the code: error %.100q, status %d", refused.ErrorCode, refused.Response.StatusCode)
		}
		return who, fail(signon.ProviderDown, "exchange the code: %w", err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return who, fail(signon.ProviderDown, "the reply has no ID token")
	}
	return p.read(ctx, provider, at, r, token, raw)
}

// read verifies an ID token, which came with an access token, and returns whom it names.
func (p *Protocol) read(ctx context.Context, provider *oidc.Provider, at signon.Party, r signon.Request, access *oauth2.Token, raw string) (signon.Identity, error) {
	c := at.Settings.OIDC
	// The audience is checked here, to tell its failure from that of the signature.
	token, err := provider.VerifierContext(ctx, &oidc.Config{SkipClientIDCheck: true, Now: func() time.Time { return at.Now.Add(-signon.Skew) }}).Verify(ctx, raw)
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return signon.Identity{}, fail(signon.Expired, "%w", err)
	case err != nil:
		return signon.Identity{}, fail(signon.BadSignature, "%w", err)
	}
	var claims struct {
		address
		Party string `json:"azp"`
	}
	if err := token.Claims(&claims); err != nil {
		return signon.Identity{}, fail(signon.Malformed, "%w", err)
	}
	ours := false
	for _, a := range token.Audience {
		ours = ours || a == c.ClientID
	}
	switch {
	case !ours, claims.Party != "" && claims.Party != c.ClientID, len(token.Audience) > 1 && claims.Party == "":
		return signon.Identity{}, fail(signon.OtherAudience, "the token is for another client")
	case token.Nonce == "" || token.Nonce != r.Nonce:
		return signon.Identity{}, fail(signon.OtherRequest, "the token answers another request")
	case token.IssuedAt.After(at.Now.Add(signon.Skew)) || token.IssuedAt.Before(at.Now.Add(-signon.RequestLife-signon.Skew)):
		return signon.Identity{}, fail(signon.Expired, "the token is of %s, now is %s", token.IssuedAt, at.Now)
	case token.Subject == "" || len(token.Subject) > 255: // section 2
		return signon.Identity{}, fail(signon.NoName, "the token has no subject")
	}
	who := signon.Identity{Subject: token.Subject, Issuer: c.Issuer}
	if claims.complete() {
		who.Name = claims.verified()
	} else if endpoint := provider.UserInfoEndpoint(); isProtected(endpoint, c.Issuer) {
		who.Name, who.Unnamed = p.ask(ctx, endpoint, access, who.Subject)
	}
	return who, nil
}

// address is what a provider says about the e-mail address of a person.
type address struct {
	Email          string `json:"email"`
	EmailVerified  any    `json:"email_verified"` // some providers send a text
	DomainVerified any    `json:"xms_edov"`       // Entra ID: the domain of email is the tenant's own
}

// complete reports whether a has an address and says whether it is verified.
func (a address) complete() bool {
	return a.Email != "" && (a.EmailVerified != nil || a.DomainVerified != nil)
}

// verified returns the address if it is verified.
func (a address) verified() string {
	if holds(a.EmailVerified) || a.EmailVerified == nil && holds(a.DomainVerified) {
		return a.Email
	}
	return ""
}

// ask returns the verified e-mail address of the subject by the UserInfo endpoint (section 5.3). That is where a provider has it with
// the code flow (section 5.4); many have it in the ID token too, some a part of it. What the ID token said about an address counts
// for that address alone, so nothing of it is added.
func (p *Protocol) ask(ctx context.Context, endpoint string, access *oauth2.Token, subject string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
	if err != nil {
		return "", fail(signon.ProviderDown, "read the e-mail address: %w", err)
	}
	access.SetAuthHeader(request)
	reply, err := p.client.Do(request)
	if err != nil {
		return "", fail(signon.ProviderDown, "read the e-mail address: %w", err)
	}
	defer func() { _ = reply.Body.Close() }() // it was read
	if reply.StatusCode != http.StatusOK {
		return "", fail(signon.ProviderDown, "read the e-mail address: status %d", reply.StatusCode)
	}
	var said struct {
		Subject string `json:"sub"`
		address
	}
	switch err := json.NewDecoder(reply.Body).Decode(&said); {
	case err != nil:
		return "", fail(signon.Malformed, "read the e-mail address: %w", err)
	case said.Subject != subject: // section 5.3.2
		return "", fail(signon.Malformed, "the e-mail address is of another subject")
	}
	return said.verified(), nil
}

// holds reports whether a claim is true.
func holds(claim any) bool { return claim == true || claim == "true" || claim == "1" || claim == 1.0 }

func fail(reason signon.Reason, format string, args ...any) error {
	return &signon.Failure{Reason: reason, Cause: fmt.Errorf(format, args...)}
}
