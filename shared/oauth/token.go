package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"docent/shared/apierr"
	"docent/shared/table"
	"docent/shared/team"
)

// Token is the reply of the token endpoint (RFC 6749 section 5.1).
type Token struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

// Exchange returns tokens for the form of a token request, or an *Error. A form may have each
// member once, except resource.
func (s *Service) Exchange(ctx context.Context, form url.Values) (Token, error) {
	for name, values := range form {
		if len(values) > 1 && name != "resource" {
			return Token{}, refuse(InvalidRequest, "A parameter is given twice: "+clip(name)+".")
		}
	}
	if !s.areTargets(form["resource"]) {
		return Token{}, refuse(InvalidTarget, "resource must be "+s.Resource()+".")
	}
	id := form.Get("client_id")
	if id == "" {
		return Token{}, refuse(InvalidRequest, "client_id is required.")
	}
	client, err := parseClient(id)
	if err != nil {
		return Token{}, err
	}
	var tokens team.Tokens
	switch form.Get("grant_type") {
	case "authorization_code":
		tokens, err = s.redeem(ctx, client, form)
	case "refresh_token":
		tokens, err = s.refresh(ctx, client, form)
	case "":
		err = refuse(InvalidRequest, "grant_type is required.")
	default:
		err = refuse(UnsupportedGrantType, "grant_type must be authorization_code or refresh_token.")
	}
	if err != nil {
		return Token{}, err
	}
	return Token{tokens.Access, "Bearer", int64(tokens.ExpiresIn.Seconds()), tokens.Refresh, ScopeText(tokens.Scopes)}, nil
}

// refresh exchanges a refresh token. The new tokens have the scopes of the ones before, whichever of them the form
// names (RFC 6749 section 3.3).
func (s *Service) refresh(ctx context.Context, client Client, form url.Values) (team.Tokens, error) {
	if _, err := scopesOf(form.Get("scope")); err != nil {
		return team.Tokens{}, err
	}
	tokens, err := s.Teams.RefreshAgent(ctx, form.Get("refresh_token"), client.ID())
	if errors.Is(err, team.ErrBadRefresh) {
		err = refuse(InvalidGrant, "The refresh token does not work any more. Ask for access again.")
	}
	return tokens, err
}

func clip(name string) string { return fmt.Sprintf("%.40q", name) }

// redeem exchanges a code. A code works once: its second use ends the agent of the first
// (RFC 6749 section 4.1.2).
func (s *Service) redeem(ctx context.Context, client Client, form url.Values) (team.Tokens, error) {
	bad := refuse(InvalidGrant, "The authorization code does not work: it is unknown, used, expired, or of another client, address or verifier.")
	text := form.Get("code")
	item, err := s.Table.Get(ctx, codeKey(text))
	if errors.Is(err, table.ErrNotFound) {
		return team.Tokens{}, bad
	}
	if err != nil {
		return team.Tokens{}, fmt.Errorf("read an authorization code: %w", err)
	}
	c, err := codeFrom(item)
	if err != nil {
		return team.Tokens{}, err
	}
	if c.ClientID != client.ID() || c.RedirectURI != form.Get("redirect_uri") || !verifies(c.Challenge, form.Get("code_verifier")) {
		return team.Tokens{}, bad
	}
	if c.AgentID != "" {
		if err := s.Teams.DisconnectAgent(ctx, c.TeamID, c.UserID, c.AgentID); err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
			return team.Tokens{}, err
		}
		return team.Tokens{}, bad
	}
	if item.Version != 1 || s.Now().UnixMilli() >= c.ExpiresAt {
		return team.Tokens{}, bad
	}
	// Taken before tokens are made, so that of two uses at once one fails.
	taken, err := c.item(text, s.Now(), 2)
	if err != nil {
		return team.Tokens{}, err
	}
	err = s.Table.Write(ctx, table.Put{Item: taken, If: table.VersionIs(1)})
	if table.AsConditionFailed(err) != nil {
		return team.Tokens{}, bad
	}
	if err != nil {
		return team.Tokens{}, fmt.Errorf("take an authorization code: %w", err)
	}
	tokens, err := s.Teams.ConnectAgent(ctx, c.TeamID, team.NewAgent{UserID: c.UserID, UserName: c.UserName, Client: c.ClientID,
		Name: cmp.Or(c.ClientName, client.Name), Host: hostOf(c.RedirectURI), Scopes: c.Scopes, Sources: c.Sources, Opener: c.Opener})
	if apierr.IsCode(err, apierr.CodeUnauthorized) {
		return team.Tokens{}, bad
	}
	if err != nil {
		return team.Tokens{}, err
	}
	c.AgentID = tokens.AgentID
	if taken, err = c.item(text, s.Now(), 3); err != nil {
		return team.Tokens{}, err
	}
	if err := s.Table.Write(ctx, table.Put{Item: taken}); err != nil {
		return team.Tokens{}, fmt.Errorf("remember the agent of a code: %w", err)
	}
	return tokens, nil
}
