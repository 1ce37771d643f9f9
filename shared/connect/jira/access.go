package jira

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"docent/shared/access"
	"docent/shared/connect/atlassian"
)

// holders are the accounts and groups that a permission or a security level names, and
// those that depend on the issue.
type holders struct {
	atlassian.Audience
	reporter, assignee bool
}

// of returns the holders for an issue.
func (h holders) of(i issue) atlassian.Audience {
	var a atlassian.Audience
	a.Join(h.Audience)
	if h.reporter && i.Fields.Reporter != nil {
		a.Add(*i.Fields.Reporter)
	}
	if h.assignee && i.Fields.Assignee != nil {
		a.Add(*i.Fields.Assignee)
	}
	return a
}

// holder is one of them in the form of the API.
type holder struct {
	Type      string          `json:"type"`
	Parameter string          `json:"parameter"` // name, key or id
	Value     string          `json:"value"`     // Cloud: id
	User      *atlassian.User `json:"user"`
	Group     *group          `json:"group"`
}

type group struct {
	Name string `json:"name"`
	ID   string `json:"groupId"` // Cloud
}

// readersOf returns who may read an issue: everyone who may browse the project and is in the issue's security level and in a role
// that the issue is limited to. A Data Center without levels, and a project that hides the field, send no security.
// Anyone of whom this is unknown may not.
func (r *reading) readersOf(ctx context.Context, i issue) (atlassian.Audience, error) {
	r.Ctx = ctx
	browse, err := r.browsers(ctx)
	if err != nil {
		return atlassian.Audience{}, err
	}
	a := browse.of(i)
	if roles, limited := i.restriction(); limited {
		within, err := r.inRoles(ctx, roles)
		if err != nil {
			return a, err
		}
		a = atlassian.Both(a, within, r.members)
	}
	if i.Fields.Security == nil {
		return a, nil
	}
	level, err := r.level(ctx, i.Fields.Security.ID)
	if err != nil {
		return a, err
	}
	return atlassian.Both(a, level.of(i), r.members), nil
}

// commentReaders returns who may read comments on an issue, which many of its comments have in common.
type commentReaders struct {
	*reading
	issue   issue
	readers atlassian.Audience             // of the issue
	all     *access.Names                  // of comments without a limit
	some    map[commentLimit]*access.Names // of the others
}

// commentLimit is how a comment is limited. Without a group or role, its visibility is zero.
type commentLimit struct {
	visibility
	internal bool
}

func (r *reading) commentReaders(i issue, readers atlassian.Audience) *commentReaders {
	return &commentReaders{r, i, readers, readers.Names(), map[commentLimit]*access.Names{}}
}

// of returns who may read a comment. An internal comment is hidden from people who may read the issue only because they
// reported it.
func (r *commentReaders) of(ctx context.Context, c comment) (*access.Names, error) {
	limit := commentLimit{internal: r.issue.hides(c)}
	if c.Visibility != nil {
		limit.visibility = *c.Visibility
	}
	if c.Visibility == nil && !limit.internal {
		return r.all, nil
	}
	if known, ok := r.some[limit]; ok {
		return known, nil
	}
	who := r.readers
	var err error
	if limit.internal {
		unreported := r.issue
		unreported.Fields.Reporter = nil
		if who, err = r.readersOf(ctx, unreported); err != nil {
			return nil, err
		}
	}
	if c.Visibility != nil {
		if who, err = r.readersWithin(ctx, who, limit.visibility); err != nil {
			return nil, err
		}
	}
	r.some[limit] = who.Names()
	return r.some[limit], nil
}

// readersWithin returns who of readers may read what is limited to v.
func (r *reading) readersWithin(ctx context.Context, readers atlassian.Audience, v visibility) (atlassian.Audience, error) {
	var limit atlassian.Audience
	switch v.Type {
	case "group":
		r.addGroup(&limit, group{v.Value, v.Identifier})
	case "role":
		if _, err := r.LookUp(ctx, membersOfRole+v.Value, "comments that are limited to a role of the project "+r.project, func(ctx context.Context) (err error) {
			limit, err = r.roleNamed(ctx, v.Value)
			return err
		}); err != nil {
			return limit, err
		}
	}
	return atlassian.Both(readers, limit, r.members), nil
}

// inRoles returns the accounts and groups in any of roles of the project.
func (r *reading) inRoles(ctx context.Context, roles []string) (atlassian.Audience, error) {
	var all atlassian.Audience
	for _, id := range roles {
		role, known := r.roles[id]
		if !known {
			_, err := r.LookUp(ctx, membersOfRoleID+id, "issues that are limited to a role of the project "+r.project, func(ctx context.Context) (err error) {
				role, err = r.role(ctx, id)
				return err
			})
			if err != nil {
				return all, err
			}
			r.roles[id] = role
		}
		all.Join(role)
	}
	return all, nil
}

// roleNamed returns the accounts and groups in a role of the project, by its name.
func (r *reading) roleNamed(ctx context.Context, name string) (atlassian.Audience, error) {
	id, err := r.roleID(ctx, name)
	if err != nil || id == "" {
		return atlassian.Audience{}, err
	}
	return r.role(ctx, id)
}

// browsers returns who may browse the project, by its permission scheme. On these lookups every item depends, so a failure ends the
// reading.
func (r *reading) browsers(ctx context.Context) (holders, error) {
	if r.browse != nil {
		return *r.browse, nil
	}
	if !r.mirrors {
		r.browse = &holders{Audience: atlassian.Everyone()}
		return *r.browse, nil
	}
	type permission struct {
		Permission string `json:"permission"`
		Holder     holder `json:"holder"`
	}
	scheme, err := atlassian.Get[struct {
		Permissions []permission `json:"permissions"`
	}](ctx, r.Site, "the permissions of the project "+r.project, r.api+"/project/"+url.PathEscape(r.project)+"/permissionscheme",
		url.Values{"expand": {"permissions,user,group"}})
	var found holders
	if err == nil {
		var named []holder
		for _, p := range scheme.Permissions {
			if p.Permission == "BROWSE_PROJECTS" {
				named = append(named, p.Holder)
			}
		}
		found, err = r.resolve(ctx, named)
	} else if denied(err) {
		// Unless nothing works, it is only this that the account may not see.
		if err = r.readProject(ctx); err == nil {
			r.Unknown("the project "+r.project, "make the account of the token an administrator of the project, or connect the source with access: source")
		}
	}
	if err != nil {
		return holders{}, err
	}
	r.browse = &found
	return found, nil
}

// denied reports whether err says that the account may not see something. Jira replies to
// some requests with 401 then.
func denied(err error) bool {
	return atlassian.Invisible(err) || atlassian.Status(err) == http.StatusUnauthorized
}

// What lookups of levels and roles are called.
const (
	membersOfLevel  = "the members of the security level "
	membersOfRole   = "the members of the role "
	membersOfRoleID = "the members of the project role "
)

// level returns the members of a security level. Those of a Data Center cannot be read.
func (r *reading) level(ctx context.Context, id string) (holders, error) {
	if known, ok := r.levels[id]; ok {
		return known, nil
	}
	var found holders
	_, err := r.LookUp(ctx, membersOfLevel+id, "issues of a security level of the project "+r.project, func(ctx context.Context) error {
		named, err := r.listLevel(ctx, id)
		if err == nil {
			found, err = r.resolve(ctx, named)
		}
		return err
	})
	if err == nil {
		r.levels[id] = found
	}
	return found, err
}

// listLevel returns the holders of a security level.
func (r *reading) listLevel(ctx context.Context, id string) ([]holder, error) {
	var named []holder
	for start := 0; r.Cloud; {
		const perList = 100
		got, err := atlassian.Get[struct {
			Values []struct {
				Level  json.Number `json:"issueSecurityLevelId"`
				Holder holder      `json:"holder"`
			} `json:"values"`
			Last bool `json:"isLast"`
		}](ctx, r.Site, "the members of a security level", r.api+"/issuesecurityschemes/level/member",
			url.Values{"levelId": {id}, "expand": {"user,group"}, "startAt": {strconv.Itoa(start)}, "maxResults": {strconv.Itoa(perList)}})
		if denied(err) {
			if err = r.readProject(ctx); err == nil {
				named = nil
				break
			}
		}
		if err != nil {
			return nil, err
		}
		for _, v := range got.Values {
			if v.Level.String() == id { // without an id Jira lists the members of all levels
				named = append(named, v.Holder)
			}
		}
		if start += len(got.Values); start > maxMembers {
			named = nil
			break
		}
		if got.Last || len(got.Values) == 0 {
			break
		}
	}
	if len(named) == 0 {
		r.Unknown("issues of a security level of the project "+r.project, "its members can be read only in the Cloud, by an administrator of Jira")
	}
	return named, nil
}

// resolve returns the accounts and groups of holders. A holder of a kind that it does not know, such as a field of the
// issue, has none.
func (r *reading) resolve(ctx context.Context, all []holder) (holders, error) {
	var out holders
	for _, h := range all {
		switch h.Type {
		case "anyone":
			out.Join(atlassian.Everyone())
		case "group":
			g := group{Name: h.Parameter, ID: h.Value}
			if h.Group != nil {
				g = *h.Group
			}
			if g.Name == "" && !r.Cloud { // how a Data Center writes anyone
				out.Join(atlassian.Everyone())
			}
			r.addGroup(&out.Audience, g)
		case "user":
			u, err := r.account(ctx, h)
			if err != nil {
				return out, err
			}
			out.Add(u)
		case "projectRole":
			role, err := r.role(ctx, cmp.Or(h.Value, h.Parameter))
			if err != nil {
				return out, err
			}
			out.Join(role)
		case "applicationRole":
			groups, err := r.application(ctx, h.Parameter)
			if err != nil {
				return out, err
			}
			out.Join(groups)
		case "projectLead":
			if r.lead.ID() == "" {
				if err := r.readProject(ctx); err != nil {
					return out, err
				}
			}
			out.Add(r.lead)
		case "reporter":
			out.reporter = true
		case "assignee":
			out.assignee = true
		}
	}
	return out, nil
}

// account returns the account of a holder.
func (r *reading) account(ctx context.Context, h holder) (atlassian.User, error) {
	if h.User != nil && h.User.ID() != "" {
		return *h.User, nil
	}
	return r.user(ctx, cmp.Or(h.Value, h.Parameter))
}

// addGroup adds a group and remembers its id.
func (d *directory) addGroup(a *atlassian.Audience, g group) {
	if g.ID != "" {
		d.GroupIDs[g.Name] = g.ID
	}
	a.AddGroup(g.Name)
}

// application returns the groups of a role of the site, of all roles if key is empty.
func (r *reading) application(ctx context.Context, key string) (atlassian.Audience, error) {
	type role struct {
		Key     string   `json:"key"`
		Groups  []string `json:"groups"`
		Details []group  `json:"groupDetails"`
	}
	var out atlassian.Audience
	all, err := atlassian.Get[[]role](ctx, r.Site, "the roles of the site", r.api+"/applicationrole", nil)
	if denied(err) {
		if err = r.readProject(ctx); err == nil {
			r.Unknown("the project "+r.project+", which everyone with a licence may browse,",
				"make the account of the token an administrator of Jira, or connect the source with access: source")
		}
	}
	for _, one := range all {
		if key != "" && one.Key != key {
			continue
		}
		for _, g := range one.Details {
			r.addGroup(&out, g)
		}
		for _, name := range one.Groups {
			out.AddGroup(name)
		}
	}
	return out, err
}
