package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"docent/shared/table"
	"docent/shared/team"
)

// Request is an authorization request (RFC 6749 section 4.1.1).
type Request struct {
	ResponseType  string `json:"response_type" maxLength:"20"`
	ClientID      string `json:"client_id" maxLength:"4096"`
	RedirectURI   string `json:"redirect_uri" maxLength:"512"`
	State         string `json:"state,omitempty" maxLength:"2048"`
	Scope         string `json:"scope,omitempty" maxLength:"1000"`
	Resource      string `json:"resource,omitempty" maxLength:"2048" doc:"One resource, or several with spaces between them (RFC 8707)."`
	Challenge     string `json:"code_challenge" maxLength:"128"`
	ChallengeKind string `json:"code_challenge_method" maxLength:"10"`
}

// Consent is the question that a person is asked.
type Consent struct {
	Name string // of the program, as it named itself; may be empty
	Host string // where the answer is sent
	// Publisher is the host that describes the program, and so vouches for its name; empty if the program registered itself.
	Publisher string
	// Scopes are those that the program asks for.
	Scopes []team.Scope
}

// Check returns the question for a person about r, or an *Error. The person is shown the error. It is
// not sent to the program, because the program's address may be wrong.
func (s *Service) Check(ctx context.Context, r Request) (Consent, error) {
	switch {
	case r.ResponseType != "code":
		return Consent{}, refuse(UnsupportedResponseType, "response_type must be code.")
	case r.ChallengeKind != "S256" || !isChallenge(r.Challenge):
		return Consent{}, refuse(InvalidRequest, "code_challenge and code_challenge_method=S256 are required (RFC 7636).")
	case !s.areTargets(strings.Fields(r.Resource)):
		return Consent{}, refuse(InvalidTarget, "resource must be "+s.Resource()+".")
	}
	scopes, err := scopesOf(r.Scope)
	if err != nil {
		return Consent{}, err
	}
	c, err := s.client(ctx, r.ClientID) // last, because it may read from the web
	if err != nil {
		return Consent{}, err
	}
	if !c.allows(r.RedirectURI) {
		return Consent{}, refuse(InvalidRequest, "redirect_uri is not one of those that the program registered or describes.")
	}
	return Consent{Name: c.Name, Host: hostOf(r.RedirectURI), Publisher: c.publisher(), Scopes: scopes}, nil
}

// challengeLength is the length of a SHA-256 in base64url without padding.
const challengeLength = 43

// isChallenge reports whether text has the form of a SHA-256 in base64url.
func isChallenge(text string) bool {
	sum, err := base64.RawURLEncoding.DecodeString(text) // which skips line breaks
	return err == nil && len(text) == challengeLength && len(sum) == sha256.Size
}

// areTargets reports whether tokens may be asked for the resources, of which there may be several
// (RFC 8707 section 2). Some clients name the whole API, or write a slash at the end.
func (s *Service) areTargets(resources []string) bool {
	return !slices.ContainsFunc(resources, func(resource string) bool {
		named := strings.TrimSuffix(folded(resource), "/")
		return resource != "" && named != folded(s.Resource()) && named != folded(s.Issuer)
	})
}

// folded returns an address with its scheme and host in lower case (RFC 3986 section 6.2.2.1).
func folded(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return strings.ToLower(scheme+"://"+rest[:end]) + rest[end:]
}

// code is a stored authorization code: who gave access to what.
type code struct {
	ClientID    string `json:"clientId"`
	RedirectURI string `json:"redirectUri"`
	Challenge   string `json:"challenge"`
	TeamID      string `json:"teamId"`
	UserID      string `json:"userId"`
	UserName    string `json:"userName"`
	ExpiresAt   int64  `json:"expiresAt"`         // Unix milliseconds
	AgentID     string `json:"agentId,omitempty"` // that it was exchanged for
	// Scopes are those that the program gets; nil, in a code of before there were scopes: all.
	Scopes []team.Scope `json:"scopes,omitempty"`
	// Sources are the data sources to which the session of the person is restricted.
	Sources []string `json:"sources,omitempty"`
	// ClientName is the name of the program that the person saw. Codes of earlier releases lack it: there, the id of the client
	// contains it.
	ClientName string `json:"clientName,omitempty"`
	// Opener is the key that opened that session. Codes of earlier releases lack it.
	team.Opener
}

// usedFor is how long a used code is stored, so that its second use ends the agent.
const usedFor = 24 * time.Hour

// codeKey is the key of a code. Only the code's hash is stored.
func codeKey(text string) table.Key {
	sum := sha256.Sum256([]byte(text))
	return table.Key{Table: table.Identities, Partition: "oauth-code/" + hex.EncodeToString(sum[:]), Sort: "code"}
}

// Ask returns the question for p about r, with those scopes that the program asks for and p has. It returns the
// errors of Check, and missing-scope if p has none of the scopes.
func (s *Service) Ask(ctx context.Context, p team.Principal, r Request) (Consent, error) {
	asked, err := s.Check(ctx, r)
	if err == nil {
		err = team.RequireScope(p, asked.Scopes...)
	}
	if err != nil {
		return Consent{}, err
	}
	asked.Scopes = team.CommonScopes(asked.Scopes, p.Scopes)
	return asked, nil
}

// Allow stores the consent of p and returns the address to which the browser is sent, with a code.
// It returns the errors of Ask.
func (s *Service) Allow(ctx context.Context, p team.Principal, r Request) (string, error) {
	asked, err := s.Ask(ctx, p, r)
	if err != nil {
		return "", err
	}
	text := rand.Text() + rand.Text()
	item, err := code{ClientID: r.ClientID, RedirectURI: r.RedirectURI, Challenge: r.Challenge, TeamID: p.TeamID, UserID: p.UserID, UserName: p.UserName,
		ExpiresAt: s.Now().Add(CodeLife).UnixMilli(),
		Scopes:    asked.Scopes, Sources: p.Sources, ClientName: asked.Name, Opener: p.Opener}.item(text, s.Now(), 1)
	if err != nil {
		return "", err
	}
	if err := s.Table.Write(ctx, table.Put{Item: item, If: table.Absent()}); err != nil {
		return "", fmt.Errorf("store an authorization code: %w", err)
	}
	return s.redirect(r, url.Values{"code": {text}}), nil
}

// Deny returns the address to which the browser is sent when the person refuses. Its errors are those
// of Check.
func (s *Service) Deny(ctx context.Context, r Request) (string, error) {
	if _, err := s.Check(ctx, r); err != nil {
		return "", err
	}
	return s.redirect(r, url.Values{"error": {AccessDenied}, "error_description": {"The person did not give access."}}), nil
}

// redirect returns the redirect address of r with result in its query (RFC 6749 section 4.1.2).
func (s *Service) redirect(r Request, result url.Values) string {
	result.Set("iss", s.Issuer)
	if r.State != "" {
		result.Set("state", r.State)
	}
	separator := "?"
	if strings.Contains(r.RedirectURI, "?") {
		separator = "&"
	}
	return r.RedirectURI + separator + result.Encode()
}

func (c code) item(text string, now time.Time, version int64) (table.Item, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode an authorization code: %w", err)
	}
	return table.Item{Key: codeKey(text), Version: version, Body: body, Expires: now.Add(usedFor)}, nil
}

func codeFrom(item table.Item) (code, error) {
	var c code
	if err := json.Unmarshal(item.Body, &c); err != nil {
		return c, fmt.Errorf("decode an authorization code: %w", err)
	}
	return c, nil
}

// verifies reports whether verifier is the one of the challenge (RFC 7636 section 4.6).
func verifies(challenge, verifier string) bool {
	if len(verifier) < 43 || len(verifier) > 128 {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:]) == challenge
}
