package confluencetest

import (
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"docent/shared/connect/atlassian/atlassiantest"
)

// Hider is an account whose email address nobody sees.
const Hider = "hider"

// person returns an account by its short name.
func (s *Server) person(name string) map[string]any {
	display := strings.ToUpper(name[:1]) + name[1:]
	if !s.Cloud {
		return map[string]any{"type": "known", "username": name, "userKey": "key-" + name, "displayName": display}
	}
	email := name + "@acme.example"
	if name == Hider {
		email = ""
	}
	return map[string]any{"type": "known", "accountId": "5:" + name, "accountType": "atlassian", "email": email, "publicName": display, "displayName": display}
}

func groupOf(name string) map[string]any {
	return map[string]any{"type": "group", "name": name, "id": "group-" + name}
}

// spaceID returns the id of a space, which is a number.
func spaceID(key string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(strings.ToLower(key)))
	return strconv.Itoa(int(sum.Sum32()))
}

func (s *Server) restrictions(p *Page, without bool) map[string]any {
	if without {
		return map[string]any{"operation": "read", "_expandable": map[string]string{"restrictions": ""}}
	}
	users, groups := []any{}, []any{}
	for _, u := range p.Users {
		users = append(users, s.person(u))
	}
	for _, g := range p.Groups {
		groups = append(groups, groupOf(g))
	}
	return map[string]any{"operation": "read", "restrictions": map[string]any{
		"user":  map[string]any{"results": users, "start": 0, "limit": 200, "size": len(users) + p.Unseen},
		"group": map[string]any{"results": groups, "start": 0, "limit": 200, "size": len(groups)}}}
}

func (s *Server) restriction(w http.ResponseWriter, r *http.Request) {
	if p := s.page(r); p != nil && s.visible(p) {
		atlassiantest.Answer(w, s.restrictions(p, p.Silent))
		return
	}
	atlassiantest.Refuse(w, http.StatusNotFound, "No content found with this id.")
}

func (s *Server) page(r *http.Request) *Page {
	n, _ := strconv.Atoi(strings.TrimPrefix(r.PathValue("id"), "att"))
	return s.Pages[n]
}

func (s *Server) spacesV2(w http.ResponseWriter, r *http.Request) {
	found := []any{}
	for key := range s.Spaces {
		if slices.ContainsFunc(strings.Split(r.URL.Query().Get("keys"), ","), func(k string) bool { return strings.EqualFold(k, key) }) {
			found = append(found, map[string]any{"id": spaceID(key), "key": key, "name": "Space " + key, "type": "global", "status": "current"})
		}
	}
	atlassiantest.Answer(w, map[string]any{"results": found, "_links": map[string]string{"base": s.URL + s.base}})
}

func (s *Server) permissionsV2(w http.ResponseWriter, r *http.Request) {
	for key, granted := range s.Spaces {
		if spaceID(key) != r.PathValue("id") {
			continue
		}
		if s.Secret {
			atlassiantest.Refuse(w, http.StatusForbidden, "Not permitted.")
			return
		}
		results := []any{}
		for i, p := range granted {
			principal := map[string]string{"type": "group", "id": "group-" + p.Group}
			if p.User != "" {
				principal = map[string]string{"type": "user", "id": "5:" + p.User}
			}
			for _, operation := range []string{"read", "delete"} {
				results = append(results, map[string]any{"id": strconv.Itoa(i), "principal": principal, "operation": map[string]string{"key": operation, "targetType": "space"}})
			}
		}
		at, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		end := min(at+3, len(results)) // pages of three
		links := map[string]string{"base": s.URL + s.base}
		if end < len(results) {
			links["next"] = s.base + "/api/v2/spaces/" + r.PathValue("id") + "/permissions?cursor=" + strconv.Itoa(end)
		}
		atlassiantest.Answer(w, map[string]any{"results": results[at:end], "_links": links})
		return
	}
	atlassiantest.Refuse(w, http.StatusNotFound, "No such space.")
}

func (s *Server) oneV2(w http.ResponseWriter, r *http.Request) {
	p := s.page(r)
	kind := "pages"
	switch {
	case p == nil || p.On == 0:
	case p.File != nil:
		kind = "attachments"
	default:
		kind = map[bool]string{false: "footer-comments", true: "inline-comments"}[p.Inline]
	}
	if p == nil || p.Hidden || !strings.Contains(r.URL.Path, "/"+kind+"/") {
		w.WriteHeader(http.StatusNotFound)
		atlassiantest.Answer(w, map[string]any{"errors": []any{map[string]any{"status": 404, "code": "NOT_FOUND", "title": "Not Found", "detail": nil}}})
		return
	}
	one := map[string]any{"id": s.idOf(p), "status": status(p), "title": p.Title, "spaceId": spaceID(p.Space)}
	if p.On != 0 {
		delete(one, "spaceId")
		one["pageId"] = strconv.Itoa(p.On)
	}
	atlassiantest.Answer(w, one)
}

func (s *Server) one(w http.ResponseWriter, r *http.Request) {
	p := s.page(r)
	if p == nil || !s.visible(p) {
		atlassiantest.Refuse(w, http.StatusNotFound, "No content found with id: ContentId{id="+r.PathValue("id")+"}")
		return
	}
	atlassiantest.Answer(w, s.content(r, p))
}

func (s *Server) space(w http.ResponseWriter, r *http.Request) {
	for key := range s.Spaces {
		if strings.EqualFold(key, r.PathValue("key")) {
			id, _ := strconv.Atoi(spaceID(key))
			atlassiantest.Answer(w, map[string]any{"id": id, "key": key, "name": "Space " + key, "type": "global"})
			return
		}
	}
	atlassiantest.Refuse(w, http.StatusNotFound, "No space found with key : "+r.PathValue("key"))
}

// permissions replies as a Data Center does, which fails for those who are no administrators.
func (s *Server) permissions(w http.ResponseWriter, r *http.Request) {
	if s.Secret {
		atlassiantest.Refuse(w, http.StatusInternalServerError, "")
		return
	}
	all := []any{map[string]any{"operation": map[string]string{"operationKey": "read", "targetType": "space"}}} // anonymous
	for _, p := range s.Spaces[r.PathValue("key")] {
		subject := groupOf(p.Group)
		if p.User != "" {
			subject = map[string]any{"type": "user", "userKey": "key-" + p.User}
		}
		for _, operation := range []string{"read", "delete"} {
			all = append(all, map[string]any{"operation": map[string]string{"operationKey": operation, "targetType": "space"}, "subject": subject,
				"spaceKey": r.PathValue("key"), "spaceId": 131083})
		}
	}
	atlassiantest.Answer(w, all)
}

func (s *Server) groupByID(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Query().Get("id"), "group-")
	if _, ok := s.Groups[name]; !ok {
		atlassiantest.Refuse(w, http.StatusNotFound, "No such group.")
		return
	}
	atlassiantest.Answer(w, groupOf(name))
}

func (s *Server) members(w http.ResponseWriter, r *http.Request) {
	all, ok := s.Groups[strings.TrimPrefix(r.PathValue("id"), "group-")]
	if !ok {
		atlassiantest.Refuse(w, http.StatusNotFound, "No such group.")
		return
	}
	start, _ := strconv.Atoi(r.URL.Query().Get("start"))
	const limit = 2 // whatever is asked for
	results := []any{}
	for _, name := range all[min(start, len(all)):min(start+limit, len(all))] {
		results = append(results, s.person(name))
	}
	atlassiantest.Answer(w, map[string]any{"results": results, "start": start, "limit": limit, "size": len(results)})
}

func (s *Server) user(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name, cloud := strings.CutPrefix(q.Get("accountId"), "5:")
	key, byKey := strings.CutPrefix(q.Get("key"), "key-")
	switch {
	case s.Cloud && cloud:
	case !s.Cloud && byKey:
		name = key
	case !s.Cloud && q.Get("username") != "":
		name = q.Get("username")
	default:
		atlassiantest.Refuse(w, http.StatusBadRequest, "An account must be named.")
		return
	}
	if name == "" || name == "stranger" {
		atlassiantest.Refuse(w, http.StatusNotFound, "No user found.")
		return
	}
	atlassiantest.Answer(w, s.person(name))
}
