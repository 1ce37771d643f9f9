// Package jiratest has a server that behaves like the REST APIs of Jira Cloud or of a Data
// Center, for projects whose issues and comments a test creates. It searches by the
// queries that the connector sends, in pages by token or by number; has permission
// schemes, roles, security levels, groups, and issues that the search or the account
// misses.
//
// The shapes of its replies follow Atlassian's reference of both APIs, and the fixtures
// and clients of atlassian-python-api, Onyx and Elastic's connectors.
package jiratest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/atlassian/atlassiantest"
)

// Untold is a security level whose id Jira leaves out.
const Untold = "untold"

// Issue is an issue.
type Issue struct {
	Number    int
	Summary   string
	Text      string // of its description
	Done      bool
	Labels    []string
	Assignee  string
	Security  string // id of its level; empty: none; Untold: one without an id
	Created   time.Time
	Updated   time.Time
	Comments  []Comment
	MovedTo   string // its key in another project
	Missed    bool   // the search does not find it
	Hidden    bool   // the account may not browse it
	RawFields map[string]any
	Omitted   string // a field that is not sent
}

// Comment is a comment on an issue.
type Comment struct {
	ID    int
	Text  string
	Role  string // who may read it; empty: not limited
	Group string
	// Limited means that it is limited in a way that Jira does not name.
	Limited bool
	// Internal means that Service Management hides it from customers.
	Internal bool
	At       time.Time
}

// Project is a project.
type Project struct {
	Issues []*Issue
	Browse []Holder // of its permission scheme
	Desk   bool     // of Service Management
	Roles  map[string][]Holder
}

// Holder is somebody whom a permission, a level or a role names: type, and a short name.
type Holder struct{ Type, Name string }

// Server is the server. A test changes its fields only within Change.
type Server struct {
	*atlassiantest.Server
	Projects map[string]*Project
	Levels   map[string][]Holder
	Groups   map[string][]string // members by group
	Inline   int                 // comments that come with an issue
	Secret   bool                // the account may not see who may read
	now      func() time.Time
	api      string
}

// New starts a server without projects. It stops at the end of the test.
func New(t testing.TB, cloud bool, now func() time.Time) *Server {
	t.Helper()
	s := &Server{Projects: map[string]*Project{}, Levels: map[string][]Holder{}, Groups: map[string][]string{}, Inline: 20, now: now, api: "/rest/api/2"}
	mux := http.NewServeMux()
	at := func(path string, h http.HandlerFunc) { mux.HandleFunc("GET "+s.api+path, h) }
	if cloud {
		s.api = "/rest/api/3"
		at("/search/jql", s.search)
		at("/issuesecurityschemes/level/member", s.level)
	} else {
		at("/search", s.search)
	}
	at("/project/{key}", s.project)
	at("/project/{key}/permissionscheme", s.scheme)
	at("/project/{key}/role", s.roles)
	at("/project/{key}/role/{id}", s.role)
	at("/issue/{key}", s.issue)
	at("/issue/{key}/comment", s.comments)
	at("/issue/{key}/comment/{id}", s.comment)
	at("/group/member", s.members)
	at("/applicationrole", s.applicationRoles)
	at("/user", s.user)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "No such resource.") })
	s.Server = atlassiantest.New(t, cloud, mux)
	return s
}

// Change changes what the server has.
func (s *Server) Change(change func()) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	change()
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	atlassiantest.Answer(w, map[string]any{"errorMessages": []string{message}, "errors": map[string]string{}})
}

var listForm = regexp.MustCompile(`^project = "([^"]+)"(?: AND updated >= -(\d+)m)? ORDER BY (created|updated) DESC$`)

// search replies to a query in one of the forms that were recorded.
func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	form := listForm.FindStringSubmatch(q.Get("jql"))
	if form == nil || q.Get("fields") == "" {
		refuse(w, http.StatusBadRequest, "Error in the JQL Query.")
		return
	}
	project := s.Projects[strings.ToUpper(form[1])]
	if project == nil {
		refuse(w, http.StatusBadRequest, "The value '"+form[1]+"' does not exist for the field 'project'.")
		return
	}
	sorted := func(i *Issue) time.Time {
		if form[3] == "created" {
			return i.Created
		}
		return i.Updated
	}
	var found []*Issue
	for _, i := range project.Issues {
		minutes, err := strconv.Atoi(form[2])
		if i.visible() && !i.Missed && (err != nil || !i.Updated.Before(s.now().Add(-time.Duration(minutes)*time.Minute))) {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b *Issue) int { return sorted(b).Compare(sorted(a)) })
	most, _ := strconv.Atoi(q.Get("maxResults"))
	start, _ := strconv.Atoi(q.Get("startAt"))
	if token := q.Get("nextPageToken"); token != "" {
		var after int64
		var number int
		if _, err := fmt.Sscanf(token, "t%d_%d", &after, &number); err != nil {
			refuse(w, http.StatusBadRequest, "The provided next page token is invalid or expired.")
			return
		}
		start = slices.IndexFunc(found, func(i *Issue) bool { // what follows the last result, whatever happened before it
			at := sorted(i).UnixMilli()
			return at < after || at == after && i.Number > number
		})
		if start < 0 {
			start = len(found)
		}
	}
	start = min(start, len(found))
	end := min(start+most, len(found))
	issues := []any{}
	for _, i := range found[start:end] {
		issues = append(issues, s.fields(strings.ToUpper(form[1]), i))
	}
	reply := map[string]any{"issues": issues}
	switch {
	case !s.Cloud:
		reply["startAt"], reply["maxResults"], reply["total"] = start, most, len(found)
	case end < len(found):
		last := found[end-1]
		reply["isLast"], reply["nextPageToken"] = false, fmt.Sprintf("t%d_%d", sorted(last).UnixMilli(), last.Number)
	default:
		reply["isLast"] = true
	}
	atlassiantest.Answer(w, reply)
}

func (i *Issue) visible() bool { return !i.Hidden && i.MovedTo == "" }

const timeForm = "2006-01-02T15:04:05.000-0700"

// body returns a text as a document in the Cloud, as markup otherwise.
func (s *Server) body(text string) any {
	if !s.Cloud {
		return text
	}
	return map[string]any{"type": "doc", "version": 1, "content": []any{
		map[string]any{"type": "paragraph", "content": []any{map[string]any{"type": "text", "text": text}}}}}
}

// fields returns an issue as searches do.
func (s *Server) fields(project string, i *Issue) map[string]any {
	category := map[string]any{"id": 2, "key": "new", "name": "To Do"}
	status := "Open"
	f := map[string]any{"summary": i.Summary, "description": s.body(i.Text), "labels": i.Labels, "created": i.Created.Format(timeForm), "updated": i.Updated.Format(timeForm),
		"issuetype": map[string]any{"id": "1", "name": "Bug", "subtask": false}, "priority": map[string]any{"id": "3", "name": "High"},
		"project": map[string]any{"id": "10000", "key": project, "name": project, "projectTypeKey": s.kind(project)}, "resolution": nil, "resolutiondate": nil, "assignee": nil, "security": nil,
		"reporter": s.person("ada"), "creator": s.person("ada"), "components": []any{map[string]string{"id": "1", "name": "api"}}, "fixVersions": []any{}}
	if i.Done {
		category, status = map[string]any{"id": 3, "key": "done", "name": "Done"}, "Resolved"
		f["resolution"], f["resolutiondate"] = map[string]string{"name": "Fixed"}, i.Updated.Format(timeForm)
	}
	f["status"] = map[string]any{"name": status, "id": "1", "statusCategory": category}
	if i.Assignee != "" {
		f["assignee"] = s.person(i.Assignee)
	}
	switch i.Security {
	case "":
	case Untold:
		f["security"] = map[string]string{"name": "Level"}
	default:
		f["security"] = map[string]string{"id": i.Security, "name": "Level " + i.Security, "description": ""}
	}
	comments := []any{}
	for _, c := range i.Comments[:min(len(i.Comments), s.Inline)] {
		comments = append(comments, s.commentOf(c))
	}
	f["comment"] = map[string]any{"comments": comments, "maxResults": len(comments), "total": len(i.Comments), "startAt": 0}
	for name, value := range i.RawFields {
		f[name] = value
	}
	delete(f, i.Omitted)
	key := fmt.Sprintf("%s-%d", project, i.Number)
	return map[string]any{"id": strconv.Itoa(10000 + i.Number), "key": key, "self": s.URL + s.api + "/issue/" + key, "fields": f}
}

// kind returns the type of a project.
func (s *Server) kind(project string) string {
	if p := s.Projects[project]; p != nil && p.Desk {
		return "service_desk"
	}
	return "software"
}

func (s *Server) cloud() bool { return s.api == "/rest/api/3" }

func (s *Server) commentOf(c Comment) map[string]any {
	out := map[string]any{"id": strconv.Itoa(c.ID), "body": s.body(c.Text), "author": s.person("grace"), "updateAuthor": s.person("grace"),
		"created": c.At.Format(timeForm), "updated": c.At.Format(timeForm)}
	if s.cloud() {
		out["jsdPublic"] = !c.Internal
	}
	switch {
	case c.Limited:
		out["visibility"] = map[string]string{}
	case c.Role != "":
		out["visibility"] = map[string]string{"type": "role", "value": c.Role}
	case c.Group != "":
		out["visibility"] = map[string]string{"type": "group", "value": c.Group}
	}
	return out
}

// find returns the issue with the key in the path, or nil.
func (s *Server) find(r *http.Request) (string, *Issue) {
	name, number, _ := strings.Cut(r.PathValue("key"), "-")
	if p := s.Projects[name]; p != nil {
		for _, i := range p.Issues {
			if strconv.Itoa(i.Number) == number && !i.Hidden {
				return name, i
			}
		}
	}
	return name, nil
}

func (s *Server) issue(w http.ResponseWriter, r *http.Request) {
	project, i := s.find(r)
	switch {
	case i == nil:
		refuse(w, http.StatusNotFound, "Issue does not exist or you do not have permission to see it.")
	case i.MovedTo != "":
		atlassiantest.Answer(w, map[string]any{"id": "1", "key": i.MovedTo})
	default:
		atlassiantest.Answer(w, s.fields(project, i))
	}
}

func (s *Server) comments(w http.ResponseWriter, r *http.Request) {
	_, i := s.find(r)
	if i == nil {
		refuse(w, http.StatusNotFound, "Issue does not exist or you do not have permission to see it.")
		return
	}
	start, _ := strconv.Atoi(r.URL.Query().Get("startAt"))
	most, _ := strconv.Atoi(r.URL.Query().Get("maxResults"))
	list := []any{}
	for _, c := range i.Comments[min(start, len(i.Comments)):min(start+most, len(i.Comments))] {
		list = append(list, s.commentOf(c))
	}
	atlassiantest.Answer(w, map[string]any{"startAt": start, "maxResults": most, "total": len(i.Comments), "comments": list})
}

func (s *Server) comment(w http.ResponseWriter, r *http.Request) {
	if _, i := s.find(r); i != nil {
		for _, c := range i.Comments {
			if strconv.Itoa(c.ID) == r.PathValue("id") {
				atlassiantest.Answer(w, s.commentOf(c))
				return
			}
		}
	}
	refuse(w, http.StatusNotFound, "Can not find a comment for the id: "+r.PathValue("id")+".")
}
