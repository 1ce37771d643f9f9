package scim

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"docent/shared/access"
	"docent/shared/table"
	"docent/shared/team"
)

// Resolve returns the rule of each of names, nil for nil. A name of a user is its
// userName or id, one of a group its displayName, externalId or id. An entry has the id
// of the user or group that has its name now. It has none if nobody has the name, or if
// several groups share it as their externalId.
func (s *Service) Resolve(ctx context.Context, teamID string, names ...*access.Names) ([]*access.Rule, error) {
	users, groups := map[string]string{}, map[string]string{}
	for _, n := range names {
		if n == nil {
			continue
		}
		for _, name := range n.Users {
			users[name] = ""
		}
		for _, name := range n.Groups {
			groups[name] = ""
		}
	}
	if err := s.resolveUsers(ctx, teamID, users); err != nil {
		return nil, err
	}
	if err := s.resolveGroups(ctx, teamID, groups); err != nil {
		return nil, err
	}
	rules := make([]*access.Rule, len(names))
	for i, n := range names {
		if n == nil {
			continue
		}
		rules[i] = &access.Rule{Users: entriesOf(n.Users, users), Groups: entriesOf(n.Groups, groups)}
	}
	return rules, nil
}

func entriesOf(names []string, ids map[string]string) []access.Entry {
	entries := make([]access.Entry, len(names))
	for i, name := range names {
		entries[i] = access.Entry{Name: name, ID: ids[name]}
	}
	return entries
}

// resolveUsers sets the ids of users by the names that have them.
func (s *Service) resolveUsers(ctx context.Context, teamID string, ids map[string]string) error {
	if len(ids) == 0 {
		return nil
	}
	var asIDs, asNames []string
	for name := range ids {
		if team.IsID(name) {
			asIDs = append(asIDs, name)
		}
		asNames = append(asNames, name)
	}
	profiles, err := s.Teams.Profiles(ctx, teamID, asIDs)
	if err != nil {
		return err
	}
	named, err := s.Teams.UserIDsByName(ctx, teamID, asNames)
	if err != nil {
		return err
	}
	for name := range ids {
		if _, exists := profiles[name]; exists {
			ids[name] = name
		} else {
			ids[name] = named[name]
		}
	}
	return nil
}

// resolveGroups sets the ids of groups by the names that have them.
func (s *Service) resolveGroups(ctx context.Context, teamID string, ids map[string]string) error {
	if len(ids) == 0 {
		return nil
	}
	keys, byKey := []table.Key{}, map[table.Key][]string{}
	var asIDs []string
	for name := range ids {
		if team.IsID(name) {
			asIDs = append(asIDs, name)
		}
		for _, k := range groupNameKeys(teamID, name) {
			if byKey[k] == nil {
				keys = append(keys, k)
			}
			byKey[k] = append(byKey[k], name)
		}
	}
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return fmt.Errorf("read group names: %w", err)
	}
	for _, item := range items {
		for _, name := range byKey[item.Key] {
			if ids[name] == "" || item.Key == groupNameKey(teamID, name) { // as it is spelled, if a group has that
				ids[name] = item.Strings["group"]
			}
		}
	}
	existing, err := s.groups(ctx, teamID, asIDs)
	if err != nil {
		return err
	}
	for id := range existing {
		ids[id] = id
	}
	return s.resolveExternalIDs(ctx, teamID, ids)
}

// resolveExternalIDs sets the ids of groups that names without one have as externalId.
func (s *Service) resolveExternalIDs(ctx context.Context, teamID string, ids map[string]string) error {
	var left []string
	for name, id := range ids {
		if id == "" {
			left = append(left, name)
		}
	}
	found := make([]string, len(left))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for i, name := range left {
		work.Go(func() error {
			groups, err := s.groupsByExternalID(ctx, teamID, name)
			if len(groups) == 1 {
				found[i] = groups[0]
			}
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	for i, name := range left {
		ids[name] = found[i]
	}
	return nil
}
