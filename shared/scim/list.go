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

// Page sizes.
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
	projection protocol.Projection
}

// match is a resource that a list selects: its position and its type.
type match struct {
	protocol.SortKey
	t    *protocol.ResourceType
	read map[string]any // the resource without its members; nil if only its id was read
}

// selection is a query compiled for one type.
type selection struct {
	t       *protocol.ResourceType
	parsed  *protocol.Filter // nil: everything
	matches protocol.Matcher
	order   protocol.Order
	needs   memberNeeds       // the members of groups, or the groups of users, to read
	all     protocol.Compiler // the other attributes to read

	left *atomic.Int64 // of maxCompared

	narrowed bool
	ids      []string // if narrowed: those of all resources that may match, in order
}

// relatives are the lists of related resources, which are stored apart.
var relatives = map[*protocol.ResourceType]string{protocol.UserType: "groups", protocol.GroupType: "members"}

func (s *Service) newSelection(t *protocol.ResourceType, q query, root bool) (selection, error) {
	sel := selection{t: t, matches: func(map[string]any) bool { return true }}
	sel.left = new(atomic.Int64)
	sel.left.Store(cmp.Or(s.maxCompared, maxCompared))
	sel.all = protocol.Compiler{Type: t, Root: root}
	var err error
	if q.filter != "" {
		if sel.parsed, err = protocol.ParseFilter(q.filter); err != nil {
			return sel, err
		}
		if sel.matches, err = sel.all.Compile(sel.parsed); err != nil {
			return sel, err
		}
		sel.needs.filter(sel.parsed, relatives[t])
	}
	if sel.order, err = protocol.ParseOrder(&sel.all, q.sortBy, q.sortOrder); err != nil {
		return sel, err
	}
	if sel.order.By(relatives[t]) {
		sel.needs.all = true
	}
	return sel, nil
}

// lookUpNeeds replaces the names of groups by ids. Each id is there once, in order.
func (s *Service) lookUpNeeds(ctx context.Context, teamID string, n *memberNeeds) error {
	var keys []table.Key
	for _, name := range n.names {
		for _, k := range groupNameKeys(teamID, name) {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	n.names = nil
	if len(keys) > 0 && !n.all {
		items, err := s.Table.BatchGet(ctx, keys)
		if err != nil {
			return fmt.Errorf("read group names: %w", err)
		}
		for _, item := range items {
			n.ids = append(n.ids, item.Strings["group"])
		}
	}
	slices.Sort(n.ids)
	n.ids = slices.Compact(n.ids)
	return nil
}

// list answers a query over the types. root: it is a search over all types.
func (s *Service) list(ctx context.Context, teamID string, q query, root bool, types ...*protocol.ResourceType) (map[string]any, error) {
	page, total, next, err := s.selectPage(ctx, teamID, q, root, types)
	if err != nil {
		return nil, err
	}
	resources, err := s.resources(ctx, teamID, q.projection, page, q.filter == "" && q.sortBy == "")
	if err != nil {
		return nil, err
	}
	reply := map[string]any{"schemas": []any{protocol.ListURN}, "totalResults": total, "itemsPerPage": len(resources), "Resources": resources}
	if q.cursor == nil {
		reply["startIndex"] = q.startIndex
	} else if next != "" {
		reply["nextCursor"] = next
	}
	return reply, nil
}

// Limits of the lists that one process answers from all users or groups at a time. Each holds
// a few pages of the store and the position of every resource that it selects.
const (
	wholeListsOfTeam = 2
	wholeLists       = 4
)

// selectPage returns the resources on the page of a query, how many the query selects in total,
// and the cursor of the next page.
func (s *Service) selectPage(ctx context.Context, teamID string, q query, root bool, types []*protocol.ResourceType) ([]match, int, string, error) {
	var found []match
	var by protocol.Order
	var whole bool
	selections := make([]selection, len(types))
	for i, t := range types {
		sel, err := s.newSelection(t, q, root)
		if err != nil {
			return nil, 0, "", err
		}
		if err := s.lookUpNeeds(ctx, teamID, &sel.needs); err != nil {
			return nil, 0, "", err
		}
		if err := s.narrow(ctx, teamID, &sel); err != nil {
			return nil, 0, "", err
		}
		selections[i], by, whole = sel, sel.order, whole || !sel.narrowed
	}
	if whole {
		leave, err := s.listTurns.acquire(ctx, teamID, wholeListsOfTeam)
		if err != nil {
			return nil, 0, "", err
		}
		defer leave()
		if leave, err = s.listTurns.acquire(ctx, "", wholeLists); err != nil {
			return nil, 0, "", err
		}
		defer leave()
	}
	for _, sel := range selections {
		matches, err := s.selected(ctx, teamID, sel)
		if err != nil {
			return nil, 0, "", err
		}
		found = append(found, matches...)
	}
	if !by.ByID() || len(types) > 1 {
		slices.SortFunc(found, func(a, b match) int { return by.Compare(a.SortKey, b.SortKey) })
	}
	page, next, err := s.page(teamID, q, root, types, by, found)
	return slices.Clone(page), len(found), next, err
}

// page returns the page of found, and the cursor of the next one.
func (s *Service) page(teamID string, q query, root bool, types []*protocol.ResourceType, by protocol.Order, found []match) ([]match, string, error) {
	from := q.startIndex - 1
	bound := bind(teamID, q, root, types)
	if q.cursor != nil {
		from = 0
		if *q.cursor != "" {
			after, err := bound.read(*q.cursor)
			if err != nil {
				return nil, "", err
			}
			from = slices.IndexFunc(found, func(m match) bool { return by.Compare(m.SortKey, after) > 0 })
			if from < 0 {
				from = len(found)
			}
		}
	}
	from = min(from, len(found))
	to := min(from+q.count, len(found))
	next := ""
	if q.cursor != nil && to < len(found) && to > from {
		next = bound.write(found[to-1].SortKey)
	}
	return found[from:to], next, nil
}

// selected returns the positions of all resources of one type that a query selects, by id.
func (s *Service) selected(ctx context.Context, teamID string, sel selection) ([]match, error) {
	if sel.t == protocol.GroupType {
		return s.selectedGroups(ctx, teamID, sel)
	}
	return s.selectedUsers(ctx, teamID, sel)
}

// maxCompared limits the comparisons of one list: a filter of one comparison for each of 270,000 memberships, or of 8 KiB for each of
// 20,000 users, is far below it, and one of 8 KiB for each membership would take seconds.
const maxCompared = 10_000_000

// holds reports whether a resource is selected. A filter that has compared too much is tooMany.
func (sel selection) holds(resource map[string]any) (bool, error) {
	if sel.left.Add(-int64(sel.all.Comparisons(resource))) < 0 {
		return false, protocol.Bad(protocol.TooMany, "The filter compares too much in this team. Send a shorter one, or one that compares a user name, an id or the like by eq.")
	}
	return sel.matches(resource), nil
}

// addMatch adds the resource to found if it is selected. keep: what was read of it is kept.
func (sel selection) addMatch(found []match, resource map[string]any, keep bool) ([]match, error) {
	if holds, err := sel.holds(resource); err != nil || !holds {
		return found, err
	}
	m := match{SortKey: sel.order.Key(resource), t: sel.t}
	if keep {
		delete(resource, relatives[sel.t]) // not all of them may have been read
		m.read = resource
	}
	return append(found, m), nil
}

// readAtOnce limits the users in memory at a time that an index has found.
const readAtOnce = 500

func (s *Service) selectedUsers(ctx context.Context, teamID string, sel selection) ([]match, error) {
	if sel.order.ByUserName() && (sel.parsed == nil || isActive(sel.t, sel.parsed)) {
		return s.selectedByName(ctx, teamID, sel)
	}
	if !sel.narrowed {
		return s.scannedUsers(ctx, teamID, sel)
	}
	few, err := s.relationsOfFew(ctx, teamID, sel)
	if err != nil {
		return nil, err
	}
	var found []match
	for _, part := range batches(sel.ids, readAtOnce) {
		resources, err := s.userResources(ctx, teamID, part, wanted{sel.all.ReadsGroups && sel.needs.all, sel.all.ReadsManagers}, false)
		if err != nil {
			return nil, err
		}
		for _, r := range resources {
			few.addTo(s, r)
			if found, err = sel.addMatch(found, r, len(sel.ids) <= maxCount); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// isActive reports whether f is the filter active eq true, which matches every user that the
// index of inactive users does not have.
func isActive(t *protocol.ResourceType, f *protocol.Filter) bool {
	if f.Op != protocol.OpEq || f.Path.In != nil || f.Path.Sub != "" || !strings.EqualFold(f.Value.Text, "true") {
		return false
	}
	at, ok := t.Locate(f.Path.URN, f.Path.Attr, "")
	return ok && at.Ext == "" && at.Attr.Name == "active"
}

// selectedByName selects users by their names and whether they are active.
func (s *Service) selectedByName(ctx context.Context, teamID string, sel selection) ([]match, error) {
	var names []team.UserName
	var inactive []string
	work, workCtx := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		names, err = s.Teams.UserNames(workCtx, teamID)
		return err
	})
	if sel.parsed != nil {
		work.Go(func() (err error) {
			inactive, err = s.Teams.InactiveUsers(workCtx, teamID)
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	found := make([]match, 0, len(names))
	for _, n := range names {
		if _, off := slices.BinarySearch(inactive, n.ID); off {
			continue
		}
		m := match{SortKey: protocol.SortKey{ID: n.ID, Missing: true}, t: sel.t}
		if !sel.order.ByID() {
			m.Value, m.Missing = protocol.SortValue(n.Folded), false
		}
		found = append(found, m)
	}
	return found, nil
}

// scannedUsers selects users by reading all. It decodes only what the query reads.
func (s *Service) scannedUsers(ctx context.Context, teamID string, sel selection) ([]match, error) {
	more, err := s.relationsOfAll(ctx, teamID, wanted{sel.all.ReadsGroups && sel.needs.all, sel.all.ReadsManagers})
	if err != nil {
		return nil, err
	}
	few, err := s.relationsOfFew(ctx, teamID, sel)
	if err != nil {
		return nil, err
	}
	return team.SelectUsers(ctx, s.Teams, teamID, func(r team.UserRecord) (match, bool, error) {
		resource, err := s.partialUser(r, sel.all.Reads)
		if err != nil {
			return match{}, false, err
		}
		more.addTo(s, resource)
		few.addTo(s, resource)
		if holds, err := sel.holds(resource); err != nil || !holds {
			return match{}, false, err
		}
		return match{SortKey: sel.order.Key(resource), t: sel.t}, true, nil
	})
}

func (s *Service) selectedGroups(ctx context.Context, teamID string, sel selection) ([]match, error) {
	var groups []group
	var err error
	if sel.narrowed {
		byID, err := s.groups(ctx, teamID, sel.ids)
		if err != nil {
			return nil, err
		}
		for _, id := range sel.ids {
			if g, ok := byID[id]; ok {
				groups = append(groups, g)
			}
		}
	} else if groups, err = s.allGroups(ctx, teamID); err != nil {
		return nil, err
	}
	var among map[string][]member // of many groups; nil: they are read group by group
	if len(groups) > 1 && !sel.needs.all && len(sel.needs.ids) > 0 {
		if among, err = s.membersByGroup(ctx, teamID, sel.needs.ids); err != nil {
			return nil, err
		}
	}
	var found []match
	for _, g := range groups {
		var members []member
		switch {
		case sel.needs.all:
			if g, members, err = s.groupWithMembers(ctx, teamID, g.ID); isMissing(err) {
				continue
			}
		case among != nil:
			members = slices.DeleteFunc(among[g.ID], func(m member) bool { return !g.isMember(m.mark) })
		case len(sel.needs.ids) > 0:
			members, err = s.currentMembersAmong(ctx, teamID, g, sel.needs.ids)
		}
		if err == nil && sel.needs.any && !sel.needs.all && len(members) == 0 {
			members, err = s.oneMember(ctx, teamID, g)
		}
		if err != nil {
			return nil, err
		}
		if found, err = sel.addMatch(found, s.groupResource(g, members), sel.narrowed && len(sel.ids) <= maxCount); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// membersByGroup returns those of the users that may be members of groups, by group and without their display. It reads what these
// users are members of, which is less than to look for each of them in each group.
func (s *Service) membersByGroup(ctx context.Context, teamID string, userIDs []string) (map[string][]member, error) {
	memberships, err := s.membershipsByUser(ctx, teamID, slices.DeleteFunc(slices.Clone(userIDs), func(id string) bool { return !team.IsID(id) }), false)
	if err != nil {
		return nil, err
	}
	out := map[string][]member{}
	for userID, list := range memberships {
		for _, m := range list {
			out[m.groupID] = append(out[m.groupID], member{userID: userID, mark: m.mark})
		}
	}
	return out, nil
}

// currentMembersAmong returns those of the users that are members of g.
func (s *Service) currentMembersAmong(ctx context.Context, teamID string, g group, userIDs []string) ([]member, error) {
	items, err := s.membersAmong(ctx, teamID, g, userIDs)
	return slices.DeleteFunc(items, func(m member) bool { return !g.isMember(m.mark) }), err
}
