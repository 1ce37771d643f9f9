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
	id := user
	if !isUUID(id) {
		ids, err := s.UserIDsByName(ctx, p.TeamID, []string{user})
		if err != nil {
			return Principal{}, asUnavailable(err)
		}
		id = ids[user]
	}
	if !isUUID(id) {
		return Principal{}, userNotActive()
	}
	groups := s.groupsOf(ctx, p.TeamID, id, reading)
	u, err := s.User(ctx, p.TeamID, id)
	own, failed := groups()
	switch {
	case apierr.IsCode(err, apierr.CodeNotFound), err == nil && !u.Active:
		return Principal{}, userNotActive()
	case err != nil || failed != nil:
		return Principal{}, asUnavailable(errors.Join(err, failed))
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

func actingNotAllowed(detail string) error {
	return apierr.New(apierr.Forbidden, apierr.CodeActingNotAllowed, "%s", detail)
}

func userNotActive() error {
	return apierr.New(apierr.Forbidden, apierr.CodeUserNotActive, "The header Docent-User must name an active user of this team.")
}
