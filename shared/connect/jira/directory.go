package jira

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"strconv"
	"strings"

	"docent/shared/connect/atlassian"
)

// Bounds of lookups.
const (
	perList    = 50     // members of one request
	maxMembers = 10_000 // of a group; a larger one is unknown
)

// directory has what a reading knows about accounts, groups and roles.
type directory struct {
	atlassian.Groups
	browse   *holders       // nil: not read
	lead     atlassian.User // of the project
	levels   map[string]holders
	roles    map[string]atlassian.Audience // by id
	roleIDs  map[string]string             // by name; nil: not read
	accounts map[string]atlassian.User
}

func newDirectory() directory {
	return directory{levels: map[string]holders{}, roles: map[string]atlassian.Audience{}, accounts: map[string]atlassian.User{},
		Groups: atlassian.NewGroups()}
}

// user reads an account by its id in the Cloud, by its user name or key in a Data Center.
// One that the account of the token may not see is empty.
func (r *reading) user(ctx context.Context, id string) (atlassian.User, error) {
	if known, ok := r.accounts[id]; ok || id == "" {
		return known, nil
	}
	names := []string{"username", "key"}
	if r.Cloud {
		names = []string{"accountId"}
	}
	for _, name := range names {
		u, err := atlassian.Get[atlassian.User](ctx, r.Site, "an account", r.api+"/user", url.Values{name: {id}})
		if err != nil && !atlassian.Invisible(err) {
			return u, err
		}
		if r.accounts[id] = u; err == nil {
			return u, nil
		}
	}
	return atlassian.User{}, nil
}

// role returns the accounts and groups in a role of the project. If the account of the token may not see them, the role
// is empty.
func (r *reading) role(ctx context.Context, id string) (atlassian.Audience, error) {
	if known, ok := r.roles[id]; ok {
		return known, nil
	}
	var out atlassian.Audience
	if !isNumber(id) {
		return out, nil
	}
	type actor struct {
		Type  string          `json:"type"`
		Name  string          `json:"name"` // Data Center
		User  *atlassian.User `json:"actorUser"`
		Group *group          `json:"actorGroup"`
	}
	got, err := atlassian.Get[struct {
		Actors []actor `json:"actors"`
	}](ctx, r.Site, "a role of the project "+r.project, r.api+"/project/"+url.PathEscape(r.project)+"/role/"+id, nil)
	if denied(err) {
		if err = r.readProject(ctx); err == nil {
			r.Unknown("what is limited to a role of the project "+r.project, "make the account of the token an administrator of the project")
		}
	}
	if err != nil {
		return out, err
	}
	for _, a := range got.Actors {
		switch {
		case a.Group != nil:
			r.addGroup(&out, *a.Group)
		case a.Type == "atlassian-group-role-actor":
			out.AddGroup(a.Name)
		case a.Type == "atlassian-user-role-actor":
			id := a.Name
			if a.User != nil {
				id = cmp.Or(a.User.AccountID, a.User.Key, a.User.Name, a.Name)
			}
			u, err := r.user(ctx, id)
			if err != nil {
				return out, err
			}
			out.Add(u)
		}
	}
	r.roles[id] = out
	return out, nil
}

// roleID returns the id of a role by its name, or "".
func (r *reading) roleID(ctx context.Context, name string) (string, error) {
	if r.roleIDs == nil {
		all, err := atlassian.Get[map[string]string](ctx, r.Site, "the roles of the project "+r.project, r.api+"/project/"+url.PathEscape(r.project)+"/role", nil)
		if denied(err) {
			if err = r.readProject(ctx); err == nil {
				r.Unknown("comments that are limited to a role of the project "+r.project, "make the account of the token an administrator of the project")
			}
		}
		if err != nil {
			return "", err
		}
		r.roleIDs = map[string]string{}
		for name, address := range all {
			r.roleIDs[name] = path.Base(strings.TrimRight(address, "/"))
		}
	}
	return r.roleIDs[name], nil
}

// members returns the members of a group, or nothing if they are unknown.
func (r *reading) members(name string) map[string]atlassian.User {
	return r.Members(r.Site, name, "some issues or comments of the project "+r.project, r.listMembers)
}

// listMembers returns the members of a group, or nothing if the account may not see them or there are too many.
func (r *reading) listMembers(ctx context.Context, name string) (map[string]atlassian.User, error) {
	all := map[string]atlassian.User{}
	for start := 0; ; {
		q := url.Values{"groupname": {name}, "startAt": {strconv.Itoa(start)}, "maxResults": {strconv.Itoa(perList)}}
		if id := r.GroupIDs[name]; id != "" {
			q.Del("groupname")
			q.Set("groupId", id)
		}
		got, err := atlassian.Get[struct {
			Values []atlassian.User `json:"values"`
			Last   bool             `json:"isLast"`
		}](ctx, r.Site, "the members of the group "+name, r.api+"/group/member", q)
		if atlassian.Invisible(err) || err == nil && start >= maxMembers {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		known := len(all)
		for _, u := range got.Values {
			all[u.ID()] = u
		}
		if start += len(got.Values); len(got.Values) == 0 || got.Last {
			return all, nil
		}
		if len(all) == known { // the same page again: the rest is unknown
			return nil, nil
		}
	}
}
