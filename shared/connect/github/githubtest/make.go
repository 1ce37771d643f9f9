package githubtest

import (
	"fmt"
	"time"
)

// Day is the creation time of everything that this package makes.
var Day = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// NewIssue returns an open issue of a repository, last changed n minutes after Day.
func (s *Server) NewIssue(repository string, n int, title string) Issue {
	body := "Text of " + title + "."
	return Issue{HTMLURL: fmt.Sprintf("%s/%s/issues/%d", s.URL, repository, n), Number: n, Title: title, Body: &body, State: "open",
		User: &User{"ada"}, CreatedAt: Day, UpdatedAt: Day.Add(time.Duration(n) * time.Minute)}
}

// NewPull returns a pull request, merged at its last change.
func (s *Server) NewPull(repository string, n int, title string) Issue {
	i := s.NewIssue(repository, n, title)
	i.HTMLURL = fmt.Sprintf("%s/%s/pull/%d", s.URL, repository, n)
	i.State, i.ClosedAt = "closed", &i.UpdatedAt
	i.Pull = &Pull{i.HTMLURL, &i.UpdatedAt}
	return i
}

// NewComment returns a comment on i.
func (s *Server) NewComment(repository string, id int, on Issue, text string) Comment {
	return Comment{ID: id, HTMLURL: fmt.Sprintf("%s#issuecomment-%d", on.HTMLURL, id), IssueURL: fmt.Sprintf("%s/repos/%s/issues/%d", s.API(), repository, on.Number),
		Body: text, User: &User{"grace"}, CreatedAt: Day, UpdatedAt: Day.Add(time.Duration(id) * time.Minute)}
}

// NewReview returns a comment on a line of i.
func (s *Server) NewReview(repository string, id int, on Issue, text string) Comment {
	c := s.NewComment(repository, id, on, text)
	c.HTMLURL = fmt.Sprintf("%s#discussion_r%d", on.HTMLURL, id)
	c.IssueURL, c.PullRequestURL = "", fmt.Sprintf("%s/repos/%s/pulls/%d", s.API(), repository, on.Number)
	return c
}
