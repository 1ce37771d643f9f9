package gitlabtest

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

func describe(p *Project, w http.ResponseWriter, q *http.Request) {
	about := map[string]any{"id": p.ID, "path_with_namespace": p.Path}
	if len(p.Commits) > 0 && !p.NoCode {
		about["default_branch"] = p.Branch
	} else {
		about["default_branch"] = nil
	}
	if q.Header.Get("Authorization") == "" { // BasicProjectDetails in GitLab's code
		reply(w, http.StatusOK, about)
		return
	}
	about["visibility"], about["archived"], about["empty_repo"] = p.Visibility, false, len(p.Commits) == 0
	for _, part := range []string{"issues", "merge_requests", "wiki", "repository"} {
		level := p.Levels[part]
		if level == "" {
			level = "enabled"
		}
		if level == Untold {
			continue
		}
		about[part+"_access_level"] = level
	}
	reply(w, http.StatusOK, about)
}

func members(p *Project, w http.ResponseWriter, q *http.Request) {
	if p.NoMembers || q.Header.Get("Authorization") == "" {
		refuse(w, http.StatusForbidden, "403 Forbidden")
		return
	}
	paged(w, q, p.Members, every[Member])
}

// records returns the records of a kind; nil: they are switched off, or there is no such
// kind.
func (p *Project) records(kind string) *[]Record {
	switch {
	case p.Levels[kind] == "disabled":
		return nil
	case kind == "issues":
		return &p.Issues
	case kind == "merge_requests":
		return &p.MergeRequests
	default:
		return nil
	}
}

// isClosed reports whether a part is switched off, or for members only and there is no token.
func (p *Project) isClosed(part string, q *http.Request) bool {
	return p.Levels[part] == "disabled" || p.Levels[part] == "private" && q.Header.Get("Authorization") == ""
}

// of returns h for the records of a kind.
func of(kind string, h func(p *Project, w http.ResponseWriter, q *http.Request)) func(p *Project, w http.ResponseWriter, q *http.Request) {
	return func(p *Project, w http.ResponseWriter, q *http.Request) {
		q.SetPathValue("kind", kind)
		h(p, w, q)
	}
}

func list(p *Project, w http.ResponseWriter, q *http.Request) {
	all := p.records(q.PathValue("kind"))
	if all == nil || p.isClosed(q.PathValue("kind"), q) {
		refuse(w, http.StatusForbidden, "403 Forbidden")
		return
	}
	query := q.URL.Query()
	if query.Has("order_by") && (query.Get("order_by") != "updated_at" || query.Get("sort") != "asc" || query.Get("state") != "all") {
		refuse(w, http.StatusBadRequest, "not recorded")
		return
	}
	after, _ := time.Parse(time.RFC3339, query.Get("updated_after"))
	matching := []Record{}
	for _, r := range *all {
		if r.UpdatedAt.Before(after) || r.Confidential && q.Header.Get("Authorization") == "" {
			continue
		}
		matching = append(matching, r.counted())
	}
	slices.SortStableFunc(matching, func(a, b Record) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	paged(w, q, matching, every[Record])
}

// counted returns r with the number of its comments.
func (r Record) counted() Record {
	r.Notes = len(slices.DeleteFunc(slices.Clone(r.Comments), func(n Note) bool { return n.System }))
	return r
}

// find returns the record that q asks for.
func (p *Project) find(q *http.Request) *Record {
	all := p.records(q.PathValue("kind"))
	if all == nil {
		return nil
	}
	i := slices.IndexFunc(*all, func(r Record) bool { return strconv.Itoa(r.IID) == q.PathValue("iid") })
	if i < 0 {
		return nil
	}
	return &(*all)[i]
}

func one(p *Project, w http.ResponseWriter, q *http.Request) {
	if r := p.find(q); r != nil {
		reply(w, http.StatusOK, r.counted())
		return
	}
	refuse(w, http.StatusNotFound, "404 Not found")
}

func notes(p *Project, w http.ResponseWriter, q *http.Request) {
	r := p.find(q)
	if r == nil {
		refuse(w, http.StatusNotFound, "404 Not found")
		return
	}
	all := slices.Clone(r.Comments)
	if q.URL.Query().Get("activity_filter") == "only_comments" {
		all = slices.DeleteFunc(all, func(n Note) bool { return n.System })
	}
	if q.URL.Query().Get("sort") != "asc" {
		slices.Reverse(all)
	}
	paged(w, q, all, func(n Note) bool { return !n.Unseen })
}

func wikis(p *Project, w http.ResponseWriter, q *http.Request) {
	if p.isClosed("wiki", q) {
		refuse(w, http.StatusForbidden, "403 Forbidden")
		return
	}
	all := append([]WikiPage{}, p.Wiki...)
	if q.URL.Query().Get("with_content") != "1" {
		for i := range all {
			all[i].Content = ""
		}
	}
	reply(w, http.StatusOK, all)
}

// touchInterval is how long a comment does not change the time of its record again.
const touchInterval = time.Minute

// Comment adds a note to a record at a time, as a person or GitLab does.
func (s *Server) Comment(path, kind string, iid int, n Note, at time.Time) {
	s.Put(path, func(p *Project) {
		for i := range *p.records(kind) {
			r := &(*p.records(kind))[i]
			if r.IID != iid {
				continue
			}
			n.ID, n.CreatedAt, n.UpdatedAt = iid*1000+len(r.Comments), at, at
			if n.Author == nil {
				n.Author = NewUser("grace")
			}
			r.Comments = append(r.Comments, n)
			if at.Sub(r.UpdatedAt) > touchInterval {
				r.UpdatedAt = at
			}
		}
	})
}
