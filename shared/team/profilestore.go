package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"docent/shared/audit"
	"docent/shared/fold"
	"docent/shared/table"
)

// Profile returns a user of the team with all attributes. For an unknown one it returns a 404.
func (s *Service) Profile(ctx context.Context, teamID, userID string) (Profile, error) {
	if !isUUID(userID) {
		return Profile{}, missingUser()
	}
	item, err := s.Table.Get(ctx, userKey(teamID, userID))
	if errors.Is(err, table.ErrNotFound) {
		return Profile{}, missingUser()
	}
	if err != nil {
		return Profile{}, fmt.Errorf("read user %s: %w", userID, err)
	}
	return profileFrom(item)
}

// Profiles returns those of the users that the team has, by id.
func (s *Service) Profiles(ctx context.Context, teamID string, userIDs []string) (map[string]Profile, error) {
	var keys []table.Key
	for _, id := range userIDs {
		if isUUID(id) {
			keys = append(keys, userKey(teamID, id))
		}
	}
	out := make(map[string]Profile, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read users: %w", err)
	}
	for _, item := range items {
		p, err := profileFrom(item)
		if err != nil {
			return nil, err
		}
		out[p.ID] = p
	}
	return out, nil
}

// InsertProfile stores a new user and its index entries. It returns ErrUserNameTaken if the
// team has the name in any case and Unicode normal form.
func (s *Service) InsertProfile(ctx context.Context, teamID string, p Profile) error {
	ops, err := insertOps(teamID, p)
	if err != nil {
		return err
	}
	err = s.record(ctx, teamID, insertEvents(p), ops...)
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key.Partition == userNamesPartition(teamID) {
		return ErrUserNameTaken
	}
	if err != nil {
		return fmt.Errorf("create user: %w", err)
	}
	return nil
}

// ReplaceProfile stores after, which Changed made from before. It returns ErrUserNameTaken,
// ErrLastAdmin, or table.ErrConflict if the user is no longer as in before. When a user is
// deactivated, its personal keys are revoked permanently.
func (s *Service) ReplaceProfile(ctx context.Context, teamID string, before, after Profile) error {
	if before.Active != after.Active && after.Active {
		// Revoke keys that an interrupted deactivation left.
		if _, err := s.RevokeUserKeys(ctx, teamID, after.ID); err != nil {
			return err
		}
	}
	item, err := after.item(teamID)
	if err != nil {
		return err
	}
	ops := []table.Op{table.Put{Item: item, If: table.VersionIs(before.Version)}}
	old, next := userNameKey(teamID, before.UserName), userNameKey(teamID, after.UserName)
	if old != next {
		ops = append(append(ops, takeName(teamID, after, old)...), table.Delete{Key: old})
	}
	if before.admin() != after.admin() {
		ops = append(ops, countAdmins(teamID, after.admin()))
	}
	if before.admin() && !after.admin() {
		kept, err := s.checkOtherAdmin(ctx, teamID, before)
		if err != nil {
			return err
		}
		ops = append(ops, kept...)
	}
	had, has := before.index(teamID), after.index(teamID)
	for _, k := range sortedKeys(had) {
		if !has[k] {
			ops = append(ops, table.Delete{Key: k})
		}
	}
	for _, k := range sortedKeys(has) {
		if !had[k] {
			ops = append(ops, table.Put{Item: table.Item{Key: k, Version: 1}})
		}
	}
	if err := s.write(ctx, teamID, replaceEvents(before, after), ops); err != nil {
		return fmt.Errorf("change user %s: %w", after.ID, err)
	}
	s.known.removeUser(teamID, after.ID) // rules may open to the name
	if before.Active && !after.Active {
		_, err = s.RevokeUserKeys(ctx, teamID, after.ID)
	}
	return err
}

// DeleteProfile deletes the user, and marks the deletion as pending until FinishDeletion. From
// then on the user is unknown and its name is free. It returns ErrLastAdmin, or
// table.ErrConflict if the user is no longer as in p.
func (s *Service) DeleteProfile(ctx context.Context, teamID string, p Profile) error {
	ops := []table.Op{
		table.Delete{Key: userKey(teamID, p.ID), If: table.VersionIs(p.Version)},
		table.Delete{Key: userNameKey(teamID, p.UserName)},
		table.Put{Item: table.Item{Key: departedKey(teamID, p.ID), Version: 1}},
	}
	if p.admin() {
		kept, err := s.checkOtherAdmin(ctx, teamID, p)
		if err != nil {
			return err
		}
		ops = append(append(ops, countAdmins(teamID, false)), kept...)
	}
	for _, k := range sortedKeys(p.index(teamID)) {
		ops = append(ops, table.Delete{Key: k})
	}
	if err := s.write(ctx, teamID, removeEvents(p), ops); err != nil {
		return fmt.Errorf("delete user %s: %w", p.ID, err)
	}
	s.known.removeUser(teamID, p.ID)
	return nil
}

// DeletionPending reports whether the user was deleted but FinishDeletion was not called yet.
func (s *Service) DeletionPending(ctx context.Context, teamID, userID string) (bool, error) {
	if !isUUID(userID) {
		return false, nil
	}
	_, err := s.Table.Get(ctx, departedKey(teamID, userID))
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for deleted user %s: %w", userID, err)
	}
	return true, nil
}

// FinishDeletion ends the deletion of a user, after its keys and memberships were deleted.
func (s *Service) FinishDeletion(ctx context.Context, teamID, userID string) error {
	if err := s.Table.Write(ctx, table.Delete{Key: departedKey(teamID, userID)}); err != nil {
		return fmt.Errorf("finish deletion of user %s: %w", userID, err)
	}
	return nil
}

// UserExists returns a Check that the team has the user.
func UserExists(teamID, userID string) table.Check {
	return table.Check{Key: userKey(teamID, userID), If: table.Exists()}
}

// write maps a failed condition to an error: one on a user name to
// ErrUserNameTaken, the one on the count of admins to ErrLastAdmin, any other to
// table.ErrConflict.
func (s *Service) write(ctx context.Context, teamID string, events []audit.Event, ops []table.Op) error {
	err := s.record(ctx, teamID, events, ops...)
	failed := table.AsConditionFailed(err)
	switch {
	case failed == nil:
		return err
	case failed.Key.Partition == userNamesPartition(teamID):
		return ErrUserNameTaken
	case failed.Key == adminsKey(teamID):
		return ErrLastAdmin
	default:
		return table.ErrConflict
	}
}

// userField of a user name's item is the id of the user.
const userField = "user"

func nameItem(k table.Key, userID string) table.Item {
	return table.Item{Key: k, Version: 1, Strings: map[string]string{userField: userID}}
}

// takeName returns the operations that give p its name. They fail if another user has the name in any spelling. own is
// the key of the name that p had before.
func takeName(teamID string, p Profile, own table.Key) []table.Op {
	next := userNameKey(teamID, p.UserName)
	ops := []table.Op{table.Put{Item: nameItem(next, p.ID), If: table.Absent()}}
	for _, k := range userNameKeys(teamID, p.UserName) {
		if k != next && k != own {
			ops = append(ops, table.Check{Key: k, If: table.Absent()})
		}
	}
	return ops
}

func insertOps(teamID string, p Profile) ([]table.Op, error) {
	item, err := p.item(teamID)
	if err != nil {
		return nil, err
	}
	ops := append(takeName(teamID, p, table.Key{}), table.Put{Item: item, If: table.Absent()})
	if p.admin() {
		ops = append(ops, countAdmins(teamID, true))
	}
	for _, k := range sortedKeys(p.index(teamID)) {
		ops = append(ops, table.Put{Item: table.Item{Key: k, Version: 1}})
	}
	return ops, nil
}

// adminsField is the negated number of active admins, because the condition for "more than one"
// is table.Below.
const adminsField = "negative"

// countAdmins returns the operation that adds an active admin to the count, or removes one
// unless it is the last.
func countAdmins(teamID string, more bool) table.Add {
	if more {
		return table.Add{Key: adminsKey(teamID), By: map[string]int64{adminsField: -1}}
	}
	return table.Add{Key: adminsKey(teamID), By: map[string]int64{adminsField: 1}, If: table.Below(adminsField, -1)}
}

func sortedKeys(keys map[table.Key]bool) []table.Key {
	return slices.SortedFunc(maps.Keys(keys), func(a, b table.Key) int {
		if a.Partition != b.Partition {
			return strings.Compare(a.Partition, b.Partition)
		}
		return strings.Compare(a.Sort, b.Sort)
	})
}

// index returns the keys of the user's index entries.
func (p Profile) index(teamID string) map[table.Key]bool {
	var a attributes
	if json.Unmarshal(p.Attributes, &a) != nil {
		return nil // cannot happen: with decoded them
	}
	keys := map[table.Key]bool{}
	if a.ExternalID != "" {
		keys[indexKey(teamID, ByExternalID, a.ExternalID, p.ID)] = true
	}
	if a.DisplayName != "" {
		keys[indexKey(teamID, ByDisplayName, fold.Text(a.DisplayName), p.ID)] = true
	}
	for _, e := range a.Emails {
		if e.Value != "" {
			keys[indexKey(teamID, ByEmail, fold.Text(e.Value), p.ID)] = true
		}
	}
	if !p.Active {
		keys[identity(inactivePartition(teamID), p.ID)] = true
	}
	return keys
}

// IsID reports whether id has the form of the ids of users and groups.
func IsID(id string) bool { return isUUID(id) }
