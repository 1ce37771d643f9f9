package signon

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/apierr"
	"docent/shared/table"
	"docent/shared/team"
)

// userOf returns the active user of the team whom the provider named. A provider with subjects
// names a user by its subject, once the first sign-in has linked it to the user with the verified
// e-mail address. So a person who gets the address of another later does not become the other.
func (s *Service) userOf(ctx context.Context, teamID string, who Identity) (team.User, error) {
	if who.Subject == "" {
		return s.userByName(ctx, teamID, who.Name)
	}
	item, err := s.Table.Get(ctx, subjectKey(teamID, who))
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return team.User{}, fmt.Errorf("read a subject: %w", err)
	}
	if err == nil {
		u, err := s.Teams.User(ctx, teamID, item.Strings[linkedUser])
		if err == nil {
			return active(u)
		}
		if !apierr.IsCode(err, apierr.CodeNotFound) { // a deleted user's subject may be linked to another
			return team.User{}, err
		}
	}
	if who.Unnamed != nil {
		return team.User{}, who.Unnamed
	}
	if who.Name == "" {
		return team.User{}, &Failure{Reason: EmailNotVerified}
	}
	u, err := s.userByName(ctx, teamID, who.Name)
	if err != nil {
		return u, err
	}
	return u, s.link(ctx, teamID, who, u)
}

func (s *Service) userByName(ctx context.Context, teamID, name string) (team.User, error) {
	u, err := s.Teams.UserByName(ctx, teamID, name)
	if apierr.IsCode(err, apierr.CodeNotFound) {
		return u, &Failure{Reason: UserUnknown, Name: name}
	}
	if err != nil {
		return u, err
	}
	return active(u)
}

func active(u team.User) (team.User, error) {
	if !u.Active {
		return u, &Failure{Reason: UserInactive, Name: u.UserName}
	}
	return u, nil
}

// linkedUser of a subject's item is the id of its user; linkedSubject of a user's item is the
// hash of its subject.
const (
	linkedUser    = "user"
	linkedSubject = "subject"
)

func subjectKey(teamID string, who Identity) table.Key {
	return table.Key{Table: table.Identities, Partition: teamID + "/subjects", Sort: hash(who.Issuer + "\x00" + who.Subject)}
}

func userSubjectKey(teamID, userID, issuer string) table.Key {
	return table.Key{Table: table.Identities, Partition: teamID + "/subjects/" + userID, Sort: hash(issuer)}
}

// link stores that the subject is the user. A user has one subject at a provider.
func (s *Service) link(ctx context.Context, teamID string, who Identity, u team.User) error {
	subject, user := subjectKey(teamID, who), userSubjectKey(teamID, u.ID, who.Issuer)
	err := s.Table.Write(ctx,
		table.Put{Item: table.Item{Key: user, Version: 1, Strings: map[string]string{linkedSubject: subject.Sort}}, If: table.Absent()},
		table.Put{Item: table.Item{Key: subject, Version: 1, Strings: map[string]string{linkedUser: u.ID}}})
	if table.AsConditionFailed(err) == nil {
		if err != nil {
			return fmt.Errorf("link a subject: %w", err)
		}
		return nil
	}
	item, err := s.Table.Get(ctx, user)
	if err != nil {
		return fmt.Errorf("read the subject of user %s: %w", u.ID, err)
	}
	if item.Strings[linkedSubject] != subject.Sort {
		return &Failure{Reason: UserTaken, Name: u.UserName}
	}
	return nil // a sign-in at the same time has linked it
}
