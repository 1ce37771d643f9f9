package team

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"docent/shared/fold"
	"docent/shared/table"
)

// Field is an attribute by which users are indexed.
type Field string

// The fields.
const (
	ByUserName    Field = "userName"
	ByExternalID  Field = "externalId" // case-sensitive
	ByDisplayName Field = "displayName"
	ByEmail       Field = "email" // of any type
)

// FindUsers returns the ids of the users with the value in the field, in order. The displayName
// of a user without one is its userName.
func (s *Service) FindUsers(ctx context.Context, teamID string, by Field, value string) ([]string, error) {
	if by == ByUserName {
		return s.findUserName(ctx, teamID, value)
	}
	if by != ByExternalID {
		value = fold.Text(value)
	}
	prefix := indexPrefix(value)
	var ids []string
	q := table.Query{Table: table.Identities, Partition: teamID + "/by/" + string(by), Prefix: prefix}
	for item, err := range table.All(ctx, s.Table, q) {
		if err != nil {
			return nil, fmt.Errorf("find users by %s: %w", by, err)
		}
		ids = append(ids, strings.TrimPrefix(item.Sort, prefix))
	}
	if by == ByDisplayName {
		named, err := s.findUserName(ctx, teamID, value)
		if err != nil {
			return nil, err
		}
		ids = append(ids, named...)
		slices.Sort(ids)
	}
	return slices.Compact(ids), nil
}

func (s *Service) findUserName(ctx context.Context, teamID, userName string) ([]string, error) {
	ids, err := s.UserIDsByName(ctx, teamID, []string{userName})
	if id, ok := ids[userName]; ok {
		return []string{id}, err
	}
	return nil, err
}

// InactiveUsers returns the ids of the users that are not active, in order.
func (s *Service) InactiveUsers(ctx context.Context, teamID string) ([]string, error) {
	var ids []string
	q := table.Query{Table: table.Identities, Partition: inactivePartition(teamID)}
	for item, err := range table.All(ctx, s.Table, q) {
		if err != nil {
			return nil, fmt.Errorf("list inactive users: %w", err)
		}
		ids = append(ids, item.Sort)
	}
	return ids, nil
}

// UserIDsByName returns the ids of the users with those names in any case and Unicode normal form, by name. It
// leaves out names that no user has.
func (s *Service) UserIDsByName(ctx context.Context, teamID string, userNames []string) (map[string]string, error) {
	keys, byKey := []table.Key{}, map[table.Key]string{}
	for _, name := range userNames {
		if checkUserName(name) != nil {
			continue
		}
		keys = append(keys, userNameKeys(teamID, name)...)
	}
	ids := map[string]string{}
	if len(keys) == 0 {
		return ids, nil
	}
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read user names: %w", err)
	}
	for _, item := range items {
		byKey[item.Key] = item.Strings[userField]
	}
	for _, name := range userNames {
		for _, k := range userNameKeys(teamID, name) { // the spelling of the name itself is the first
			if id, ok := byKey[k]; ok {
				ids[name] = id
				break
			}
		}
	}
	return ids, nil
}
