// Package signon signs people in to the dashboard at the identity provider of their team.
//
// A sign-in is begun by a browser, never by a provider. Begin stores a request under a random
// state and sends the browser to the provider. The provider sends the browser back with the state
// and proof of who it is; Finish takes the request by one conditional delete, verifies the proof,
// finds the user, and stores a ticket. Redeem takes the ticket and opens the session, in the
// browser that began only: its cookie has a secret of which the request and the ticket have the
// hash. The cookie is checked by Redeem and not by Finish, because a provider may send the browser
// back by a POST, which has no SameSite=Lax cookies.
//
// Who signs in is an active user of the team. What the provider says about roles is ignored: they
// come from provisioning alone.
package signon

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
	"docent/shared/team"
)

// How long a browser has.
const (
	RequestLife = 10 * time.Minute // to sign in at the provider
	ticketLife  = 2 * time.Minute  // to follow the redirect that opens the session
	// Skew is by how much the clocks of a provider and of this program may differ.
	Skew = 2 * time.Minute
)

// Method is a protocol of single sign-on.
type Method string

// The methods.
const (
	SAML Method = "saml"
	OIDC Method = "oidc"
)

// Protocol speaks with the identity providers of one method. Packages saml and oidc have one
// each. Its errors are a *Failure if the provider or the browser is at fault.
type Protocol interface {
	// Begin completes r with what Finish needs, and says where to send the browser.
	Begin(ctx context.Context, at Party, r *Request, state string) (Redirect, error)
	// Finish returns whom the provider names in values, the parameters or the form with
	// which it sent the browser back. Every claim is verified, also that it answers r.
	Finish(ctx context.Context, at Party, r Request, values url.Values) (Identity, error)
}

// Party is both sides of a sign-in: this program for one team, and the team's provider.
type Party struct {
	EntityID string // our name, one for each team; also the address that describes us
	ACS      string // where a SAML provider sends the browser back to
	Callback string // where an OpenID Connect provider sends the browser back to
	Settings Settings
	Metadata []byte // of the SAML provider
	Secret   string // of our client at the OpenID Connect provider
	Now      time.Time
}

// Redirect says where to send the browser.
type Redirect struct {
	URL  string
	Form url.Values // to post there; nil: the browser goes there by GET
}

// Identity is whom a provider has authenticated.
type Identity struct {
	Name     string     // a user name of the team; of OpenID Connect a verified e-mail address, empty without one
	Unnamed  error      // why Name is empty, if it could not be read; matters to a first sign-in only
	Subject  string     // names the person at the provider forever; empty: Name does
	Issuer   string     // the provider
	ProofID  string     // of an assertion, which is accepted once; empty: the request is enough
	ProofEnd time.Time  // until when the assertion could be accepted
	SignedBy string     // SHA-256 of the certificate that verified the assertion, in hexadecimal
	NotAfter *time.Time // the session ends no later; nil: the provider does not say
}

// Service signs people in.
type Service struct {
	Table     table.Store
	Teams     *team.Service
	Events    *audit.Log // nil: nothing is recorded
	Now       func() time.Time
	BaseURL   string // of the API, without a slash at its end
	Protocols map[Method]Protocol
	// Seal encrypts the secret of a client, and binds it to about; Open decrypts it.
	Seal, Open func(ctx context.Context, secret []byte, about string) ([]byte, error)
}

// Addresses are the addresses of this program that a team's identity provider must know.
type Addresses struct {
	SignIn   string // where a sign-in begins: for people, and for the provider's tile
	EntityID string
	ACS      string
	Callback string
}

// Addresses returns the addresses for a team.
func (s *Service) Addresses(teamID string) Addresses {
	begin := s.BaseURL + "/sso/" + teamID
	return Addresses{SignIn: begin, EntityID: begin + "/metadata", ACS: begin + "/acs", Callback: begin + "/callback"}
}

// party returns both sides of a sign-in of the team. Without a provider it is a Failure.
func (s *Service) party(ctx context.Context, teamID string) (Party, error) {
	settings, err := s.Settings(ctx, teamID)
	if err != nil {
		return Party{}, err
	}
	a := s.Addresses(teamID)
	p := Party{EntityID: a.EntityID, ACS: a.ACS, Callback: a.Callback, Settings: settings, Now: s.Now()}
	switch settings.Method {
	case SAML:
		p.Metadata, err = s.Teams.SAMLText(ctx, teamID)
		if apierr.IsCode(err, apierr.CodeNotFound) {
			err = &Failure{Reason: NotConfigured}
		}
	case OIDC:
		p.Secret, err = s.openSecret(ctx, teamID, settings)
	default:
		err = &Failure{Reason: NotConfigured}
	}
	return p, err
}

// Begin begins a sign-in of the browser that has the secret, and returns where to send it. testBy
// is the admin who tests the sign-in, empty for a sign-in. An unknown team is a 404.
func (s *Service) Begin(ctx context.Context, teamID, browser, testBy string) (Redirect, error) {
	if _, err := s.Teams.Team(ctx, teamID); err != nil {
		return Redirect{}, err
	}
	at, err := s.party(ctx, teamID)
	if err != nil {
		return Redirect{}, s.failed(ctx, teamID, Request{}, err)
	}
	r := Request{TeamID: teamID, Method: at.Settings.Method, Browser: hash(browser), TestBy: testBy, ExpiresAt: at.Now.Add(RequestLife).UTC().Truncate(time.Millisecond)}
	protocol, ok := s.Protocols[r.Method]
	if !ok {
		return Redirect{}, fmt.Errorf("begin a sign-in: this program does not speak %q", r.Method)
	}
	state := NewSecret()
	to, err := protocol.Begin(ctx, at, &r, state)
	if err != nil {
		return Redirect{}, s.failed(ctx, teamID, r, err)
	}
	return to, s.insertRequest(ctx, state, r)
}

// Finish verifies what the provider sent back to the address of method, and returns a ticket for
// Redeem. The request is returned as far as it is known, also with an error.
func (s *Service) Finish(ctx context.Context, teamID string, method Method, values url.Values) (ticket string, r Request, err error) {
	if _, err := s.Teams.Team(ctx, teamID); err != nil {
		return "", r, err
	}
	r, err = s.takeRequest(ctx, teamID, method, stateOf(method, values))
	if err == nil {
		ticket, err = s.finish(ctx, r, values)
	}
	if err != nil {
		return "", r, s.failed(ctx, teamID, withMethod(r, method), err)
	}
	return ticket, r, nil
}

func withMethod(r Request, m Method) Request {
	r.Method = m
	return r
}

// stateOf returns the state that a provider sent back.
func stateOf(m Method, values url.Values) string {
	if m == SAML {
		return values.Get("RelayState")
	}
	return values.Get("state")
}

func (s *Service) finish(ctx context.Context, r Request, values url.Values) (string, error) {
	at, err := s.party(ctx, r.TeamID)
	if err != nil {
		return "", err
	}
	if at.Settings.Method != r.Method {
		return "", &Failure{Reason: RequestUnknown, Cause: errors.New("the method was changed in the meantime")}
	}
	who, err := s.Protocols[r.Method].Finish(ctx, at, r, values)
	if err != nil {
		return "", err
	}
	if err := s.useProof(ctx, r.TeamID, who); err != nil {
		return "", err
	}
	u, err := s.userOf(ctx, r.TeamID, who)
	if err != nil {
		return "", err
	}
	if r.TestBy != "" && u.Role != team.RoleAdmin {
		return "", &Failure{Reason: TestNotByAdmin, Name: u.UserName}
	}
	t := Ticket{TeamID: r.TeamID, UserID: u.ID, UserName: u.UserName, Method: r.Method, Browser: r.Browser, TestBy: r.TestBy,
		Config: at.config(), SignedBy: who.SignedBy, NotAfter: who.NotAfter, ExpiresAt: s.Now().Add(ticketLife).UTC().Truncate(time.Millisecond)}
	text := NewSecret()
	return text, s.insertTicket(ctx, text, t)
}

// Opened is a sign-in that has ended well.
type Opened struct {
	Tested bool // it was a test: no session was opened
	Secret string
	team.Session
}

// Redeem opens the session of a ticket for the browser that has the secret, whose name is shown in
// the list of sessions. The ticket works once, also if it is another browser's.
func (s *Service) Redeem(ctx context.Context, teamID, ticket, browser, name string) (Opened, Ticket, error) {
	t, err := s.takeTicket(ctx, teamID, ticket)
	if err == nil && (browser == "" || t.Browser != hash(browser)) {
		err = &Failure{Reason: OtherBrowser, Name: t.UserName}
	}
	var opened Opened
	if err == nil {
		opened, err = s.open(ctx, t, name)
	}
	if err != nil && t.TeamID != "" {
		err = s.failed(ctx, teamID, Request{Method: t.Method, TestBy: t.TestBy}, err)
	}
	return opened, t, err
}

func (s *Service) open(ctx context.Context, t Ticket, name string) (Opened, error) {
	if t.TestBy != "" {
		return Opened{Tested: true}, s.tested(ctx, t)
	}
	n := team.NewSession{UserID: t.UserID, UserName: t.UserName, Name: name, SignIn: team.SignIn(t.Method), NotAfter: t.NotAfter}
	if t.SignedBy != "" {
		n.Details = []audit.Change{{Field: "certificate", To: t.SignedBy}}
	}
	opened, secret, err := s.Teams.OpenSession(ctx, t.TeamID, n)
	if apierr.IsCode(err, apierr.CodeUnauthorized) { // deactivated since
		err = &Failure{Reason: UserInactive, Name: t.UserName}
	}
	return Opened{Secret: secret, Session: opened}, err
}

// NewSecret returns 256 random bits as text of 43 characters. It panics if the system has no random
// bytes.
func NewSecret() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	return base64.RawURLEncoding.EncodeToString(secret)
}

// isSecret reports whether text has the form of NewSecret.
func isSecret(text string) bool {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(decoded) == 32
}

// hash returns the form in which secrets are stored.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
