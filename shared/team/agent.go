package team

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

// Limits of agents: programs to which a person gave access by OAuth.
const (
	AgentLife = time.Hour           // of an access token
	AgentIdle = 30 * 24 * time.Hour // of a refresh token, from its last use
	// MaxAgents limits the agents of a user. The least recently refreshed is disconnected when another is connected.
	MaxAgents = 50
	// refreshGrace is how long a refresh token works after its first use, for a client that did not
	// receive the reply or sent the request twice. All replies have the same new refresh token, so
	// whichever the client keeps is the current one. A token that is used after its grace, or after the
	// use of its successor, ends the agent (RFC 9700 section 4.14.2): two parties use its tokens.
	refreshGrace = time.Minute
	// familyLength is the number of first characters that the secrets of all refresh tokens of an
	// agent share. They show that a token was issued to the agent, however long ago. The rest is
	// random for each token.
	familyLength = secretLength / 2
)

// maxAgentName limits the name of an agent, in bytes.
const maxAgentName = 100

// ErrBadRefresh means that a refresh token is unknown, expired, used or of another client.
var ErrBadRefresh = errors.New("the refresh token does not work")

// Agent is a program to which a person gave access. Times are UTC with millisecond precision.
type Agent struct {
	ID          string
	Name        string // as the program named itself; may be empty
	Host        string // of its redirect address, in words
	Scopes      []Scope
	CreatedAt   time.Time
	RefreshedAt *time.Time // when it was given tokens last
}

// NewAgent is the input of ConnectAgent.
type NewAgent struct {
	UserID, UserName string
	Client           string   // identifies the program; only its hash is stored
	Name, Host       string   // of the program; the name is shortened if it is long
	Sources          []string // the data sources to which the person's session is restricted; nil: not restricted
	Scopes           []Scope  // that the person gave; nil: AgentScopes
	Opener                    // of the person's session
}

// Tokens are the texts of an agent's tokens, which are not stored.
type Tokens struct {
	AgentID         string
	Access, Refresh string
	ExpiresIn       time.Duration // of Access
	Scopes          []Scope
}

// agent is the part of a key's record that only agents have.
type agent struct {
	Client       []byte     `json:"client,omitempty"`       // hash
	Host         string     `json:"host,omitempty"`         // of the redirect address
	Refresh      []byte     `json:"refresh,omitempty"`      // hash of the refresh token
	UsedRefresh  []byte     `json:"usedRefresh,omitempty"`  // hash of the one that was exchanged for it
	Seed         string     `json:"seed,omitempty"`         // random; makes Refresh's secret from that of UsedRefresh
	Family       []byte     `json:"family,omitempty"`       // hash of what the agent's refresh tokens share
	RefreshedAt  *time.Time `json:"refreshedAt,omitempty"`  // when UsedRefresh was first used; before that, when Refresh was made
	RefreshUntil *time.Time `json:"refreshUntil,omitempty"` // when Refresh expires
}

// AgentScopes are the scopes that an agent can have. One that was connected before there were scopes has
// both.
func AgentScopes() []Scope { return []Scope{ScopeRead, ScopeAsk} }

func (r *record) agentScopes() []Scope { return CommonScopes(AgentScopes(), r.Scopes) }

// ConnectAgent gives a program access as a user, and returns its tokens. For an unknown or
// inactive user, or if the key that opened the person's session has ended, it returns a 401.
func (s *Service) ConnectAgent(ctx context.Context, teamID string, n NewAgent) (Tokens, error) {
	if !isUUID(n.UserID) {
		return Tokens{}, unauthorized()
	}
	end, err := s.checkOpener(ctx, n.Opener, s.Now())
	if err != nil {
		return Tokens{}, err
	}
	id, err := s.newKeyID()
	if err != nil {
		return Tokens{}, fmt.Errorf("make agent id: %w", err)
	}
	name := bytes.ToValidUTF8([]byte(n.Name[:min(len(n.Name), maxAgentName)]), nil)
	r := record{TeamID: teamID, CreatedAt: s.moment(), NewKey: NewKey{Kind: KindAgent, Name: string(name), UserID: n.UserID,
		DataSourceIDs: n.Sources, Scopes: CommonScopes(AgentScopes(), n.Scopes)},
		Opener: n.Opener, Agent: &agent{Client: hashSecret(n.Client), Host: n.Host}, id: id, version: 1}
	tokens, err := s.renew(&r, end, "")
	if err != nil {
		return Tokens{}, err
	}
	item, err := r.item()
	if err != nil {
		return Tokens{}, err
	}
	origin := audit.OriginFrom(ctx)
	origin.Actor = audit.Actor{Type: audit.ActorUser, ID: n.UserID, DisplayName: n.UserName,
		Credential: audit.Credential{Type: audit.AgentToken, ID: id, Name: r.Name}}
	err = s.record(audit.WithOrigin(ctx, origin), teamID, []audit.Event{keyCreated(r)},
		table.Put{Item: item, If: table.Absent()},
		table.Check{Key: userKey(teamID, n.UserID), If: table.Is(stateField, stateActive)},
		// In the list of the user's keys, so that the user's deactivation ends it.
		table.Put{Item: table.Item{Key: userKeyEntryKey(teamID, n.UserID, id), Version: 1}})
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key == userKey(teamID, n.UserID) {
		return Tokens{}, unauthorized()
	}
	if err != nil {
		return Tokens{}, fmt.Errorf("store agent %s: %w", id, err)
	}
	if err := s.disconnectOldest(ctx, teamID, n.UserID, id); err != nil {
		return Tokens{}, err
	}
	return tokens, nil
}

// RefreshAgent returns new tokens for a refresh token of the client. The old ones work for a minute
// more, and a request that is repeated within it gets the same refresh token. A refresh token that was used before ends
// the agent. RefreshAgent then returns ErrBadRefresh, as for every token that does not work. Tokens of an agent stop
// working when the key ends that opened the session in which the agent got access.
func (s *Service) RefreshAgent(ctx context.Context, text, client string) (Tokens, error) {
	kind, id, secret, ok := ParseKey(text)
	if !ok || kind != kindRefresh {
		return Tokens{}, ErrBadRefresh
	}
	for range maxAttempts {
		r, err := s.readRecord(ctx, id)
		if errors.Is(err, table.ErrNotFound) {
			return Tokens{}, ErrBadRefresh
		}
		if err != nil {
			return Tokens{}, err
		}
		now := s.moment()
		if err := s.checkRefresh(ctx, r, secret, client, now); err != nil {
			return Tokens{}, err
		}
		end, err := s.checkOpener(ctx, r.Opener, now)
		if apierr.IsCode(err, apierr.CodeUnauthorized) {
			return Tokens{}, ErrBadRefresh
		}
		if err != nil {
			return Tokens{}, err
		}
		before := r.version
		r.version++
		tokens, err := s.renew(&r, end, secret)
		if err != nil {
			return Tokens{}, err
		}
		item, err := r.item()
		if err != nil {
			return Tokens{}, err
		}
		err = s.Table.Write(ctx, table.Put{Item: item, If: table.VersionIs(before)},
			table.Check{Key: userKey(r.TeamID, r.UserID), If: table.Is(stateField, stateActive)})
		failed := table.AsConditionFailed(err)
		switch {
		case failed != nil && failed.Key == userKey(r.TeamID, r.UserID):
			return Tokens{}, ErrBadRefresh
		case failed != nil:
			continue // refreshed or revoked in the meantime
		case err != nil:
			return Tokens{}, fmt.Errorf("refresh agent %s: %w", id, err)
		}
		s.known.remove(id)
		return tokens, nil
	}
	return Tokens{}, fmt.Errorf("refresh agent %s: %w", id, table.ErrConflict)
}

// checkRefresh returns ErrBadRefresh if the client cannot refresh r with the secret at now. It ends r if the secret was used before.
func (s *Service) checkRefresh(ctx context.Context, r record, secret, client string, now time.Time) error {
	hash := hashSecret(secret)
	switch a := r.Agent; {
	case r.Kind != KindAgent || r.RevokedAt != nil || a == nil || subtle.ConstantTimeCompare(a.Client, hashSecret(client)) != 1,
		a.RefreshUntil == nil || !now.Before(*a.RefreshUntil):
		return ErrBadRefresh
	case subtle.ConstantTimeCompare(a.Refresh, hash) == 1:
		return nil
	case subtle.ConstantTimeCompare(a.UsedRefresh, hash) == 1 && now.Before(a.RefreshedAt.Add(refreshGrace)):
		return nil
	case subtle.ConstantTimeCompare(a.UsedRefresh, hash) == 1, subtle.ConstantTimeCompare(a.Family, hashSecret(secret[:familyLength])) == 1:
		if _, err := s.revoke(ctx, r.TeamID, r.id); err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
			return err
		}
	}
	return ErrBadRefresh
}

// renew gives r new secrets, and returns their texts. used is the secret of the refresh token that is
// exchanged for them; empty: the agent is new. The access token before it works for a minute more,
// because the client may have running requests. No token works after end; nil: there is no end.
func (s *Service) renew(r *record, end *time.Time, used string) (Tokens, error) {
	access, err := s.newSecret()
	if err != nil {
		return Tokens{}, fmt.Errorf("make access token: %w", err)
	}
	refresh, err := s.newSecret()
	if err != nil {
		return Tokens{}, fmt.Errorf("make refresh token: %w", err)
	}
	now := s.moment()
	expires, overlap, until := earlier(now.Add(AgentLife), end), earlier(now.Add(refreshGrace), r.ExpiresAt), earlier(now.Add(AgentIdle), end)
	if r.Hash != nil {
		r.PreviousHash, r.PreviousExpiresAt = r.Hash, &overlap
	}
	r.Hash, r.ExpiresAt = hashSecret(access), &expires
	a := r.Agent
	if used == "" {
		a.RefreshedAt = &now
	} else {
		if usedHash := hashSecret(used); !bytes.Equal(a.UsedRefresh, usedHash) { // a repeated request does not extend the grace
			a.UsedRefresh, a.RefreshedAt, a.Seed = usedHash, &now, ""
		}
		if a.Seed == "" { // a record of a version without seeds has none, also when a request is repeated
			a.Seed = refresh
		}
		refresh = successor(used, a.Seed)
	}
	a.Refresh, a.Family, a.RefreshUntil = hashSecret(refresh), hashSecret(refresh[:familyLength]), &until
	return Tokens{AgentID: r.id, Access: keyText(KindAgent, r.id, access), Refresh: keyText(kindRefresh, r.id, refresh),
		ExpiresIn: expires.Sub(now), Scopes: r.agentScopes()}, nil
}

// successor returns the secret of the refresh token that replaces one with the secret used. It cannot be
// made from what is stored alone.
func successor(used, seed string) string {
	mac := hmac.New(sha256.New, []byte(seed))
	mac.Write([]byte(used))
	return used[:familyLength] + base62(new(big.Int).SetBytes(mac.Sum(nil)), secretLength)[familyLength:]
}

// Agents returns the user's agents whose refresh tokens work, newest first.
func (s *Service) Agents(ctx context.Context, teamID, userID string) ([]Agent, error) {
	keys, err := s.keysOfUser(ctx, teamID, userID, KindAgent)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	out := []Agent{}
	for _, r := range keys.found {
		if a := r.Agent; a != nil && a.RefreshUntil != nil && now.Before(*a.RefreshUntil) && keys.open(r, now) {
			out = append(out, Agent{ID: r.id, Name: r.Name, Host: a.Host, Scopes: r.agentScopes(), CreatedAt: r.CreatedAt, RefreshedAt: a.RefreshedAt})
		}
	}
	slices.SortFunc(out, func(a, b Agent) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return out, nil
}

// DisconnectAgent ends an agent of the user. For an unknown or ended one, or one of another user, it
// returns a 404.
func (s *Service) DisconnectAgent(ctx context.Context, teamID, userID, id string) error {
	missing := apierr.Missing("agent")
	if !isKeyID(id) {
		return missing
	}
	r, err := s.readRecord(ctx, id)
	if errors.Is(err, table.ErrNotFound) || err == nil && (r.TeamID != teamID || r.UserID != userID || r.Kind != KindAgent) {
		return missing
	}
	if err != nil {
		return err
	}
	if _, err = s.revoke(ctx, teamID, id); apierr.IsCode(err, apierr.CodeNotFound) {
		return missing
	}
	return err
}

// RevokeToken ends the agent of an access or refresh token that works (RFC 7009). Other texts are
// ignored.
func (s *Service) RevokeToken(ctx context.Context, text string) error {
	kind, id, secret, ok := ParseKey(text)
	if !ok || kind != KindAgent && kind != kindRefresh {
		return nil
	}
	r, err := s.readRecord(ctx, id)
	if errors.Is(err, table.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	hash := hashSecret(secret)
	if r.Kind != KindAgent || r.Agent == nil || kind == KindAgent && !r.matches(hash, s.Now()) ||
		kind == kindRefresh && subtle.ConstantTimeCompare(r.Agent.Refresh, hash) != 1 {
		return nil
	}
	if _, err := s.revoke(ctx, r.TeamID, id); err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
		return err
	}
	return nil
}

// disconnectOldest ends the user's agents beyond MaxAgents and those whose refresh tokens have expired, but not the one
// that was connected now. It is called when that is stored, as endOldest.
func (s *Service) disconnectOldest(ctx context.Context, teamID, userID, connected string) error {
	keys, err := s.keysOfUser(ctx, teamID, userID, KindAgent)
	if err != nil {
		return err
	}
	records := keys.found
	slices.SortFunc(records, newestLast(connected, func(r record) time.Time { return *r.Agent.RefreshedAt }))
	now := s.Now()
	for i, r := range records {
		if r.id == connected || now.Before(*r.Agent.RefreshUntil) && len(records)-i <= MaxAgents {
			continue
		}
		if _, err := s.revoke(ctx, teamID, r.id); err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
			return err
		}
	}
	return s.forgetGone(ctx, teamID, userID, keys.gone)
}
