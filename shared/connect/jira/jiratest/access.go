package jiratest

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"docent/shared/connect/atlassian/atlassiantest"
)

// person returns an account by its short name.
func (s *Server) person(name string) map[string]any {
	display := strings.ToUpper(name[:1]) + name[1:]
	if !s.Cloud {
		return map[string]any{"name": name, "key": "JIRAUSER" + name, "emailAddress": name + "@acme.example", "displayName": display, "active": true}
	}
	return map[string]any{"accountId": "5:" + name, "accountType": "atlassian", "emailAddress": name + "@acme.example", "displayName": display, "active": true}
}

func (s *Server) project(w http.ResponseWriter, r *http.Request) {
	key := strings.ToUpper(r.PathValue("key"))
	if s.Projects[key] == nil {
		refuse(w, http.StatusNotFound, "No project could be found with key '"+key+"'.")
		return
	}
	atlassiantest.Answer(w, map[string]any{"id": "10000", "key": key, "name": key, "lead": s.person("lead")})
}

// hidden replies that the account may not see something, if that is so.
func (s *Server) hidden(w http.ResponseWriter, status int) bool {
	if s.Secret {
		refuse(w, status, "You do not have permission.")
	}
	return s.Secret
}

// holder returns a holder of a permission or a level.
func (s *Server) holder(h Holder) map[string]any {
	out := map[string]any{"type": h.Type}
	switch h.Type {
	case "group":
		out["parameter"], out["group"] = h.Name, map[string]string{"name": h.Name}
		if s.Cloud {
			out["value"], out["group"] = "group-"+h.Name, map[string]string{"name": h.Name, "groupId": "group-" + h.Name}
		}
	case "user":
		out["parameter"], out["user"] = s.id(h.Name), s.person(h.Name)
	case "projectRole":
		out["parameter"] = h.Name // Cloud has the same as value
		if s.Cloud {
			out["value"] = h.Name
		}
	case "applicationRole":
		out["parameter"] = h.Name
	}
	return out
}

func (s *Server) id(name string) string {
	if s.Cloud {
		return "5:" + name
	}
	return "JIRAUSER" + name
}

func (s *Server) scheme(w http.ResponseWriter, r *http.Request) {
	if s.hidden(w, http.StatusForbidden) {
		return
	}
	p := s.Projects[strings.ToUpper(r.PathValue("key"))]
	if p == nil {
		refuse(w, http.StatusNotFound, "No project.")
		return
	}
	all := []any{map[string]any{"id": 1, "permission": "ADMINISTER_PROJECTS", "holder": s.holder(Holder{"group", "administrators"})}}
	for i, h := range p.Browse {
		all = append(all, map[string]any{"id": i + 2, "permission": "BROWSE_PROJECTS", "holder": s.holder(h)})
	}
	atlassiantest.Answer(w, map[string]any{"id": 10000, "name": "Default", "permissions": all})
}

// names returns the names of the roles of a project, in the order of their ids.
func (p *Project) names() []string { return slices.Sorted(maps.Keys(p.Roles)) }

// RoleID returns the id of a role.
func (p *Project) RoleID(name string) string {
	return strconv.Itoa(10000 + slices.Index(p.names(), name))
}

func (s *Server) roles(w http.ResponseWriter, r *http.Request) {
	if s.hidden(w, http.StatusUnauthorized) {
		return
	}
	all := map[string]string{}
	p := s.Projects[strings.ToUpper(r.PathValue("key"))]
	for _, name := range p.names() {
		all[name] = s.URL + s.api + "/project/10000/role/" + p.RoleID(name)
	}
	atlassiantest.Answer(w, all)
}

func (s *Server) role(w http.ResponseWriter, r *http.Request) {
	if s.hidden(w, http.StatusUnauthorized) {
		return
	}
	p := s.Projects[strings.ToUpper(r.PathValue("key"))]
	for _, name := range p.names() {
		if p.RoleID(name) != r.PathValue("id") {
			continue
		}
		actors := []any{}
		for _, h := range p.Roles[name] {
			switch {
			case h.Type == "group" && s.Cloud:
				actors = append(actors, map[string]any{"type": "atlassian-group-role-actor", "displayName": h.Name, "actorGroup": map[string]string{"name": h.Name, "groupId": "group-" + h.Name}})
			case h.Type == "group":
				actors = append(actors, map[string]any{"type": "atlassian-group-role-actor", "name": h.Name, "displayName": h.Name})
			case s.Cloud:
				actors = append(actors, map[string]any{"type": "atlassian-user-role-actor", "displayName": h.Name, "actorUser": map[string]string{"accountId": "5:" + h.Name}})
			default:
				actors = append(actors, map[string]any{"type": "atlassian-user-role-actor", "name": h.Name, "displayName": h.Name})
			}
		}
		atlassiantest.Answer(w, map[string]any{"name": name, "id": 10000, "actors": actors})
		return
	}
	refuse(w, http.StatusNotFound, "No role.")
}

func (s *Server) level(w http.ResponseWriter, r *http.Request) {
	if s.hidden(w, http.StatusForbidden) {
		return
	}
	type member struct {
		level  string
		holder Holder
	}
	var all []member
	for level, holders := range s.Levels {
		if id := r.URL.Query().Get("levelId"); id != "" && id != level {
			continue
		}
		for _, h := range holders {
			all = append(all, member{level, h})
		}
	}
	start, _ := strconv.Atoi(r.URL.Query().Get("startAt"))
	end := min(start+2, len(all)) // pages of two
	values := []any{}
	for _, m := range all[min(start, end):end] {
		values = append(values, map[string]any{"id": "1", "issueSecurityLevelId": m.level, "holder": s.holder(m.holder)})
	}
	atlassiantest.Answer(w, map[string]any{"startAt": start, "maxResults": 2, "total": len(all), "isLast": end == len(all), "values": values})
}

func (s *Server) members(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name := q.Get("groupname")
	if s.Cloud {
		name = strings.TrimPrefix(q.Get("groupId"), "group-") + name
	}
	all, ok := s.Groups[name]
	if !ok {
		refuse(w, http.StatusNotFound, "The group does not exist.")
		return
	}
	start, _ := strconv.Atoi(q.Get("startAt"))
	end := min(start+2, len(all)) // pages of two
	values := []any{}
	for _, one := range all[min(start, end):end] {
		values = append(values, s.person(one))
	}
	atlassiantest.Answer(w, map[string]any{"startAt": start, "maxResults": 2, "total": len(all), "isLast": end == len(all), "values": values})
}

func (s *Server) applicationRoles(w http.ResponseWriter, _ *http.Request) {
	if s.hidden(w, http.StatusForbidden) {
		return
	}
	atlassiantest.Answer(w, []any{map[string]any{"key": "jira-software", "groups": []string{"everyone"}, "name": "Jira Software"},
		map[string]any{"key": "jira-servicedesk", "groups": []string{"hr"}, "name": "Service"}})
}

func (s *Server) user(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name, cloud := strings.CutPrefix(q.Get("accountId"), "5:")
	if !s.Cloud {
		name = q.Get("username") + strings.TrimPrefix(q.Get("key"), "JIRAUSER")
		if strings.HasPrefix(q.Get("username"), "JIRAUSER") {
			name = ""
		}
	}
	if cloud != s.Cloud || name == "" {
		refuse(w, http.StatusNotFound, "The user does not exist.")
		return
	}
	atlassiantest.Answer(w, s.person(name))
}
