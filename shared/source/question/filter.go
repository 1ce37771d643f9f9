package question

import (
	"slices"
	"strings"
	"time"

	"docent/shared/document"
	"docent/shared/search"
)

// Role is what a person is to an issue or pull request.
type Role string

// The roles. Empty means either.
const (
	Author   Role = "author"
	Assignee Role = "assignee"
)

// Order is the order of the results of a query.
type Order string

// The orders. ByCreated and ByUpdated have the newest first.
const (
	ByRelevance Order = "relevance"
	ByCreated   Order = "created"
	ByUpdated   Order = "updated"
)

// Span is a time from After, inclusive, to Before, exclusive; zero: no limit.
type Span struct{ After, Before time.Time }

func (s Span) isZero() bool { return s.After.IsZero() && s.Before.IsZero() }

// contains reports whether t is in s. The zero time, for unknown, is only in the
// zero span.
func (s Span) contains(t time.Time) bool {
	if s.isZero() {
		return true
	}
	return !t.IsZero() && !t.Before(s.After) && (s.Before.IsZero() || t.Before(s.Before))
}

// Filter selects issues or pull requests. Zero fields select everything.
type Filter struct {
	Projects  []string // any of these; "api" also means "acme/api"
	Labels    []string // all of these
	User      string   // a name, or Me
	Role      Role
	State     string
	Created   Span
	Updated   Span
	Completed Span // closed for issues, merged for pull requests
	Sort      Order
}

// Me is the User of a filter that means the caller.
const Me = "me"

// over returns f with its zero fields taken from understood.
func (f Filter) over(understood Filter) Filter {
	out := understood
	if f.Projects != nil {
		out.Projects = f.Projects
	}
	if f.Labels != nil {
		out.Labels = f.Labels
	}
	if f.User != "" {
		out.User, out.Role = f.User, f.Role
	}
	if f.State != "" {
		out.State = f.State
	}
	for _, span := range []struct{ from, to *Span }{{&f.Created, &out.Created}, {&f.Updated, &out.Updated}, {&f.Completed, &out.Completed}} {
		if !span.from.isZero() {
			*span.to = *span.from
		}
	}
	if f.Sort != "" {
		out.Sort = f.Sort
	}
	return out
}

// matches reports whether f selects e; user are the names of f.User.
func (f Filter) matches(e document.Entry, user []string) bool {
	facts := e.Facts
	if facts == nil || f.State != "" && facts.State != f.State {
		return false
	}
	if len(f.Projects) > 0 && !slices.ContainsFunc(f.Projects, func(p string) bool { return sameProject(p, facts.Project) }) {
		return false
	}
	for _, l := range f.Labels {
		if !slices.ContainsFunc(facts.Labels, func(own string) bool { return strings.EqualFold(l, own) }) {
			return false
		}
	}
	if f.User != "" {
		is := func(name string) bool {
			return slices.ContainsFunc(user, func(u string) bool { return strings.EqualFold(u, name) })
		}
		author, assignee := is(facts.Author), slices.ContainsFunc(facts.Assignees, is)
		if f.Role == Author && !author || f.Role == Assignee && !assignee || !author && !assignee {
			return false
		}
	}
	completed := facts.Closed
	if facts.Space == search.PRs {
		completed = facts.Merged
	}
	return f.Created.contains(e.CreatedAt) && f.Updated.contains(e.UpdatedAt) && f.Completed.contains(completed)
}

func sameProject(asked, own string) bool {
	if strings.EqualFold(asked, own) {
		return true
	}
	_, name, ok := strings.Cut(own, "/")
	return ok && strings.EqualFold(asked, name)
}

// names returns the names that a provider may have for a user: the name without a
// leading @ and, for an e-mail address, also the part before the @.
func names(user string) []string {
	user = strings.TrimPrefix(user, "@")
	out := []string{user}
	if local, _, ok := strings.Cut(user, "@"); ok && local != "" {
		out = append(out, local)
	}
	return out
}
