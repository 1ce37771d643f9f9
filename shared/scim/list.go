package scim

import (
	"context"
	"slices"
)

// Bounds of pages.
const (
	defaultCount = 100
	maxCount     = 200
)

// query is a list request (RFC 7644 section 3.4.2), from a URL or a body.
type query struct {
	filter     string
	sortBy     string
	sortOrder  string
	startIndex int // 1-based
	count      int // 0 to maxCount
	cursor     *string
	projection projection
}

// match is a resource that a list selects: where it is in the list, and of which
// type.
type match struct {
	sortKey
	t    *resourceType
	read map[string]any // the resource without its members; nil when only its id was read
}

// selection is a query compiled for one type.
type selection struct {
	t       *resourceType
	parsed  *filter // nil: everything
	matches matcher
	order   order
	needs   memberNeeds // of members that are looked at
	all     compiler    // what more is looked at
}

func newSelection(t *resourceType, q query, root bool) (selection, error) {
	sel := selection{t: t, matches: func(map[string]any) bool { return true }}
	sel.all = compiler{t: t, root: root}
	var err error
	if q.filter != "" {
		if sel.parsed, err = parseFilter(q.filter); err != nil {
			return sel, err
		}
		if sel.matches, err = sel.all.compile(sel.parsed); err != nil {
			return sel, err
		}
		sel.needs.filter(sel.parsed)
	}
	if sel.order, err = newOrder(&sel.all, q.sortBy, q.sortOrder); err != nil {
		return sel, err
	}
	if by := sel.order.by; by != nil && !by.unknown && by.attr.Name == "members" {
		sel.needs.all = true
	}
	return sel, nil
}

// list answers a query over the types; root is a search over all of them.
func (s *Service) list(ctx context.Context, teamID string, q query, root bool, types ...*resourceType) (map[string]any, error) {
	var found []match
	var by order
	for _, t := range types {
		sel, err := newSelection(t, q, root)
		if err != nil {
			return nil, err
		}
		by = sel.order
		matches, err := s.selected(ctx, teamID, sel)
		if err != nil {
			return nil, err
		}
		found = append(found, matches...)
	}
	if by.by != nil || len(types) > 1 {
		slices.SortStableFunc(found, func(a, b match) int { return by.compare(a.sortKey, b.sortKey) })
	}
	page, next, err := s.page(teamID, q, root, types, by, found)
	if err != nil {
		return nil, err
	}
	resources, err := s.resources(ctx, teamID, q.projection, page, q.filter == "" && q.sortBy == "")
	if err != nil {
		return nil, err
	}
	reply := map[string]any{"schemas": []any{listURN}, "totalResults": len(found), "itemsPerPage": len(resources), "Resources": resources}
	if q.cursor == nil {
		reply["startIndex"] = q.startIndex
	} else if next != "" {
		reply["nextCursor"] = next
	}
	return reply, nil
}

// page cuts the page out of what was found, and names the next one.
func (s *Service) page(teamID string, q query, root bool, types []*resourceType, by order, found []match) ([]match, string, error) {
	from := q.startIndex - 1
	bound := bind(teamID, q, root, types)
	if q.cursor != nil {
		from = 0
		if *q.cursor != "" {
			after, err := bound.read(*q.cursor)
			if err != nil {
				return nil, "", err
			}
			from = slices.IndexFunc(found, func(m match) bool { return by.compare(m.sortKey, after) > 0 })
			if from < 0 {
				from = len(found)
			}
		}
	}
	from = min(from, len(found))
	to := min(from+q.count, len(found))
	next := ""
	if q.cursor != nil && to < len(found) && to > from {
		next = bound.write(found[to-1].sortKey)
	}
	return found[from:to], next, nil
}

// selected returns the places of all resources of one type that a query selects,
// by id. A whole walk holds one resource at a time.
func (s *Service) selected(ctx context.Context, teamID string, sel selection) ([]match, error) {
	if sel.t == groupType {
		return s.selectedGroups(ctx, teamID, sel)
	}
	return s.selectedUsers(ctx, teamID, sel)
}

// take adds the resource to found if it is selected; keep holds on to what was
// read of it.
func (sel selection) take(found []match, resource map[string]any, keep bool) []match {
	if !sel.matches(resource) {
		return found
	}
	m := match{sortKey: sel.order.key(resource), t: sel.t}
	if keep {
		delete(resource, "members")
		m.read = resource
	}
	return append(found, m)
}

func (s *Service) selectedUsers(ctx context.Context, teamID string, sel selection) ([]match, error) {
	var found []match
	if sel.parsed == nil && sel.order.by == nil {
		ids, err := s.Teams.UserIDs(ctx, teamID)
		for _, id := range ids {
			found = append(found, match{sortKey: sortKey{id: id, missing: true}, t: sel.t})
		}
		return found, err
	}
	ids, narrowed, err := s.narrow(ctx, teamID, sel.t, sel.parsed)
	if err != nil {
		return nil, err
	}
	if narrowed {
		resources, err := s.userResources(ctx, teamID, ids, sel.all.groups, sel.all.managers, false)
		for _, r := range resources {
			found = sel.take(found, r, len(ids) <= maxCount)
		}
		return found, err
	}
	more, err := s.moreOfAll(ctx, teamID, sel.all.groups, sel.all.managers)
	if err != nil {
		return nil, err
	}
	for p, err := range s.Teams.EachProfile(ctx, teamID) {
		if err != nil {
			return nil, err
		}
		resource, err := s.user(p)
		if err != nil {
			return nil, err
		}
		more.complete(s, resource)
		found = sel.take(found, resource, false)
	}
	return found, nil
}

func (s *Service) selectedGroups(ctx context.Context, teamID string, sel selection) ([]match, error) {
	ids, narrowed, err := s.narrow(ctx, teamID, sel.t, sel.parsed)
	if err != nil {
		return nil, err
	}
	var groups []group
	if narrowed {
		byID, err := s.groups(ctx, teamID, ids)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if g, ok := byID[id]; ok {
				groups = append(groups, g)
			}
		}
	} else if groups, err = s.allGroups(ctx, teamID); err != nil {
		return nil, err
	}
	var found []match
	for _, g := range groups {
		var members []member
		switch {
		case sel.needs.all:
			if g, members, err = s.whole(ctx, teamID, g.ID); isMissing(err) {
				continue
			}
		case len(sel.needs.ids) > 0:
			members, err = s.someShown(ctx, teamID, g, sel.needs.ids)
		}
		if err != nil {
			return nil, err
		}
		found = sel.take(found, s.groupResource(g, members), narrowed && len(ids) <= maxCount)
	}
	return found, nil
}

// someShown are those of the users that are members of g.
func (s *Service) someShown(ctx context.Context, teamID string, g group, userIDs []string) ([]member, error) {
	items, err := s.some(ctx, teamID, g, userIDs)
	return slices.DeleteFunc(items, func(m member) bool { return !g.shows(m.mark) }), err
}
