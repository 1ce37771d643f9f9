package team

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"docent/shared/apierr"
	"docent/shared/table"
)

// LinkLife is how long a sign-in link works.
const LinkLife = 15 * time.Minute

// Invitation names the user whom a one-time link signs in.
type Invitation struct {
	TeamID    string    `json:"teamId"`
	UserID    string    `json:"userId"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// linkKey is the key of a link. Only the hash of its code is stored.
func linkKey(hash []byte) table.Key { return identity("link/"+hex.EncodeToString(hash), "link") }

// Invite returns the code of a new sign-in link for a user, which works once and for LinkLife.
// For an unknown or inactive user it returns a 404.
func (s *Service) Invite(ctx context.Context, teamID, userID string) (string, Invitation, error) {
	code, err := s.newSecret()
	if err != nil {
		return "", Invitation{}, fmt.Errorf("make the code of a link: %w", err)
	}
	i := Invitation{TeamID: teamID, UserID: userID, ExpiresAt: s.moment().Add(LinkLife)}
	item, err := i.item(hashSecret(code))
	if err != nil {
		return "", Invitation{}, err
	}
	err = s.Table.Write(ctx, table.Put{Item: item, If: table.Absent()},
		table.Check{Key: userKey(teamID, userID), If: table.Is(stateField, stateActive)})
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key == userKey(teamID, userID) {
		return "", Invitation{}, missingUser()
	}
	if err != nil {
		return "", Invitation{}, fmt.Errorf("store a sign-in link: %w", err)
	}
	return code, i, nil
}

// SignInWithLink opens a session with the code of a link. For a code that is unknown, used or
// expired it returns a 401 link-expired.
func (s *Service) SignInWithLink(ctx context.Context, code, name string) (Session, string, Principal, error) {
	i, err := s.takeLink(ctx, code)
	if err != nil {
		return Session{}, "", Principal{}, err
	}
	who := Principal{TeamID: i.TeamID, UserID: i.UserID, Kind: KindSession}
	u, err := s.User(ctx, i.TeamID, i.UserID)
	switch {
	case apierr.IsCode(err, apierr.CodeNotFound), err == nil && !u.Active:
		return Session{}, "", who, linkExpired()
	case err != nil:
		return Session{}, "", who, err
	}
	who.UserName = u.UserName
	opened, secret, err := s.OpenSession(ctx, i.TeamID, NewSession{UserID: i.UserID, UserName: u.UserName, Name: name, SignIn: ByLink})
	return opened, secret, who, err
}

// takeLink deletes the link and returns its invitation. Of several calls at most one succeeds.
func (s *Service) takeLink(ctx context.Context, code string) (Invitation, error) {
	if len(code) != secretLength || !isBase62(code) {
		return Invitation{}, linkExpired()
	}
	hash := hashSecret(code)
	item, err := s.Table.Get(ctx, linkKey(hash))
	if errors.Is(err, table.ErrNotFound) {
		return s.takeInvitation(ctx, hash)
	}
	if err != nil {
		return Invitation{}, fmt.Errorf("read a sign-in link: %w", err)
	}
	i, err := invitationFrom(item)
	if err != nil {
		return Invitation{}, err
	}
	err = s.Table.Write(ctx, table.Delete{Key: linkKey(hash), If: table.Exists()})
	if table.AsConditionFailed(err) != nil || err == nil && !s.Now().Before(i.ExpiresAt) {
		return Invitation{}, linkExpired()
	}
	if err != nil {
		return Invitation{}, fmt.Errorf("take a sign-in link: %w", err)
	}
	return i, nil
}

// takeInvitation takes an invitation that the operator stored next to the tables.
func (s *Service) takeInvitation(ctx context.Context, hash []byte) (Invitation, error) {
	if s.TakeInvitation == nil {
		return Invitation{}, linkExpired()
	}
	i, ok, err := s.TakeInvitation(ctx, hex.EncodeToString(hash))
	if err == nil && (!ok || !s.Now().Before(i.ExpiresAt)) {
		err = linkExpired()
	}
	if err == nil && i.UserID == "" {
		i, err = s.firstAdminOf(ctx, i)
	}
	return i, err
}

// firstAdminOf completes an invitation without a user: it is for the first admin of its team,
// or of the only team.
func (s *Service) firstAdminOf(ctx context.Context, i Invitation) (Invitation, error) {
	if i.TeamID == "" {
		ids, err := s.IDs(ctx, "", 2)
		if err != nil {
			return i, err
		}
		if len(ids) != 1 {
			return i, apierr.New(apierr.Unauthenticated, apierr.CodeLinkExpired,
				"This installation has %s. Make a link for one team: docent signin --team ID.", teamsText(len(ids)))
		}
		i.TeamID = ids[0]
	}
	if _, err := s.Team(ctx, i.TeamID); apierr.IsCode(err, apierr.CodeNotFound) {
		return i, apierr.New(apierr.NotFound, apierr.CodeNotFound, "There is no such team. Make a link with docent signin --team ID.")
	}
	u, err := s.FirstAdmin(ctx, i.TeamID)
	i.UserID = u.ID
	return i, err
}

func teamsText(n int) string {
	if n == 0 {
		return "no team"
	}
	return "several teams"
}

// FirstAdmin returns the active admin of the team that was created first. Without one it returns
// a 404.
func (s *Service) FirstAdmin(ctx context.Context, teamID string) (User, error) {
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Identities, Partition: teamID + "/users"}) {
		if err != nil {
			return User{}, fmt.Errorf("list users: %w", err)
		}
		p, err := profileFrom(item)
		if err != nil {
			return User{}, err
		}
		if p.admin() {
			return p.User, nil
		}
	}
	return User{}, missingUser()
}

func (i Invitation) item(hash []byte) (table.Item, error) {
	body, err := json.Marshal(i)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode a sign-in link: %w", err)
	}
	return table.Item{Key: linkKey(hash), Version: 1, Body: body, Expires: i.ExpiresAt}, nil
}

func invitationFrom(item table.Item) (Invitation, error) {
	var i Invitation
	if err := json.Unmarshal(item.Body, &i); err != nil {
		return i, fmt.Errorf("decode a sign-in link: %w: %w", errDamaged, err)
	}
	return i, nil
}

// HashOfCode returns the hexadecimal hash under which the code of a link is stored.
func HashOfCode(code string) string { return hex.EncodeToString(hashSecret(code)) }

func linkExpired() error {
	return apierr.New(apierr.Unauthenticated, apierr.CodeLinkExpired,
		"This sign-in link was used already, or has expired. Make a new one with docent signin.")
}

// NewCode returns the code of a link that is stored by the hash of HashOfCode. It panics if the
// system has no random bytes.
func NewCode() string {
	code, err := new(Service).newSecret()
	if err != nil {
		panic(err)
	}
	return code
}
