package team

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/fold"
)

// ActFor returns p acting for the user with that userName or id. record is called with
// the user's id; nothing is returned unless it succeeds. The errors:
//
//   - 403 acting-not-allowed for a team key without the right, and for a personal key or
//     session unless it names its own user, for which p is returned as it is
//   - 403 wrong-key-kind for a scim key
//   - 403 user-not-active for a user who is unknown or not active
//
// Only a reading principal gets a Reader; see Reading.
func (s *Service) ActFor(ctx context.Context, p Principal, user string, reading bool, record func(ctx context.Context, userID string) error) (Principal, error) {
	switch {
	case p.Kind == KindPersonal || p.Kind == KindSession || p.Kind == KindAgent:
		if user != "" && (user == p.UserID || fold.Composed(user) == fold.Composed(p.UserName)) {
			return p, nil
		}
		return Principal{}, actingNotAllowed("This key acts for its own user only.")
	case p.Kind != KindTeam:
		return Principal{}, RequireKind(p, KindTeam)
	case !p.MayActFor:
		return Principal{}, actingNotAllowed("This key may not act for people. Create a team key with actFor.")
	}
	u, own, err := s.personOf(ctx, p.TeamID, user, reading)
	if apierr.IsCode(err, apierr.CodeNotFound) { // no id, so perhaps a name, which may look like one
		var ids map[string]string
		if ids, err = s.UserIDsByName(ctx, p.TeamID, []string{user}); err == nil {
			u, own, err = s.personOf(ctx, p.TeamID, ids[user], reading)
		}
	}
	switch {
	case apierr.IsCode(err, apierr.CodeNotFound), err == nil && !u.Active:
		return Principal{}, userNotActive()
	case err != nil:
		return Principal{}, asUnavailable(err)
	}
	if err := record(ctx, u.ID); err != nil {
		return Principal{}, asUnavailable(fmt.Errorf("record that the key acts for a user: %w", err))
	}
	p.UserID, p.UserName, p.ActsFor, p.Reader = u.ID, u.UserName, true, access.Reader{}
	if reading {
		p.Reader = access.Person(u.ID, u.UserName, own)
	}
	return p, nil
}

// personOf returns the user with that id, and if reading their groups. For a text that is no id it returns Missing without reading.
func (s *Service) personOf(ctx context.Context, teamID, id string, reading bool) (User, []access.Group, error) {
	if !isUUID(id) {
		return User{}, nil, missingUser()
	}
	groups := s.groupsOf(ctx, teamID, id, reading)
	u, err := s.User(ctx, teamID, id)
	own, failed := groups()
	if apierr.IsCode(err, apierr.CodeNotFound) {
		return u, nil, err
	}
	return u, own, errors.Join(err, failed)
}

func actingNotAllowed(detail string) error {
	return apierr.New(apierr.Forbidden, apierr.CodeActingNotAllowed, "%s", detail)
}

func userNotActive() error {
	return apierr.New(apierr.Forbidden, apierr.CodeUserNotActive, "The header Docent-User must name an active user of this team.")
}
