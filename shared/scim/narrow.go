package scim

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"docent/shared/table"
	"docent/shared/team"
)

// clause is a comparison by eq that must hold for a filter to hold.
type clause struct {
	attribute string // of the core schema
	value     string
}

// clauses are those of the filter that an index may answer.
func clauses(t *resourceType, f *filter) []clause {
	var out []clause
	add := func(p path, l literal) {
		at, ok := t.locate(p.urn, p.attr, p.sub)
		if ok && at.ext == "" && !l.isNull() && (at.sub == nil || at.sub.Name == "value") {
			out = append(out, clause{at.attr.Name, l.text})
		}
	}
	f.conjuncts(func(f *filter) {
		if f.op == opEq {
			add(f.path, f.value)
		}
		if f.path.in == nil || f.op == opNe || f.op == opEq && f.value.isNull() {
			return // these two hold also where no element matches
		}
		f.path.in.conjuncts(func(inner *filter) {
			if inner.op == opEq {
				add(path{urn: f.path.urn, attr: f.path.attr, sub: inner.path.attr}, inner.value)
			}
		})
	})
	return out
}

// selective are the indexed attributes, those that leave the fewest first.
var selective = map[*resourceType][]string{
	userType:  {"id", "userName", "externalId", "emails", "displayName", "active"},
	groupType: {"id", "displayName", "externalId", "members"},
}

// indexed returns the clause of f that an index answers with the fewest resources; false
// when none does.
func indexed(t *resourceType, f *filter) (clause, bool) {
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

// lookUp returns the ids, in order, of all resources for which a filter with the clause may
// hold.
func (s *Service) lookUp(ctx context.Context, teamID string, t *resourceType, c clause) ([]string, error) {
	if c.attribute == "id" {
		return []string{c.value}, nil
	}
	if t == groupType {
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

// groupsOf returns the ids of the groups that a user may be in, in order.
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
