// Package confluencetest has a server that behaves like the REST APIs of Confluence Cloud
// or of a Data Center, for spaces whose pages, comments and attachments a test creates. It searches by
// the queries that the connector sends, in pages by cursor or by number; has restrictions,
// space permissions, groups, a trash, and pages that the search or the account misses.
//
// The shapes of its replies follow Atlassian's reference of both APIs, and the fixtures
// and clients of atlassian-python-api, Onyx and Elastic's connectors.
package confluencetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/atlassian/atlassiantest"
)

// Page is a page, or a comment if On is set, or an attachment if File is set too, or a folder.
type Page struct {
	ID      int
	Space   string
	Title   string
	Body    string // storage format
	Parent  int    // 0: none
	On      int    // the page that a comment or an attachment is on
	File    []byte // of an attachment, whose name is Title
	Size    int64  // that the server says of File; 0: its own
	Inline  bool   // a comment on a text of the page
	Labels  []string
	Created time.Time
	Changed time.Time
	Users   []string // who may read it besides Groups; both empty: no restriction
	Groups  []string
	Unseen  int  // users who may read it too, whom the account may not see
	Sparse  bool // searches do not return who may read it
	Silent  bool // nor does a request for that
	Lost    bool // no reply says what it is below
	Trashed bool
	Missed  bool // the search does not find it
	Hidden  bool // the account may not view it
	Folder  bool // of the Cloud
}

// Permission grants a user or a group to view a space.
type Permission struct{ User, Group string }

// Server is the server. A test changes its fields only within Change.
type Server struct {
	*atlassiantest.Server
	Pages  map[int]*Page
	Spaces map[string][]Permission
	Groups map[string][]string // members by group
	Limit  int                 // results of a page at most; 0: as many as asked for
	Secret bool                // the account may not see who may view a space
	Media  *httptest.Server    // the store of files, to which the Cloud redirects downloads
	Leads  string              // where downloads are redirected instead; empty: as the real one does
	now    func() time.Time
	base   string
}

// New starts a server without spaces. It stops at the end of the test.
func New(t testing.TB, cloud bool, now func() time.Time) *Server {
	t.Helper()
	s := &Server{Pages: map[int]*Page{}, Spaces: map[string][]Permission{}, Groups: map[string][]string{}, now: now}
	mux := http.NewServeMux()
	at := func(path string, h http.HandlerFunc) { mux.HandleFunc("GET "+s.base+path, h) }
	if cloud {
		s.base = "/wiki"
		at("/api/v2/spaces", s.spacesV2)
		at("/api/v2/spaces/{id}/permissions", s.permissionsV2)
		at("/api/v2/pages/{id}", s.oneV2)
		at("/api/v2/attachments/{id}", s.oneV2)
		at("/rest/api/content/{page}/child/attachment/{id}/download", s.download)
		at("/api/v2/footer-comments/{id}", s.oneV2)
		at("/api/v2/inline-comments/{id}", s.oneV2)
		at("/rest/api/group/by-id", s.groupByID)
		at("/rest/api/group/{id}/membersByGroupId", s.members)
	} else {
		at("/rest/api/space/{key}", s.space)
		at("/rest/api/space/{key}/permissions", s.permissions)
		at("/rest/api/content/{id}", s.one)
		at("/download/attachments/{page}/{name}", s.download)
		at("/rest/api/group/{id}/member", s.members)
	}
	at("/rest/api/content/search", s.search)
	at("/rest/api/content/{id}/restriction/byOperation/read", s.restriction)
	at("/rest/api/user", s.user)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		atlassiantest.Refuse(w, http.StatusNotFound, "No such resource.")
	})
	s.Server = atlassiantest.New(t, cloud, mux)
	s.Media = httptest.NewTLSServer(http.HandlerFunc(s.media))
	t.Cleanup(s.Media.Close)
	return s
}

// Change changes what the server has.
func (s *Server) Change(change func()) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	change()
}

// Put creates or replaces a page or comment.
func (s *Server) Put(p Page) {
	s.Change(func() { s.Pages[p.ID] = &p })
}

var (
	listForm = regexp.MustCompile(`^space = "([^"]+)" and type = (page|comment|attachment)(?: and lastmodified >= now\("-(\d+)m"\))? order by (created|lastmodified) desc$`)
	idsForm  = regexp.MustCompile(`^id in \(([0-9,]+)\)$`)
)

// search replies to a query in one of the forms that were recorded.
func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	var found []*Page
	if ids := idsForm.FindStringSubmatch(q.Get("cql")); ids != nil {
		for one := range strings.SplitSeq(ids[1], ",") {
			n, _ := strconv.Atoi(one)
			if p := s.Pages[n]; p != nil && s.visible(p) && !p.Missed {
				found = append(found, p)
			}
		}
	} else if list := listForm.FindStringSubmatch(q.Get("cql")); list != nil {
		found = s.list(list[1], list[2], list[3], list[4])
	} else {
		atlassiantest.Refuse(w, http.StatusBadRequest, "Could not parse cql : "+q.Get("cql"))
		return
	}
	limit, _ := strconv.Atoi(q.Get("limit"))
	if s.Limit > 0 {
		limit = min(limit, s.Limit)
	}
	start, _ := strconv.Atoi(q.Get("start"))
	if cursor := q.Get("cursor"); cursor != "" {
		var after int64
		if _, err := fmt.Sscanf(cursor, "_sa_%d_%d", &after, &start); err != nil {
			atlassiantest.Refuse(w, http.StatusBadRequest, "Invalid cursor")
			return
		}
		start = slices.IndexFunc(found, func(p *Page) bool { // what follows the last result, whatever happened before it
			at := sortTime(q.Get("cql"), p).UnixMilli()
			return at < after || at == after && p.ID > start
		})
		if start < 0 {
			start = len(found)
		}
	}
	start = min(start, len(found))
	end := min(start+limit, len(found))
	results := []any{}
	for _, p := range found[start:end] {
		results = append(results, s.content(r, p))
	}
	links := map[string]string{"base": s.URL + s.base, "context": s.base}
	if end < len(found) {
		if s.Cloud {
			last := found[end-1]
			q.Set("next", "true")
			q.Set("cursor", fmt.Sprintf("_sa_%d_%d", sortTime(q.Get("cql"), last).UnixMilli(), last.ID))
		} else {
			q.Set("start", strconv.Itoa(end))
		}
		links["next"] = "/rest/api/content/search?" + q.Encode()
	}
	atlassiantest.Answer(w, map[string]any{"results": results, "start": start, "limit": limit, "size": len(results), "_links": links})
}

func sortTime(cql string, p *Page) time.Time {
	if strings.Contains(cql, "order by created") {
		return p.Created
	}
	return p.Changed
}

// list returns the content of a kind and a space that changed in the last minutes.
func (s *Server) list(space, kind, minutes, order string) []*Page {
	var found []*Page
	for _, p := range s.Pages {
		on := s.Pages[p.On]
		if !strings.EqualFold(p.Space, space) || kindOf(p) != kind || !s.visible(p) || p.Missed || on != nil && !s.visible(on) {
			continue
		}
		if n, err := strconv.Atoi(minutes); err == nil && p.Changed.Before(s.now().Add(-time.Duration(n)*time.Minute)) {
			continue
		}
		found = append(found, p)
	}
	slices.SortFunc(found, func(a, b *Page) int {
		if c := sortTime("order by "+order, b).Compare(sortTime("order by "+order, a)); c != 0 {
			return c
		}
		return a.ID - b.ID
	})
	return found
}

func (s *Server) visible(p *Page) bool { return !p.Trashed && !p.Hidden }

// content returns p with the expansions that r asks for.
func (s *Server) content(r *http.Request, p *Page) map[string]any {
	links := map[string]string{"self": s.URL}
	c := map[string]any{"id": s.idOf(p), "type": kindOf(p), "status": status(p), "title": p.Title, "_links": links}
	if p.File != nil {
		links["download"] = "/download/attachments/" + strconv.Itoa(p.On) + "/" + url.PathEscape(p.Title) + "?version=2&modificationDate=" + strconv.FormatInt(p.Changed.UnixMilli(), 10) + "&api=v2"
		c["extensions"] = map[string]any{"mediaType": "application/octet-stream", "fileSize": cmp.Or(p.Size, int64(len(p.File))), "comment": ""}
	}
	if atlassiantest.Expanded(r, "space") {
		c["space"] = map[string]any{"id": spaceID(p.Space), "key": p.Space, "name": "Space " + p.Space}
	}
	if atlassiantest.Expanded(r, "body") {
		c["body"] = map[string]any{"storage": map[string]any{"value": p.Body, "representation": "storage", "embeddedContent": []any{}}}
	}
	if atlassiantest.Expanded(r, "version") {
		c["version"] = map[string]any{"when": p.Changed.Format("2006-01-02T15:04:05.000Z07:00"), "number": 2, "by": s.person("grace"), "minorEdit": false}
	}
	if atlassiantest.Expanded(r, "history") {
		c["history"] = map[string]any{"latest": true, "createdDate": p.Created.Format("2006-01-02T15:04:05.000Z07:00"), "createdBy": s.person("ada")}
	}
	if atlassiantest.Expanded(r, "metadata") {
		labels := []any{}
		for _, l := range p.Labels {
			labels = append(labels, map[string]string{"prefix": "global", "name": l, "id": "1", "label": l})
		}
		c["metadata"] = map[string]any{"labels": map[string]any{"results": labels, "size": len(labels)}}
	}
	if atlassiantest.Expanded(r, "ancestors") {
		above := []any{}
		for up := s.Pages[p.Parent]; up != nil; up = s.Pages[up.Parent] {
			above = append([]any{map[string]any{"id": strconv.Itoa(up.ID), "type": kindOf(up), "status": status(up), "title": up.Title}}, above...)
		}
		if !p.Lost {
			c["ancestors"] = above
		}
	}
	if on := s.Pages[p.On]; on != nil && atlassiantest.Expanded(r, "container") {
		c["container"] = map[string]any{"id": json.Number(strconv.Itoa(on.ID)), "type": "page", "title": on.Title}
	}
	if atlassiantest.Expanded(r, "restrictions") {
		c["restrictions"] = map[string]any{"read": s.restrictions(p, p.Sparse)}
	}
	return c
}

func kindOf(p *Page) string {
	switch {
	case p.File != nil:
		return "attachment"
	case p.On != 0:
		return "comment"
	case p.Folder:
		return "folder"
	default:
		return "page"
	}
}

// idOf returns the id of p, which begins with att for an attachment of the Cloud.
func (s *Server) idOf(p *Page) string {
	if s.Cloud && p.File != nil {
		return "att" + strconv.Itoa(p.ID)
	}
	return strconv.Itoa(p.ID)
}

// download replies with an attachment, or leads to the store of files.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	var found *Page
	for _, p := range s.Pages {
		if p.File != nil && s.visible(p) && strconv.Itoa(p.On) == r.PathValue("page") && (s.Cloud && s.idOf(p) == r.PathValue("id") || !s.Cloud && p.Title == r.PathValue("name")) {
			found = p
		}
	}
	switch {
	case found == nil || r.URL.Query().Get("version") != "2":
		atlassiantest.Refuse(w, http.StatusNotFound, "No such attachment.")
	case s.Leads != "":
		http.Redirect(w, r, s.Leads, http.StatusFound)
	case s.Cloud:
		http.Redirect(w, r, s.Media.URL+"/file/"+strconv.Itoa(found.ID)+"/binary?token=signed", http.StatusFound)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(found.File)
	}
}

// media is the store of files. It refuses credentials that are not its own.
func (s *Server) media(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	n, _ := strconv.Atoi(strings.Split(r.URL.Path+"//", "/")[2])
	p := s.Pages[n]
	if p == nil || r.URL.Query().Get("token") != "signed" || r.Header.Get("Authorization") != "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(p.File)
}

func status(p *Page) string {
	if p.Trashed {
		return "trashed"
	}
	return "current"
}
