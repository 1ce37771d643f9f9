package scim

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"docent/shared/scim/protocol"
	"docent/shared/table"
	"docent/shared/team"
)

// clause is a comparison by eq that must be true for a filter to be true.
type clause struct {
	attribute string // of the core schema
	value     string
}

// clauses returns the clauses of the filter that an index may answer.
func clauses(t *protocol.ResourceType, f *protocol.Filter) []clause {
	var out []clause
	add := func(p protocol.Path, l protocol.Literal) {
		at, ok := t.Locate(p.URN, p.Attr, p.Sub)
		if ok && at.Ext == "" && !l.IsNull() && (at.Sub == nil || at.Sub.Name == "value") {
			out = append(out, clause{at.Attr.Name, l.Text})
		}
	}
	f.Conjuncts(func(f *protocol.Filter) {
		if f.Op == protocol.OpEq {
			add(f.Path, f.Value)
		}
		if f.Path.In == nil || f.Op == protocol.OpNe || f.Op == protocol.OpEq && f.Value.IsNull() {
			return // these two are also true if no element matches
		}
		f.Path.In.Conjuncts(func(inner *protocol.Filter) {
			if inner.Op == protocol.OpEq {
				add(protocol.Path{URN: f.Path.URN, Attr: f.Path.Attr, Sub: inner.Path.Attr}, inner.Value)
			}
		})
	})
	return out
}

// selective lists the indexed attributes, the most selective first.
var selective = map[*protocol.ResourceType][]string{
	protocol.UserType:  {"id", "userName", "externalId", "emails", "displayName", "active"},
	protocol.GroupType: {"id", "displayName", "externalId", "members"},
}

// indexed returns the clause of f whose index selects the fewest resources, or false if there
// is none.
func indexed(t *protocol.ResourceType, f *protocol.Filter) (clause, bool) {
	if f == nil {
		return clause{}, false
	}
	order := selective[t]
	usable := slices.DeleteFunc(clauses(t, f), func(c clause) bool {
		return !slices.Contains(order, c.attribute) || c.attribute == "active" && !strings.EqualFold(c.value, "false")
	})
	if len(usable) == 0 {
		return clause{}, false
	}
	return slices.MinFunc(usable, func(a, b clause) int {
		return cmp.Compare(slices.Index(order, a.attribute), slices.Index(order, b.attribute))
	}), true
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
