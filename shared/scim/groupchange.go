package scim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"docent/shared/audit"
	"docent/shared/scim/protocol"
	"docent/shared/table"
	"docent/shared/team"
)

// inOneWrite limits the operations on members in the write of their group: 30 additions. Larger
// changes are staged.
const inOneWrite = 90

// createGroup creates a group, and returns it with its members, not nil, in the order of their ids.
func (s *Service) createGroup(ctx context.Context, teamID string, body map[string]any) (group, []member, error) {
	attributes, err := protocol.GroupType.Read(body)
	if err != nil {
		return group{}, nil, err
	}
	now := s.moment()
	g := group{ID: s.NewID(), CreatedAt: now, ModifiedAt: now, Version: 1}
	var change memberChange
	g.Attributes, change = difference(attributes, nil)
	err = s.retryOnConflict(ctx, teamID, protocol.GroupType, g.ID, func() error {
		if err := s.checkUsers(ctx, teamID, change.added); err != nil {
			return err
		}
		return s.apply(ctx, teamID, group{}, g, change)
	})
	members := append([]member{}, change.added...)
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.userID, b.userID) })
	return g, members, err
}

// changeGroup applies change to a copy of the group's attributes with the members that needs
// lists. It fails if only names another version. A change that changes nothing stores
// nothing.
func (s *Service) changeGroup(ctx context.Context, teamID, id string, only conditions, needs memberNeeds,
	change func(g group, attributes map[string]any) (map[string]any, error),
) (after group, err error) {
	err = s.retryOnConflict(ctx, teamID, protocol.GroupType, id, func() error {
		before, err := s.group(ctx, teamID, id)
		if err != nil {
			return err
		}
		if err := only.check(before.Version); err != nil {
			return err
		}
		if before, err = s.finishOldChanges(ctx, teamID, before); err != nil {
			return err
		}
		items, err := s.membersNeeded(ctx, teamID, before, needs)
		if err != nil {
			return err
		}
		changed, err := change(before, s.withMembers(before, items))
		if err != nil {
			return err
		}
		attributes, members := difference(changed, before.current(items))
		if after = before; protocol.Equal(attributes, before.Attributes) && members.empty() {
			return nil
		}
		if err := s.checkUsers(ctx, teamID, members.added); err != nil {
			return err
		}
		after = s.nextVersion(before)
		after.Attributes = attributes
		return s.apply(ctx, teamID, before, after, members)
	})
	return after, err
}

func (s *Service) replaceGroup(ctx context.Context, teamID, id string, only conditions, body map[string]any) (group, error) {
	return s.changeGroup(ctx, teamID, id, only, memberNeeds{all: true}, func(group, map[string]any) (map[string]any, error) {
		return protocol.GroupType.Read(body)
	})
}

func (s *Service) patchGroup(ctx context.Context, teamID, id string, only conditions, operations []protocol.Operation) (group, error) {
	return s.changeGroup(ctx, teamID, id, only, needsOf(operations), func(g group, attributes map[string]any) (map[string]any, error) {
		fixed := map[string]any{"id": id, "meta": s.meta(protocol.GroupType, id, g.CreatedAt, g.ModifiedAt, g.Version)}
		return protocol.GroupType.Patch(attributes, fixed, operations)
	})
}

// membersNeeded reads the items of the members that needs lists, whether they count or not.
func (s *Service) membersNeeded(ctx context.Context, teamID string, g group, needs memberNeeds) ([]member, error) {
	if !needs.all {
		return s.membersAmong(ctx, teamID, g, needs.ids)
	}
	var items []member
	err := s.eachMember(ctx, teamID, g.ID, func(m member) { items = append(items, m) })
	return items, err
}

// withMembers returns g's attributes with those items that are members, as clients see them, so that a value filter finds what a
// response shows.
func (s *Service) withMembers(g group, items []member) map[string]any {
	out := maps.Clone(g.Attributes)
	var list []any
	for _, m := range items {
		if g.isMember(m.mark) {
			list = append(list, s.memberResource(m))
		}
	}
	if len(list) > 0 {
		out["members"] = list
	}
	return out
}

// items are stored members by user id.
type items map[string]markedMember

// markedMember is a stored member.
type markedMember struct {
	member
	counts bool // by its mark and its group, the user is a member
}

func (g group) current(members []member) items {
	out := make(items, len(members))
	for _, m := range members {
		out[m.userID] = markedMember{m, g.isMember(m.mark)}
	}
	return out
}

// memberChange is a change of a group's members. Each has the mark that is stored.
type memberChange struct {
	added, removed []member
}

func (c memberChange) empty() bool { return len(c.added)+len(c.removed) == 0 }

// difference separates the members from the attributes, and compares them with the stored
// items.
func difference(attributes map[string]any, stored items) (map[string]any, memberChange) {
	rest := maps.Clone(attributes)
	delete(rest, "members")
	var c memberChange
	list, _ := attributes["members"].([]any)
	stay := make(map[string]bool, len(list))
	for _, e := range list {
		element := e.(map[string]any)
		id := textOf(element, "value")
		item := stored[id]
		if stay[id] = true; !item.counts {
			c.added = append(c.added, member{userID: id, display: textOf(element, "display"), mark: item.mark})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(stored)) {
		if item := stored[id]; item.counts && !stay[id] {
			c.removed = append(c.removed, item.member)
		}
	}
	return rest, c
}

// apply stores after and the change of its members. For a new group, before is empty.
func (s *Service) apply(ctx context.Context, teamID string, before, after group, c memberChange) error {
	if 3*len(c.added)+2*len(c.removed) > inOneWrite {
		return s.applyStaged(ctx, teamID, before, after, c)
	}
	ops, err := groupOps(teamID, before, after)
	if err != nil {
		return err
	}
	for _, m := range c.added {
		m.mark = settledMark
		ops = append(ops, memberOps(teamID, after.ID, m, table.Condition{})...)
		ops = append(ops, team.UserExists(teamID, m.userID))
	}
	for _, m := range c.removed {
		m.mark = ""
		ops = append(ops, memberOps(teamID, after.ID, m, table.Condition{})...)
	}
	return s.writeGroup(ctx, teamID, after, groupEvents(before, after, c), ops)
}

// groupEvent returns an event whose targets are the group g and then the users.
func groupEvent(kind audit.Type, g group, users ...member) audit.Event {
	e := audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetGroup, ID: g.ID, DisplayName: g.name()}}}
	for _, m := range users {
		e.Targets = append(e.Targets, audit.Target{Type: audit.TargetUser, ID: m.userID})
	}
	return e
}

// groupEvents returns the events of a group that changes to after with the change c of its
// members.
func groupEvents(before, after group, c memberChange) []audit.Event {
	var events []audit.Event
	switch {
	case before.ID == "":
		events = append(events, groupEvent(audit.SCIMGroupCreated, after))
	case !protocol.Equal(before.Attributes, after.Attributes):
		e := groupEvent(audit.SCIMGroupUpdated, after)
		for _, name := range []string{"displayName", "externalId"} {
			if from, to := textOf(before.Attributes, name), textOf(after.Attributes, name); from != to {
				e.Changes = append(e.Changes, audit.Change{Field: name, From: from, To: to})
			}
		}
		events = append(events, e)
	}
	if len(c.added) > 0 {
		events = append(events, groupEvent(audit.SCIMGroupMemberAdded, after, c.added...))
	}
	if len(c.removed) > 0 {
		events = append(events, groupEvent(audit.SCIMGroupMemberRemoved, after, c.removed...))
	}
	return events
}

// groupOps returns the operations on the group's own items, on the condition that the group is
// unchanged.
func groupOps(teamID string, before, after group) ([]table.Op, error) {
	when := table.Absent()
	if before.ID != "" {
		when = table.VersionIs(before.stored)
	}
	after.stored = before.stored
	put, err := after.put(teamID, when)
	if err != nil {
		return nil, err
	}
	return append(indexOps(teamID, before, after), put), nil
}

func (s *Service) writeGroup(ctx context.Context, teamID string, after group, events []audit.Event, ops []table.Op) error {
	defer s.Names.forget(teamID, after.ID)
	err := s.Events.OrSilent(s.Table).Write(ctx, teamID, events, ops...)
	if failed := table.AsConditionFailed(err); failed != nil && slices.Contains(groupNameKeys(teamID, after.name()), failed.Key) {
		return nameTaken()
	}
	if err = conflicting(err); err != nil {
		return fmt.Errorf("store group: %w", err)
	}
	return nil
}

func nameTaken() error {
	return protocol.Refuse(409, protocol.Uniqueness, "Another group of this team has this displayName.")
}

// checkName returns the error of a group that takes the name of another one. Only the write of the
// group decides; this spares the work before it.
func (s *Service) checkName(ctx context.Context, teamID string, before, after group) error {
	if before.ID != "" && groupNameKey(teamID, before.name()) == groupNameKey(teamID, after.name()) {
		return nil
	}
	others, err := s.groupsByName(ctx, teamID, after.name())
	if err == nil && slices.ContainsFunc(others, func(id string) bool { return id != after.ID }) {
		return nameTaken()
	}
	return err
}

// deleteGroup deletes a group and its members' items. It also completes a deletion that was
// interrupted.
func (s *Service) deleteGroup(ctx context.Context, teamID, id string, only conditions) error {
	defer s.Names.forget(teamID, id)
	err := s.retryOnConflict(ctx, teamID, protocol.GroupType, id, func() error {
		g, err := s.group(ctx, teamID, id)
		var refused *protocol.Error
		if errors.As(err, &refused) {
			return s.deletionPending(ctx, teamID, id, err)
		}
		if err != nil {
			return err
		}
		if err := only.check(g.Version); err != nil {
			return err
		}
		ops := []table.Op{
			table.Delete{Key: groupKey(teamID, id), If: table.VersionIs(g.stored)},
			table.Delete{Key: groupNameKey(teamID, g.name())},
			table.Put{Item: table.Item{Key: departedGroupKey(teamID, id), Version: 1}},
		}
		if externalID := textOf(g.Attributes, "externalId"); externalID != "" {
			ops = append(ops, table.Delete{Key: groupIndexKey(teamID, externalID, id)})
		}
		return conflicting(s.Events.OrSilent(s.Table).Write(ctx, teamID, []audit.Event{groupEvent(audit.SCIMGroupDeleted, g)}, ops...))
	})
	if err != nil {
		return err
	}
	if err := s.emptyGroup(ctx, teamID, id); err != nil {
		return err
	}
	if err := s.Table.Write(ctx, table.Delete{Key: departedGroupKey(teamID, id)}); err != nil {
		return fmt.Errorf("finish deletion of group %s: %w", id, err)
	}
	return nil
}

// deletionPending returns nil if the group's deletion was interrupted, otherwise unknown.
func (s *Service) deletionPending(ctx context.Context, teamID, id string, unknown error) error {
	if !team.IsID(id) { // it may not even be a key
		return unknown
	}
	_, err := s.Table.Get(ctx, departedGroupKey(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return unknown
	}
	if err != nil {
		return fmt.Errorf("look for deleted group %s: %w", id, err)
	}
	return nil
}
