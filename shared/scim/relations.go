package scim

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"docent/shared/scim/protocol"
	"docent/shared/table"
	"docent/shared/team"
)

// relations are the groups and managers of users, which are stored apart from them.
type relations struct {
	memberships map[string][]membership // by user
	groups      map[string]group
	managers    map[string]string // displayName by user id

	shown map[string]map[string]any // the groups as elements of users, which share them
}

// wanted are the relations that a reply shows or a filter compares; no others are read.
type wanted struct{ groups, managers bool }

// addTo adds the known groups and the manager's name to a user's resource.
func (r relations) addTo(s *Service, resource map[string]any) {
	id := textOf(resource, "id")
	var list []any
	for _, membership := range r.memberships[id] {
		if g, ok := r.groups[membership.groupID]; ok && g.isMember(membership.mark) {
			list = append(list, r.shown[g.ID])
		}
	}
	if list != nil {
		resource["groups"] = list
	}
	extension, _ := resource[protocol.EnterpriseURN].(map[string]any)
	manager, _ := extension["manager"].(map[string]any)
	if name, ok := r.managers[textOf(manager, "value")]; ok {
		manager["displayName"] = name
		manager["$ref"] = s.location(protocol.UserType, textOf(manager, "value"))
	}
}

// relationsOfFew reads the memberships in the groups that a filter names, if it reads no others.
func (s *Service) relationsOfFew(ctx context.Context, teamID string, sel selection) (relations, error) {
	var r relations
	if !sel.all.ReadsGroups || sel.needs.all {
		return r, nil
	}
	r.memberships, r.groups = map[string][]membership{}, map[string]group{}
	var mu sync.Mutex
	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for _, id := range sel.needs.ids {
		work.Go(func() error {
			g, members, err := s.groupWithMembers(workCtx, teamID, id)
			if isMissing(err) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			r.groups[id] = g
			for _, m := range members {
				r.memberships[m.userID] = append(r.memberships[m.userID], membership{id, m.mark})
			}
			return err
		})
	}
	err := work.Wait()
	r.shown = s.shownGroups(r.groups)
	return r, err
}

// shownGroups returns groups as elements of users.
func (s *Service) shownGroups(groups map[string]group) map[string]map[string]any {
	shown := make(map[string]map[string]any, len(groups))
	for id, g := range groups {
		shown[id] = map[string]any{"value": id, "display": g.name(), "type": "direct", "$ref": s.location(protocol.GroupType, id)}
	}
	return shown
}

// relationsOfAll reads the relations of all users of the team.
func (s *Service) relationsOfAll(ctx context.Context, teamID string, want wanted) (relations, error) {
	var m relations
	if want.groups {
		var err error
		if m.memberships, err = s.memberships(ctx, teamID, table.Query{}); err != nil {
			return m, err
		}
		all, err := s.allGroups(ctx, teamID)
		if err != nil {
			return m, err
		}
		m.groups = map[string]group{}
		for _, g := range all {
			m.groups[g.ID] = g
		}
		m.shown = s.shownGroups(m.groups)
	}
	if want.managers {
		type named struct{ id, name string }
		all, err := team.SelectUsers(ctx, s.Teams, teamID, func(r team.UserRecord) (named, bool, error) {
			resource, err := s.partialUser(r, protocol.AttributeSet{"displayName": true})
			return named{r.ID, textOf(resource, "displayName")}, true, err
		})
		if err != nil {
			return m, err
		}
		m.managers = make(map[string]string, len(all))
		for _, n := range all {
			m.managers[n.id] = n.name
		}
	}
	return m, nil
}

// addRelations adds the groups and managers to the resources of users.
func (s *Service) addRelations(ctx context.Context, teamID string, resources []map[string]any, want wanted) error {
	var m relations
	ids := make([]string, len(resources))
	for i, r := range resources {
		ids[i] = textOf(r, "id")
	}
	work, workCtx := errgroup.WithContext(ctx)
	if want.groups {
		work.Go(func() (err error) {
			m.memberships, m.groups, err = s.membershipsOf(workCtx, teamID, ids, false)
			m.shown = s.shownGroups(m.groups)
			return err
		})
	}
	if want.managers {
		work.Go(func() (err error) {
			m.managers, err = s.managersOf(workCtx, teamID, resources)
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	for _, r := range resources {
		m.addTo(s, r)
	}
	return nil
}

// managersOf returns the names of the users' managers by id.
func (s *Service) managersOf(ctx context.Context, teamID string, users []map[string]any) (map[string]string, error) {
	var ids []string
	for _, r := range users {
		extension, _ := r[protocol.EnterpriseURN].(map[string]any)
		if manager, ok := extension["manager"].(map[string]any); ok {
			ids = append(ids, textOf(manager, "value"))
		}
	}
	found, err := s.Teams.Profiles(ctx, teamID, ids)
	names := make(map[string]string, len(found))
	for id, p := range found {
		names[id] = p.DisplayName
	}
	return names, err
}

// membershipReads limits the parallel reads of memberships, each of one user.
const membershipReads = 50

// membershipsByUser reads the memberships of users: as one range of ids if ids are contiguous, otherwise user by user.
func (s *Service) membershipsByUser(ctx context.Context, teamID string, ids []string, contiguous bool) (map[string][]membership, error) {
	var queries []table.Query
	if contiguous && len(ids) > 1 {
		queries = append(queries, table.Query{From: slices.Min(ids) + "/", To: slices.Max(ids) + "0"}) // "0" follows "/"
	} else {
		for _, id := range ids {
			queries = append(queries, table.Query{Prefix: id + "/"})
		}
	}
	var mu sync.Mutex
	out := map[string][]membership{}
	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(membershipReads)
	for _, q := range queries {
		work.Go(func() error {
			found, err := s.memberships(workCtx, teamID, q)
			mu.Lock()
			defer mu.Unlock()
			for userID, list := range found {
				out[userID] = list
			}
			return err
		})
	}
	return out, work.Wait()
}

// membershipsOf reads the memberships of users and their groups.
func (s *Service) membershipsOf(ctx context.Context, teamID string, ids []string, contiguous bool) (map[string][]membership, map[string]group, error) {
	out, err := s.membershipsByUser(ctx, teamID, ids, contiguous)
	if err != nil {
		return nil, nil, err
	}
	var groupIDs []string
	for _, id := range ids {
		for _, m := range out[id] {
			groupIDs = append(groupIDs, m.groupID)
		}
	}
	slices.Sort(groupIDs)
	groups, err := s.groups(ctx, teamID, slices.Compact(groupIDs))
	return out, groups, err
}

// userResources reads users and skips missing ones. contiguous: ids contains every user of the
// team whose id is between its lowest and highest.
func (s *Service) userResources(ctx context.Context, teamID string, ids []string, want wanted, contiguous bool) ([]map[string]any, error) {
	var profiles map[string]team.Profile
	var m relations
	work, workCtx := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		profiles, err = s.Teams.Profiles(workCtx, teamID, ids)
		return err
	})
	if want.groups {
		work.Go(func() (err error) {
			m.memberships, m.groups, err = s.membershipsOf(workCtx, teamID, ids, contiguous)
			m.shown = s.shownGroups(m.groups)
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	var out []map[string]any
	for _, id := range ids {
		p, ok := profiles[id]
		if !ok {
			continue
		}
		resource, err := s.user(p)
		if err != nil {
			return nil, err
		}
		out = append(out, resource)
	}
	if want.managers {
		var err error
		if m.managers, err = s.managersOf(ctx, teamID, out); err != nil {
			return nil, err
		}
	}
	for _, r := range out {
		m.addTo(s, r)
	}
	return out, nil
}

// resources reads the resources of a page, in its order, as p projects them.
func (s *Service) resources(ctx context.Context, teamID string, p protocol.Projection, page []match, contiguous bool) ([]any, error) {
	var unread []string
	var users []map[string]any
	for _, m := range page {
		if m.t == protocol.UserType && m.read != nil {
			users = append(users, m.read)
		} else if m.t == protocol.UserType {
			unread = append(unread, m.ID)
		}
	}
	want := wanted{groups: p.Shows(protocol.UserType, "groups"), managers: p.ShowsExtension(protocol.UserType, protocol.EnterpriseURN, "manager")}
	err := s.addRelations(ctx, teamID, users, want)
	if err != nil {
		return nil, err
	}
	more, err := s.userResources(ctx, teamID, unread, want, contiguous)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]map[string]any, len(page))
	for _, u := range append(users, more...) {
		byID[textOf(u, "id")] = u
	}
	if err := s.pageGroups(ctx, teamID, p, page, byID); err != nil {
		return nil, err
	}
	out := make([]any, 0, len(page))
	for _, m := range page {
		if resource, ok := byID[m.ID]; ok { // otherwise it was deleted in the meantime
			out = append(out, p.Apply(m.t, resource))
		}
	}
	return out, nil
}

// pageGroups adds the groups of a page to byID, with their members if p shows them.
func (s *Service) pageGroups(ctx context.Context, teamID string, p protocol.Projection, page []match, byID map[string]map[string]any) error {
	members := p.Shows(protocol.GroupType, "members")
	var ids []string
	for _, m := range page {
		if m.t == protocol.GroupType && m.read != nil && !members {
			byID[m.ID] = m.read
		} else if m.t == protocol.GroupType {
			ids = append(ids, m.ID)
		}
	}
	if !members {
		groups, err := s.groups(ctx, teamID, ids)
		for id, g := range groups {
			byID[id] = s.groupResource(g, nil)
		}
		return err
	}
	var mu sync.Mutex
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for _, id := range ids {
		work.Go(func() error {
			g, members, err := s.groupWithMembers(ctx, teamID, id)
			if isMissing(err) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			byID[id] = s.groupResource(g, members)
			return err
		})
	}
	return work.Wait()
}

func isMissing(err error) bool {
	var e *protocol.Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}
