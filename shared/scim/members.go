package scim

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"docent/shared/table"
	"docent/shared/team"
)

// A member is stored twice: under its group and under its user. Both items have the
// same mark:
//
//	"."   the user is a member
//	"+c"  the user is a member if the change c counts
//	"-c"  the user is a member unless the change c counts
//
// A change counts if the group lists it in its Changes. So a change of any number of
// members takes effect by the one write that lists it.
const (
	markField    = "mark"
	displayField = "display"
	settledMark  = "."
)

// member is a user in a group.
type member struct {
	userID  string
	display string
	mark    string // empty: no item is stored
}

// membership is a group of a user.
type membership struct {
	groupID string
	mark    string
}

func membersPartition(teamID, groupID string) string { return teamID + "/members/" + groupID }

func memberKey(teamID, groupID, userID string) table.Key {
	return identity(membersPartition(teamID, groupID), userID)
}

// membershipKey puts the memberships of all users of the team into one partition, so that those
// of users with contiguous ids are one read.
func membershipKey(teamID, userID, groupID string) table.Key {
	return identity(teamID+"/memberships", userID+"/"+groupID)
}

// isMember reports whether an item with the mark is a member of g.
func (g group) isMember(mark string) bool {
	switch {
	case mark == settledMark:
		return true
	case strings.HasPrefix(mark, "+"):
		return slices.Contains(g.Changes, mark[1:])
	case strings.HasPrefix(mark, "-"):
		return !slices.Contains(g.Changes, mark[1:])
	default:
		return false
	}
}

func memberFrom(item table.Item) member {
	return member{userID: item.Sort, display: item.Strings[displayField], mark: item.Strings[markField]}
}

// eachMember calls do with the items of all members, whether they count or not.
func (s *Service) eachMember(ctx context.Context, teamID, groupID string, do func(member)) error {
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Identities, Partition: membersPartition(teamID, groupID)}) {
		if err != nil {
			return fmt.Errorf("list members of group %s: %w", groupID, err)
		}
		do(memberFrom(item))
	}
	return nil
}

// maxReads limits the attempts to read a group while others change it.
const maxReads = 5

// groupWithMembers reads a group with all its members, as they were at one moment.
func (s *Service) groupWithMembers(ctx context.Context, teamID, id string) (group, []member, error) {
	g, err := s.group(ctx, teamID, id)
	for range maxReads {
		if err != nil {
			return g, nil, err
		}
		members := []member{}
		if err := s.eachMember(ctx, teamID, id, func(m member) {
			if g.isMember(m.mark) {
				members = append(members, m)
			}
		}); err != nil {
			return g, nil, err
		}
		var again group
		if again, err = s.group(ctx, teamID, id); err == nil && again.stored == g.stored {
			return g, members, nil
		}
		g = again
	}
	return g, nil, fmt.Errorf("read group %s: %w", id, table.ErrConflict)
}

// oneMember returns one member of g, or none if it has none.
func (s *Service) oneMember(ctx context.Context, teamID string, g group) ([]member, error) {
	few := table.Query{Table: table.Identities, Partition: membersPartition(teamID, g.ID), Limit: 100} // those of a change that is not done do not count
	for item, err := range table.All(ctx, s.Table, few) {
		if err != nil {
			return nil, fmt.Errorf("list members of group %s: %w", g.ID, err)
		}
		if m := memberFrom(item); g.isMember(m.mark) {
			return []member{m}, nil
		}
	}
	return nil, nil
}

// membersAmong reads the items of those users that may be members of g, whether they count or
// not.
func (s *Service) membersAmong(ctx context.Context, teamID string, g group, userIDs []string) ([]member, error) {
	var keys []table.Key
	for _, id := range userIDs {
		if team.IsID(id) { // others are not users
			keys = append(keys, memberKey(teamID, g.ID, id))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read members of group %s: %w", g.ID, err)
	}
	members := make([]member, len(items))
	for i, item := range items {
		members[i] = memberFrom(item)
	}
	return members, nil
}

// memberships reads a part of the team's memberships, selected by q, by user.
func (s *Service) memberships(ctx context.Context, teamID string, q table.Query) (map[string][]membership, error) {
	q.Table, q.Partition = table.Identities, teamID+"/memberships"
	out := map[string][]membership{}
	for item, err := range table.All(ctx, s.Table, q) {
		if err != nil {
			return nil, fmt.Errorf("list memberships: %w", err)
		}
		userID, groupID, _ := strings.Cut(item.Sort, "/")
		out[userID] = append(out[userID], membership{groupID, item.Strings[markField]})
	}
	return out, nil
}

// memberOps returns the operations that store a member, or delete it if its mark is empty.
func memberOps(teamID, groupID string, m member, when table.Condition) []table.Op {
	under, of := memberKey(teamID, groupID, m.userID), membershipKey(teamID, m.userID, groupID)
	if m.mark == "" {
		return []table.Op{table.Delete{Key: under, If: when}, table.Delete{Key: of}}
	}
	return []table.Op{
		table.Put{Item: table.Item{Key: under, Version: 1, Strings: map[string]string{markField: m.mark, displayField: m.display}}, If: when},
		table.Put{Item: table.Item{Key: of, Version: 1, Strings: map[string]string{markField: m.mark}}},
	}
}

// markUnchanged returns the condition that a member's item is as it was read.
func markUnchanged(m member) table.Condition {
	if m.mark == "" {
		return table.Absent()
	}
	return table.Is(markField, m.mark)
}
