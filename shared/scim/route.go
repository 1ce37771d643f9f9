package scim

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"docent/shared/jsoninput"
	"docent/shared/scim/protocol"
	"docent/shared/team"
)

// endpoint handles one method of one path.
type endpoint func(s *Service, r request) (result, error)

// methods are the operations of a path.
type methods map[string]endpoint

// allow returns the Allow header.
func (m methods) allow() string {
	var list []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if m[method] != nil {
			list = append(list, method)
		}
		if method == http.MethodGet && m[method] != nil {
			list = append(list, http.MethodHead)
		}
	}
	return strings.Join(append(list, http.MethodOptions), ", ")
}

// routeOf returns the operations of a path: an empty set for /Me, false for an unknown path.
func routeOf(segments []string) (methods, bool) {
	name := ""
	if len(segments) > 0 {
		name = strings.ToLower(segments[0])
	}
	one := len(segments) == 2
	switch {
	case len(segments) == 0:
		return methods{"GET": getList}, true
	case len(segments) > 2:
		return nil, false
	case one && (name == "users" || name == "groups") && strings.EqualFold(segments[1], ".search"):
		return methods{"POST": search}, true
	case one && (name == "users" || name == "groups"):
		return methods{"GET": getOne, "PUT": replaceOne, "PATCH": patchOne, "DELETE": deleteOne}, true
	case one && (name == "schemas" || name == "resourcetypes"):
		return methods{"GET": discover}, true
	case one:
		return nil, false
	case name == "users" || name == "groups":
		return methods{"GET": getList, "POST": create}, true
	case name == ".search":
		return methods{"POST": search}, true
	case name == "bulk":
		return methods{"POST": bulk}, true
	case name == "serviceproviderconfig" || name == "schemas" || name == "resourcetypes":
		return methods{"GET": discover}, true
	case name == "me":
		return methods{}, true
	}
	return nil, false
}

// types returns the resource types of the path, and whether it is a search over all.
func (req request) types() (types []*protocol.ResourceType, root bool) {
	if len(req.segments) > 0 {
		for _, t := range protocol.ResourceTypes {
			if strings.EqualFold("/"+req.segments[0], t.Endpoint) {
				return []*protocol.ResourceType{t}, false
			}
		}
	}
	return protocol.ResourceTypes, true
}

func (req request) onUsers() bool { return strings.EqualFold(req.segments[0], "Users") }

func getList(s *Service, r request) (result, error) {
	q, err := r.listQuery()
	if err != nil {
		return result{}, err
	}
	return listed(s, r, q)
}

func listed(s *Service, r request, q query) (result, error) {
	types, root := r.types()
	body, err := s.list(r.ctx, r.teamID, q, root, types...)
	return result{status: http.StatusOK, body: body}, err
}

// search reads its query from the body (RFC 7644 section 3.4.3).
func search(s *Service, r request) (result, error) {
	if err := protocol.CheckMessage(r.body, protocol.SearchURN); err != nil {
		return result{}, err
	}
	q := query{startIndex: 1, count: defaultCount}
	for name, to := range map[string]*string{"filter": &q.filter, "sortBy": &q.sortBy, "sortOrder": &q.sortOrder} {
		switch v := protocol.MessageMember(r.body, name).(type) {
		case nil:
		case string:
			*to = v
		default:
			return result{}, protocol.Bad(protocol.InvalidValue, "%s must be a string.", name)
		}
	}
	for name, to := range map[string]*int{"startIndex": &q.startIndex, "count": &q.count} {
		switch v := protocol.MessageMember(r.body, name).(type) {
		case nil:
		case json.Number:
			n, err := jsoninput.ParseInt(v.String())
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				return result{}, protocol.Bad(protocol.InvalidValue, "%s must be an integer.", name)
			}
			*to = clamped(n)
		default:
			return result{}, protocol.Bad(protocol.InvalidValue, "%s must be an integer.", name)
		}
	}
	switch v := protocol.MessageMember(r.body, "cursor").(type) {
	case nil:
	case string:
		q.cursor = &v
	default:
		return result{}, protocol.Bad(protocol.InvalidValue, "cursor must be a string.")
	}
	shown, err := textsIn(r.body, "attributes")
	if err != nil {
		return result{}, err
	}
	hidden, err := textsIn(r.body, "excludedAttributes")
	if err != nil {
		return result{}, err
	}
	q.projection = protocol.ParseProjection(shown, hidden)
	return listed(s, r, q.bounded())
}

// textsIn returns the strings in a member of a message, which is a list, or a string alone.
func textsIn(message map[string]any, name string) ([]string, error) {
	value := protocol.MessageMember(message, name)
	list, ok := value.([]any)
	if !ok && value != nil {
		list = []any{value}
	}
	out := make([]string, len(list))
	for i, e := range list {
		if out[i], ok = e.(string); !ok {
			return nil, protocol.Bad(protocol.InvalidValue, "%s must be a list of strings.", name)
		}
	}
	return out, nil
}

// showUser returns the reply with a user. A fresh one has no groups.
func showUser(s *Service, r request, status int, p team.Profile, fresh bool) (result, error) {
	resource, err := s.user(p)
	if err != nil {
		return result{}, err
	}
	show := r.projection()
	res := result{status: status, location: s.location(protocol.UserType, p.ID), version: versionTag(p.Version)}
	groups := !fresh && show.Shows(protocol.UserType, "groups")
	err = s.addRelations(r.ctx, r.teamID, []map[string]any{resource}, wanted{groups: groups, managers: show.ShowsExtension(protocol.UserType, protocol.EnterpriseURN, "manager")})
	res.body = show.Apply(protocol.UserType, resource)
	return res, err
}

// showGroup returns the reply with a group, and reads the members if they are shown.
func showGroup(s *Service, r request, status int, g group) (result, error) {
	var members []member
	if r.projection().Shows(protocol.GroupType, "members") {
		var err error
		if g, members, err = s.groupWithMembers(r.ctx, r.teamID, g.ID); err != nil {
			return result{}, err
		}
	}
	return groupResult(s, r, status, g, members), nil
}

func groupResult(s *Service, r request, status int, g group, members []member) result {
	return result{status: status, location: s.location(protocol.GroupType, g.ID), version: versionTag(g.Version),
		body: r.projection().Apply(protocol.GroupType, s.groupResource(g, members))}
}

func create(s *Service, r request) (result, error) {
	if r.onUsers() {
		p, err := s.createUser(r.ctx, r.teamID, r.body)
		if err != nil {
			return result{}, err
		}
		return showUser(s, r, http.StatusCreated, p, true)
	}
	g, members, err := s.createGroup(r.ctx, r.teamID, r.body)
	if err != nil {
		return result{}, err
	}
	return groupResult(s, r, http.StatusCreated, g, members), nil
}

func getOne(s *Service, r request) (result, error) {
	if r.onUsers() {
		p, err := s.Teams.Profile(r.ctx, r.teamID, r.segments[1])
		if err != nil {
			return result{}, asSCIMError(err)
		}
		if err := r.only.checkMatch(p.Version); err != nil {
			return result{}, err
		}
		if r.only.noneNames(p.Version) {
			return result{status: http.StatusNotModified, version: versionTag(p.Version)}, nil
		}
		return showUser(s, r, http.StatusOK, p, false)
	}
	g, err := s.group(r.ctx, r.teamID, r.segments[1])
	if err != nil {
		return result{}, err
	}
	if err := r.only.checkMatch(g.Version); err != nil {
		return result{}, err
	}
	if r.only.noneNames(g.Version) {
		return result{status: http.StatusNotModified, version: versionTag(g.Version)}, nil
	}
	return showGroup(s, r, http.StatusOK, g)
}

func replaceOne(s *Service, r request) (result, error) {
	if r.onUsers() {
		p, err := s.replaceUser(r.ctx, r.teamID, r.segments[1], r.only, r.body)
		if err != nil {
			return result{}, err
		}
		return showUser(s, r, http.StatusOK, p, false)
	}
	g, err := s.replaceGroup(r.ctx, r.teamID, r.segments[1], r.only, r.body)
	if err != nil {
		return result{}, err
	}
	return showGroup(s, r, http.StatusOK, g)
}

func patchOne(s *Service, r request) (result, error) {
	operations, err := protocol.ParsePatch(r.body)
	if err != nil {
		return result{}, err
	}
	if r.onUsers() {
		p, err := s.patchUser(r.ctx, r.teamID, r.segments[1], r.only, operations)
		if err != nil {
			return result{}, err
		}
		return showUser(s, r, http.StatusOK, p, false)
	}
	g, err := s.patchGroup(r.ctx, r.teamID, r.segments[1], r.only, operations)
	if err != nil {
		return result{}, err
	}
	if !r.projection().Given() {
		return result{status: http.StatusNoContent, location: s.location(protocol.GroupType, g.ID), version: versionTag(g.Version)}, nil
	}
	return showGroup(s, r, http.StatusOK, g)
}

func deleteOne(s *Service, r request) (result, error) {
	remove := s.deleteGroup
	if r.onUsers() {
		remove = s.deleteUser
	}
	return result{status: http.StatusNoContent}, remove(r.ctx, r.teamID, r.segments[1], r.only)
}

// discover answers what the service supports (RFC 7644 section 4).
func discover(s *Service, r request) (result, error) {
	if r.query.Has("filter") {
		return result{}, protocol.Refuse(http.StatusForbidden, "", "This endpoint cannot be filtered.")
	}
	ok := func(body map[string]any) (result, error) { return result{status: http.StatusOK, body: body}, nil }
	resources := s.resourceTypes()
	switch name := strings.ToLower(r.segments[0]); name {
	case "serviceproviderconfig":
		return ok(s.providerConfig())
	case "schemas":
		var err error
		if resources, err = s.schemaResources(); err != nil {
			return result{}, err
		}
	}
	if len(r.segments) == 1 {
		return ok(listOf(resources))
	}
	if object, found := byID(resources, r.segments[1]); found {
		return ok(object)
	}
	return result{}, protocol.Refuse(http.StatusNotFound, "", "No resource exists at this path.")
}

// segmentsOf splits the path below Prefix. An encoded slash does not split. Slashes around it do not count: a base URL that was
// entered with a slash at its end makes two.
func segmentsOf(u *url.URL) []string {
	path := strings.Trim(strings.TrimPrefix(u.EscapedPath(), Prefix), "/")
	if path == "" {
		return nil
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if decoded, err := url.PathUnescape(s); err == nil {
			segments[i] = decoded
		}
	}
	return segments
}

// Route returns the pattern of a path, such as "/scim/v2/Users/{id}", or "" for an unknown
// path.
func Route(u *url.URL) string {
	segments := segmentsOf(u)
	if _, ok := routeOf(segments); !ok {
		return ""
	}
	if len(segments) == 2 && !strings.EqualFold(segments[1], ".search") {
		segments[1] = "{id}"
	}
	return strings.TrimSuffix(Prefix+"/"+strings.Join(segments, "/"), "/")
}
