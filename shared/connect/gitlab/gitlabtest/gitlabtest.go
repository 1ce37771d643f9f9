// Package gitlabtest has a server that behaves like GitLab's REST API v4, for projects
// whose issues, merge requests, comments, wiki pages, files and members a test creates.
// It supports pages, redirects of renamed projects, scopes of tokens, rate limits and
// failures.
//
// The replies have the members, headers and statuses of the examples and response
// schemas of GitLab itself: doc/api and spec/fixtures/api/schemas/public_api/v4 of its
// repository. Whether a comment changes the time of its issue is taken from GitLab's models.
package gitlabtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/connect/connecttest"
)

// The access tokens that the server knows: one with the scope read_api, one without it,
// and one that has expired.
const (
	Token     = "glpat-recorded"
	Scopeless = "glpat-read-user"
	Expired   = "glpat-expired"
)

// Untold is a level that GitLab leaves out.
const Untold = "untold"

// Project is a project on the server.
type Project struct {
	ID         int
	Path       string // with its groups
	Visibility string // public, internal or private
	Branch     string // the default branch
	// Levels are the access levels of parts, by issues, merge_requests, wiki and
	// repository; absent: enabled. One that is Untold is left out of replies. Without a token, what is private is refused as what is disabled.
	Levels        map[string]string
	Members       []Member
	NoMembers     bool     // the token may not list members
	Issues        []Record // these and the next are changed by methods of Server
	MergeRequests []Record
	Wiki          []WikiPage
	Commits       []Commit          // the last one is the head of Branch
	Large         map[string]string // what Git LFS keeps, by the text of its pointer
	NoCode        bool              // the token may not read the repository
	Broken        bool              // no commit can be read
	Missing       bool              // it is no longer visible
}

// Member is a member of a project or of one of its groups.
type Member struct {
	ID              int    `json:"id"`
	Username        string `json:"username"`
	Name            string `json:"name"`
	State           string `json:"state"`
	AvatarURL       string `json:"avatar_url"`
	WebURL          string `json:"web_url"`
	AccessLevel     int    `json:"access_level"`
	MembershipState string `json:"membership_state"`
	PublicEmail     string `json:"public_email,omitempty"`
	Email           string `json:"email,omitempty"`
}

// User is an account.
type User struct {
	ID       int    `json:"id"`
	Username string `json:"username"`
	Name     string `json:"name"`
	State    string `json:"state"`
	WebURL   string `json:"web_url"`
}

// Record is an issue or a merge request in the form of GitLab's lists.
type Record struct {
	ID           int        `json:"id"`
	IID          int        `json:"iid"`
	ProjectID    int        `json:"project_id"`
	Title        string     `json:"title"`
	Description  *string    `json:"description"`
	State        string     `json:"state"`
	CreatedAt    time.Time  `json:"created_at"`
	UpdatedAt    time.Time  `json:"updated_at"`
	ClosedAt     *time.Time `json:"closed_at"`
	MergedAt     *time.Time `json:"merged_at,omitempty"`
	Labels       []string   `json:"labels"`
	Milestone    *Milestone `json:"milestone"`
	Assignees    []User     `json:"assignees"`
	Author       *User      `json:"author"`
	Notes        int        `json:"user_notes_count"` // set by the server
	Confidential bool       `json:"confidential"`
	IssueType    string     `json:"issue_type,omitempty"`
	TargetBranch string     `json:"target_branch,omitempty"`
	WebURL       string     `json:"web_url"`

	Comments []Note `json:"-"`
}

// Milestone is a milestone of a record.
type Milestone struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

// Note is a comment, or an entry that GitLab made itself.
type Note struct {
	ID           int       `json:"id"`
	Type         *string   `json:"type"`
	Body         string    `json:"body"`
	Author       *User     `json:"author"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	System       bool      `json:"system"`
	NoteableType string    `json:"noteable_type"`
	Resolvable   bool      `json:"resolvable"`
	Confidential bool      `json:"confidential"`
	Internal     bool      `json:"internal"`
	Position     *Position `json:"position,omitempty"`

	Unseen bool `json:"-"` // the token may not see it; it counts on its page
}

// Position is the line that a comment on a merge request is about.
type Position struct {
	NewPath string `json:"new_path"`
	OldPath string `json:"old_path"`
	NewLine int    `json:"new_line"`
}

// WikiPage is a page of a wiki.
type WikiPage struct {
	Format   string `json:"format"`
	Slug     string `json:"slug"`
	Title    string `json:"title"`
	Encoding string `json:"encoding"`
	Content  string `json:"content"`
}

// Server is the server. It uses https with the certificate of httptest. Its methods are
// safe for concurrent use.
type Server struct {
	*httptest.Server
	connecttest.Watch // of paths and queries
	mu                sync.Mutex
	projects          []*Project
	moved             map[string]int // ids of projects by their old paths, in lower case
}

// New starts a server without projects. It stops at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{moved: map[string]int{}}
	mux := http.NewServeMux()
	at := func(pattern string, h func(p *Project, w http.ResponseWriter, q *http.Request)) {
		mux.HandleFunc("GET /api/v4/projects/{id}"+pattern, func(w http.ResponseWriter, q *http.Request) { s.serve(w, q, h) })
	}
	at("", describe)
	at("/members/all", members)
	for _, kind := range []string{"issues", "merge_requests"} {
		at("/"+kind, of(kind, list))
		at("/"+kind+"/{iid}", of(kind, one))
		at("/"+kind+"/{iid}/notes", of(kind, notes))
	}
	at("/wikis", wikis)
	at("/repository/commits/{ref}", head)
	at("/repository/tree", tree)
	at("/repository/archive.tar.gz", archive)
	at("/repository/compare", compare)
	at("/repository/files/{path}/raw", raw)
	s.Server = httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Put creates or changes a project.
func (s *Server) Put(path string, change func(p *Project)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(path)
	if p == nil {
		p = &Project{ID: 81 + len(s.projects), Path: path, Visibility: "public", Branch: "main", Levels: map[string]string{}}
		s.projects = append(s.projects, p)
	}
	change(p)
}

// Rename gives a project another path, to which the old one redirects.
func (s *Server) Rename(path, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(path)
	s.moved[strings.ToLower(path)] = p.ID
	p.Path = to
}

func (s *Server) find(path string) *Project {
	i := slices.IndexFunc(s.projects, func(p *Project) bool {
		return strings.EqualFold(p.Path, path) || strconv.Itoa(p.ID) == path
	})
	if i < 0 {
		return nil
	}
	return s.projects[i]
}

func (s *Server) serve(w http.ResponseWriter, q *http.Request, h func(*Project, http.ResponseWriter, *http.Request)) {
	path := strings.TrimPrefix(q.URL.RequestURI(), "/api/v4/projects/")
	for name, value := range map[string]string{"RateLimit-Limit": "2000", "RateLimit-Observed": "1", "RateLimit-Remaining": "1999", "RateLimit-Reset": "1795348800"} {
		w.Header().Set(name, value)
	}
	if _, answered := s.Saw(path, path, w); answered {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	given := q.Header.Get("Authorization")
	switch given {
	case "", "Bearer " + Token:
	case "Bearer " + Scopeless:
		reply(w, http.StatusForbidden, map[string]string{"error": "insufficient_scope", "scope": "ai_workflows api read_api",
			"error_description": "The request requires higher privileges than provided by the access token."})
		return
	case "Bearer " + Expired:
		reply(w, http.StatusUnauthorized, map[string]string{"error": "invalid_token", "error_description": "Token is expired. You can either do re-authorization or token refresh."})
		return
	default:
		refuse(w, http.StatusUnauthorized, "401 Unauthorized")
		return
	}
	id := q.PathValue("id")
	if to := s.moved[strings.ToLower(id)]; to != 0 && s.find(id) == nil {
		_, rest, _ := strings.Cut(path, url.PathEscape(id))
		w.Header().Set("Location", fmt.Sprintf("%s/api/v4/projects/%d%s", s.URL, to, rest))
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	p := s.find(id)
	if p == nil || p.Missing || given == "" && p.Visibility != "public" {
		refuse(w, http.StatusNotFound, "404 Project Not Found")
		return
	}
	h(p, w, q)
}

func refuse(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]string{"message": message})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// paged replies with a page of all, of which seen are shown.
func paged[T any](w http.ResponseWriter, q *http.Request, all []T, seen func(T) bool) {
	query := q.URL.Query()
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(query.Get(name)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	size, page := min(number("per_page", 20), 100), number("page", 1)
	begin := min((page-1)*size, len(all))
	end := min(begin+size, len(all))
	some := []T{}
	for _, one := range all[begin:end] {
		if seen(one) {
			some = append(some, one)
		}
	}
	next := ""
	link := func(page int, rel string) string {
		query.Set("page", strconv.Itoa(page))
		return fmt.Sprintf(`<https://%s%s?%s>; rel=%q`, q.Host, q.URL.EscapedPath(), query.Encode(), rel)
	}
	links := []string{link(1, "first")}
	if end < len(all) {
		next = strconv.Itoa(page + 1)
		links = append(links, link(page+1, "next"))
	}
	w.Header().Set("Link", strings.Join(links, ", "))
	for name, value := range map[string]string{"X-Next-Page": next, "X-Page": strconv.Itoa(page), "X-Per-Page": strconv.Itoa(size), "X-Total": strconv.Itoa(len(all))} {
		w.Header().Set(name, value)
	}
	reply(w, http.StatusOK, some)
}

func every[T any](T) bool { return true }
