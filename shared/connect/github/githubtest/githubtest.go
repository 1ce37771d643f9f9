// Package githubtest has a server that behaves like GitHub's API, for repositories
// whose issues, comments and files a test creates. It supports pages, entity tags,
// rate limits and failures.
package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/connect/connecttest"
)

// Token is the access token that the server accepts.
const Token = "ghp_recorded"

// Repository is a repository on the server.
type Repository struct {
	Issues   []Issue // and pull requests
	Comments []Comment
	Reviews  []Comment
	Verdicts []Review // which REST calls reviews
	Slow     []int    // numbers of pull requests whose verdicts GraphQL fails to return
	Null     []int    // numbers of pull requests that GraphQL fails to return
	Branch   string   // the default branch
	Left     string   // a branch that stays at the first commit
	Commits  []Commit // the last one is the head of Branch
	Missing  bool     // it is no longer visible
	NoIssues bool     // issues are switched off, on a server that then lists no pull requests as issues either
	NoPulls  bool     // pull requests are switched off
	Away     bool     // GitHub cannot read its commits for now
	Moved    string   // its new name, to which the old one redirects
}

// Issue is an issue or a pull request in the form of GitHub's lists.
type Issue struct {
	HTMLURL   string     `json:"html_url"`
	Number    int        `json:"number"`
	Title     string     `json:"title"`
	Body      *string    `json:"body"`
	State     string     `json:"state"`
	User      *User      `json:"user"`
	Assignees []User     `json:"assignees"`
	Labels    []Label    `json:"labels"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	ClosedAt  *time.Time `json:"closed_at"`
	Spam      bool       `json:"-"` // lists leave it out of their pages, which are shorter then
	Pull      *Pull      `json:"pull_request,omitempty"`
	recorded  json.RawMessage
}

// User is an account.
type User struct {
	Login string `json:"login"`
}

// Label is a label of an issue.
type Label struct {
	Name string `json:"name"`
}

// Pull contains the additional fields of an issue that is a pull request.
type Pull struct {
	HTMLURL  string     `json:"html_url"`
	MergedAt *time.Time `json:"merged_at"`
}

// Comment is a comment on an issue or, with PullRequestURL, on a line.
type Comment struct {
	ID             int       `json:"id"`
	HTMLURL        string    `json:"html_url"`
	IssueURL       string    `json:"issue_url,omitempty"`
	PullRequestURL string    `json:"pull_request_url,omitempty"`
	Body           string    `json:"body"`
	User           *User     `json:"user"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
	recorded       json.RawMessage
}

// Server is the server. It uses https with the certificate of httptest. Its methods are
// safe for concurrent use.
type Server struct {
	*httptest.Server
	connecttest.Watch // of paths and queries, followed by " 304" if that was the status
	mu                sync.Mutex
	repositories      map[string]*Repository // by lower-case name
	anyToken          bool
}

// New starts a server without repositories. It stops at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{repositories: map[string]*Repository{}}
	mux := http.NewServeMux()
	at := func(pattern string, h func(r *Repository, w http.ResponseWriter, q *http.Request)) {
		mux.HandleFunc("GET /api/v3/repos/{owner}/{name}"+pattern, func(w http.ResponseWriter, q *http.Request) { s.serve(w, q, h) })
	}
	at("", s.repository)
	at("/issues", func(r *Repository, w http.ResponseWriter, q *http.Request) {
		list(w, q, r.Issues, issueTime, func(i Issue) bool { return i.Spam })
	})
	at("/issues/comments", func(r *Repository, w http.ResponseWriter, q *http.Request) { list(w, q, r.Comments, commentTime, nil) })
	at("/pulls/comments", func(r *Repository, w http.ResponseWriter, q *http.Request) { list(w, q, r.Reviews, commentTime, nil) })
	at("/issues/{number}", func(r *Repository, w http.ResponseWriter, q *http.Request) {
		one(w, r.Issues, func(i Issue) bool { return strconv.Itoa(i.Number) == q.PathValue("number") })
	})
	at("/issues/comments/{id}", func(r *Repository, w http.ResponseWriter, q *http.Request) { oneComment(w, q, r.Comments) })
	at("/pulls/comments/{id}", func(r *Repository, w http.ResponseWriter, q *http.Request) { oneComment(w, q, r.Reviews) })
	at("/pulls/{number}/reviews/{id}", review)
	at("/commits/{ref...}", head)
	at("/tarball/{sha}", func(_ *Repository, w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, "/codeload/"+q.PathValue("owner")+"/"+q.PathValue("name")+"/"+q.PathValue("sha"), http.StatusFound) //nolint:gosec // a path of this server
	})
	mux.HandleFunc("GET /codeload/{owner}/{name}/{sha}", func(w http.ResponseWriter, q *http.Request) { s.serve(w, q, archive) })
	mux.HandleFunc("POST /api/graphql", s.graphQL)
	at("/compare/{span}", compare)
	at("/git/blobs/{sha}", blob)
	at("/contents/{path...}", contents)
	at("/git/trees/{sha}", tree)
	s.Server = httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	return s
}

// API returns the base URL of the API.
func (s *Server) API() string { return s.URL + "/api/v3" }

// Put creates or changes a repository.
func (s *Server) Put(name string, change func(r *Repository)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = strings.ToLower(name)
	if s.repositories[name] == nil {
		s.repositories[name] = &Repository{Branch: "main"}
	}
	change(s.repositories[name])
}

// AnyToken makes the server accept any token, or none.
func (s *Server) AnyToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.anyToken = true
}

func (s *Server) serve(w http.ResponseWriter, q *http.Request, h func(*Repository, http.ResponseWriter, *http.Request)) {
	path := strings.TrimPrefix(q.URL.RequestURI(), "/api/v3/repos/")
	number, answered := s.Saw(path, path, w)
	if answered {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repositories[strings.ToLower(q.PathValue("owner")+"/"+q.PathValue("name"))]
	given := q.Header.Get("Authorization")
	switch {
	case strings.HasPrefix(q.URL.Path, "/codeload/") && given == "":
	case given != "Bearer "+Token && !s.anyToken:
		refuse(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	if r == nil || r.Missing {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	if r.Moved != "" {
		_, rest, _ := strings.Cut(path, "/")
		_, rest, below := strings.Cut(rest, "/")
		if below {
			rest = "/" + rest
		}
		w.Header().Set("Location", s.API()+"/repos/"+r.Moved+rest)
		refuse(w, http.StatusMovedPermanently, "Moved Permanently")
		return
	}
	reply := httptest.NewRecorder()
	switch rest := "/" + strings.Join(strings.Split(strings.Split(path, "?")[0], "/")[2:], "/"); {
	case r.NoIssues && strings.HasPrefix(rest, "/issues"):
		refuse(reply, http.StatusGone, "Issues are disabled for this repo")
	case r.NoPulls && strings.HasPrefix(rest, "/pulls"):
		refuse(reply, http.StatusNotFound, "Not Found")
	default:
		h(r, reply, q)
	}
	tag := reply.Header().Get("ETag")
	if reply.Code == http.StatusOK && tag == "" {
		sum := fnv.New64a()
		sum.Write(reply.Body.Bytes())
		tag = fmt.Sprintf(`W/"%x"`, sum.Sum64())
	}
	for name, values := range reply.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("ETag", tag)
	if tag != "" && q.Header.Get("If-None-Match") == tag {
		s.Note(number, " 304")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(reply.Code)
	_, _ = w.Write(reply.Body.Bytes())
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message, "documentation_url": "https://docs.github.com/rest"})
}

func (s *Server) repository(r *Repository, w http.ResponseWriter, q *http.Request) {
	answer(w, map[string]any{"full_name": q.PathValue("owner") + "/" + q.PathValue("name"), "default_branch": r.Branch, "has_issues": !r.NoIssues, "has_pull_requests": !r.NoPulls})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v)
}

func issueTime(i Issue) time.Time     { return i.UpdatedAt }
func commentTime(c Comment) time.Time { return c.UpdatedAt }

// list replies with a page of the records changed since a time, oldest change first, without those that are spam.
func list[T any](w http.ResponseWriter, q *http.Request, all []T, at func(T) time.Time, spam func(T) bool) {
	query := q.URL.Query()
	since, _ := time.Parse(time.RFC3339, query.Get("since"))
	size, _ := strconv.Atoi(cmp.Or(query.Get("per_page"), "30"))
	page, _ := strconv.Atoi(cmp.Or(query.Get("page"), "1"))
	if query.Get("sort") != "updated" || query.Get("direction") != "asc" {
		refuse(w, http.StatusUnprocessableEntity, "not recorded")
		return
	}
	matching := []T{}
	for _, one := range all {
		if !at(one).Before(since) {
			matching = append(matching, one)
		}
	}
	slices.SortStableFunc(matching, func(a, b T) int { return at(a).Compare(at(b)) })
	begin := min((page-1)*size, len(matching))
	end := min(begin+size, len(matching))
	if end < len(matching) {
		query.Set("page", strconv.Itoa(page+1))
		w.Header().Set("Link", fmt.Sprintf(`<https://%s%s?%s>; rel="next"`, q.Host, q.URL.Path, query.Encode()))
	}
	some := slices.Clone(matching[begin:end])
	if spam != nil {
		some = slices.DeleteFunc(some, spam)
	}
	answer(w, append([]T{}, some...)) // never null
}

func one[T any](w http.ResponseWriter, all []T, is func(T) bool) {
	for _, one := range all {
		if is(one) {
			answer(w, one)
			return
		}
	}
	refuse(w, http.StatusNotFound, "Not Found")
}

func oneComment(w http.ResponseWriter, q *http.Request, all []Comment) {
	one(w, all, func(c Comment) bool { return strconv.Itoa(c.ID) == q.PathValue("id") })
}
