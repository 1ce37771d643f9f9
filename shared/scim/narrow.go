package scim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"docent/shared/scim/protocol"
	"docent/shared/table"
	"docent/shared/team"
)

// clause is a comparison by eq that an index can answer.
type clause struct {
	attribute string // of the core schema
	value     string
}

// selective lists the indexed attributes, the most selective first.
var selective = map[*protocol.ResourceType][]string{
	protocol.UserType:  {"id", "userName", "externalId", "emails", "displayName", "groups", groupNames, "active"},
	protocol.GroupType: {"id", "displayName", "externalId", "members"},
}

// groupNames are the names of the groups of a user, which index the users by way of the groups.
const groupNames = "groups.display"

// covering returns clauses of which at least one is true of each resource that matches f, or none if no index can answer f. of
// is the attribute in whose brackets f is; without a name, f is in none.
func covering(t *protocol.ResourceType, f *protocol.Filter, of protocol.Path) []clause {
	switch f.Op {
	case protocol.OpAnd:
		return better(t, covering(t, f.Left, of), covering(t, f.Right, of))
	case protocol.OpOr:
		left, right := covering(t, f.Left, of), covering(t, f.Right, of)
		if left == nil || right == nil {
			return nil
		}
		return append(left, right...)
	}
	var own, inside []clause
	path := f.Path
	if of.Attr != "" {
		path = protocol.Path{URN: of.URN, Attr: of.Attr, Sub: f.Path.Attr}
	}
	if f.Op == protocol.OpEq {
		own = indexed(t, path, f.Value)
	}
	if in := f.Path.In; in != nil && f.Op != protocol.OpNe && (f.Op != protocol.OpEq || !f.Value.IsNull()) { // these are also true if no element matches
		inside = covering(t, in, f.Path)
	}
	return better(t, own, inside)
}

// better returns the one of two covers whose indexes select fewer resources.
func better(t *protocol.ResourceType, a, b []clause) []clause {
	if a == nil || b != nil && rank(t, b) < rank(t, a) {
		return b
	}
	return a
}

// rank orders covers by their least selective clause.
func rank(t *protocol.ResourceType, cover []clause) (worst int) {
	for _, c := range cover {
		worst = max(worst, slices.Index(selective[t], c.attribute))
	}
	return worst
}

// indexed returns the clause of a comparison by eq, or none if there is no index for it.
func indexed(t *protocol.ResourceType, p protocol.Path, l protocol.Literal) []clause {
	at, ok := t.Locate(p.URN, p.Attr, p.Sub)
	if !ok || at.Ext != "" || at.Attr == nil || l.IsNull() {
		return nil
	}
	if at.Sub != nil && at.Attr.Name+"."+at.Sub.Name == groupNames {
		return []clause{{groupNames, l.Text}}
	}
	if at.Sub != nil && at.Sub.Name != "value" {
		return nil
	}
	if !slices.Contains(selective[t], at.Attr.Name) || at.Attr.Name == "active" && !strings.EqualFold(l.Text, "false") {
		return nil
	}
	return []clause{{at.Attr.Name, l.Text}}
}

// maxLookedUp limits the resources that indexes select for one list. Reading more of them one by one costs more than reading all.
const maxLookedUp = 5000

// narrow sets the ids of the resources that may match, if indexes find them.
func (s *Service) narrow(ctx context.Context, teamID string, sel *selection) error {
	if sel.parsed == nil {
		return nil
	}
	cover := covering(sel.t, sel.parsed, protocol.Path{})
	if cover == nil {
		return nil
	}
	slices.SortFunc(cover, func(a, b clause) int {
		return cmp.Or(strings.Compare(a.attribute, b.attribute), strings.Compare(a.value, b.value))
	})
	cover = slices.Compact(cover)
	found := make([][]string, len(cover))
	var total atomic.Int64
	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for i, c := range cover {
		work.Go(func() (err error) {
			if total.Load() <= maxLookedUp {
				found[i], err = s.lookUp(workCtx, teamID, sel.t, c)
			}
			total.Add(int64(len(found[i])))
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	ids := slices.Concat(found...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if sel.narrowed = total.Load() <= maxLookedUp; sel.narrowed {
		sel.ids = ids
	}
	return nil
}

// lookUp returns the ids, in order, of all resources that may match a filter with the clause.
func (s *Service) lookUp(ctx context.Context, teamID string, t *protocol.ResourceType, c clause) ([]string, error) {
	if c.attribute == "id" {
		return []string{c.value}, nil
	}
	if t == protocol.GroupType {
		switch c.attribute {
		case "displayName":
			return s.groupsByName(ctx, teamID, c.value)
		case "externalId":
			return s.groupsByExternalID(ctx, teamID, c.value)
		}
		return s.groupsOf(ctx, teamID, c.value)
	}
	switch c.attribute {
	case "userName":
		return s.Teams.FindUsers(ctx, teamID, team.ByUserName, c.value)
	case "externalId":
		return s.Teams.FindUsers(ctx, teamID, team.ByExternalID, c.value)
	case "emails":
		return s.Teams.FindUsers(ctx, teamID, team.ByEmail, c.value)
	case "displayName":
		return s.Teams.FindUsers(ctx, teamID, team.ByDisplayName, c.value)
	case "groups":
		return s.usersOf(ctx, teamID, c.value)
	case groupNames:
		return s.usersOfNamed(ctx, teamID, c.value)
	}
	return s.Teams.InactiveUsers(ctx, teamID)
}

// groupsOf returns the ids of the groups that may contain a user, in order.
func (s *Service) groupsOf(ctx context.Context, teamID, userID string) ([]string, error) {
	if !team.IsID(userID) {
		return nil, nil
	}
	memberships, err := s.memberships(ctx, teamID, table.Query{Prefix: userID + "/"})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, m := range memberships[userID] {
		ids = append(ids, m.groupID)
	}
	return ids, nil
}

// usersOf returns the ids of the users that may be members of a group, in order; more than maxLookedUp only in part.
func (s *Service) usersOf(ctx context.Context, teamID, groupID string) ([]string, error) {
	if !team.IsID(groupID) {
		return nil, nil
	}
	var ids []string
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Identities, Partition: membersPartition(teamID, groupID)}) {
		if err != nil {
			return nil, fmt.Errorf("list members of group %s: %w", groupID, err)
		}
		if ids = append(ids, item.Sort); len(ids) > maxLookedUp {
			break
		}
	}
	return ids, nil
}

// usersOfNamed returns the ids of the users that may be members of the groups with a name, in order; more than maxLookedUp only in part.
func (s *Service) usersOfNamed(ctx context.Context, teamID, name string) ([]string, error) {
	groups, err := s.groupsByName(ctx, teamID, name)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range groups {
		users, err := s.usersOf(ctx, teamID, id)
		if err != nil {
			return nil, err
		}
		ids = append(ids, users...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
