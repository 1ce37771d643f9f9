package team

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/access"
	"docent/shared/table"
)

// groupsOf starts to read the groups of a user, if they are wanted, and returns the
// function that waits for them.
func (s *Service) groupsOf(ctx context.Context, teamID, userID string, wanted bool) func() ([]access.Group, error) {
	if !wanted || userID == "" || s.Groups == nil {
		return func() ([]access.Group, error) { return nil, nil }
	}
	type result struct {
		groups []access.Group
		err    error
	}
	read := make(chan result, 1)
	go func() {
		groups, err := s.Groups(ctx, teamID, userID)
		read <- result{groups, err}
	}()
	return func() ([]access.Group, error) {
		done := <-read
		return done.groups, done.err
	}
}

// reader returns the Reader of p, a person with these groups or the team's own key.
func (p Principal) reader(groups []access.Group) access.Reader {
	switch {
	case p.UserID != "":
		return access.Person(p.UserID, p.UserName, groups)
	case p.Kind == KindTeam:
		return access.Everything()
	default:
		return access.Reader{}
	}
}

// ReaderNamed is ReaderOf of the user with that userName or id.
func (s *Service) ReaderNamed(ctx context.Context, teamID, user string) (access.Reader, error) {
	if reader, err := s.ReaderOf(ctx, teamID, user); err != nil || reader.UserID() != "" {
		return reader, err
	}
	ids, err := s.UserIDsByName(ctx, teamID, []string{user})
	if err != nil {
		return access.Reader{}, err
	}
	return s.ReaderOf(ctx, teamID, ids[user])
}

// ReaderOf returns the Reader of a user with the groups of this moment. A user who is
// unknown or not active reads nothing.
func (s *Service) ReaderOf(ctx context.Context, teamID, userID string) (access.Reader, error) {
	if !isUUID(userID) {
		return access.Reader{}, nil
	}
	groups := s.groupsOf(ctx, teamID, userID, true)
	item, err := s.Table.Get(ctx, userKey(teamID, userID))
	own, failed := groups()
	switch {
	case errors.Is(err, table.ErrNotFound):
		return access.Reader{}, nil
	case err != nil || failed != nil:
		return access.Reader{}, fmt.Errorf("read user %s: %w", userID, errors.Join(err, failed))
	}
	p, err := profileFrom(item)
	if err != nil || !p.Active {
		return access.Reader{}, err
	}
	return access.Person(p.ID, p.UserName, own), nil
}
