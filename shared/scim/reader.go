package scim

import (
	"context"
	"fmt"

	"docent/shared/access"
	"docent/shared/table"
)

// GroupsOf returns the groups that the user is a member of at this moment: it sees every
// change of members that was answered before the call. It takes one round trip, and a
// second one for groups whose names are not in memory.
func (s *Service) GroupsOf(ctx context.Context, teamID, userID string) ([]access.Group, error) {
	for range maxReads {
		groups, settled, err := s.readGroupsOf(ctx, teamID, userID)
		if err != nil || settled {
			return groups, err
		}
	}
	return nil, fmt.Errorf("read the groups of user %s: %w", userID, table.ErrConflict)
}

// readGroupsOf is one attempt of GroupsOf. It reports false if a membership was settled while
// it was read. A mark says whether somebody is a member only together with its group, and
// the two are read one after the other: only if the mark is still there afterwards, the
// group has not forgotten the change in between.
func (s *Service) readGroupsOf(ctx context.Context, teamID, userID string) (groups []access.Group, settled bool, err error) {
	now, begun := s.Now(), s.Names.begin()
	all, err := s.memberships(ctx, teamID, table.Query{Prefix: userID + "/"})
	if err != nil {
		return nil, false, err
	}
	var unknown []string
	marks := map[string]string{}
	var marked []table.Key
	for _, m := range all[userID] {
		if m.mark != settledMark {
			marked = append(marked, membershipKey(teamID, userID, m.groupID))
		} else if g, ok := s.Names.get(teamID, m.groupID, now); ok {
			groups = append(groups, g)
			continue
		}
		unknown, marks[m.groupID] = append(unknown, m.groupID), m.mark
	}
	if len(unknown) == 0 {
		return groups, true, nil
	}
	read, err := s.groups(ctx, teamID, unknown)
	if err != nil {
		return nil, false, err
	}
	if same, err := s.stillMarked(ctx, marked, userID, marks); err != nil || !same {
		return nil, false, err
	}
	for _, id := range unknown {
		g, exists := read[id] // a deleted group may leave its members' items for a while
		if !exists || !g.isMember(marks[id]) {
			continue
		}
		named := access.Group{ID: id, DisplayName: g.name(), ExternalID: textOf(g.Attributes, "externalId")}
		s.Names.put(teamID, named, now, begun)
		groups = append(groups, named)
	}
	return groups, true, nil
}

// stillMarked reports whether the memberships at keys, all of one user, still have marks,
// which are by group.
func (s *Service) stillMarked(ctx context.Context, keys []table.Key, userID string, marks map[string]string) (bool, error) {
	if len(keys) == 0 {
		return true, nil
	}
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return false, fmt.Errorf("read the memberships of user %s: %w", userID, err)
	}
	for _, item := range items {
		if item.Strings[markField] != marks[item.Sort[len(userID)+1:]] {
			return false, nil
		}
	}
	return len(items) == len(keys), nil
}
