package github

import (
	"strconv"
	"time"

	"docent/shared/source"
)

// User is an account. A deleted account is null and gets no login.
type User struct {
	Login string `json:"login"`
}

// Pull contains the additional fields of an issue that is a pull request.
type Pull struct {
	MergedAt *time.Time `json:"merged_at"`
}

// Issue is an issue or a pull request, in events and in lists.
type Issue struct {
	HTMLURL   string `json:"html_url"`
	Number    int    `json:"number"`
	Title     string `json:"title"`
	Body      string `json:"body"`
	State     string `json:"state"`
	User      User   `json:"user"`
	Assignees []User `json:"assignees"`
	Labels    []struct {
		Name string `json:"name"`
	} `json:"labels"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	ClosedAt  *time.Time `json:"closed_at"`
	MergedAt  *time.Time `json:"merged_at"`    // set in pull request events
	Pull      *Pull      `json:"pull_request"` // set if an issue is a pull request
}

// Item returns g as an item of a project.
func (g Issue) Item(project string) *source.Item {
	i := &source.Item{URI: g.HTMLURL, Title: source.ClipTitle(g.Title), Body: g.Body, SourceType: "issue", Author: g.User.Login, Project: project,
		Number: strconv.Itoa(g.Number), State: g.State, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt}
	for _, a := range g.Assignees[:min(len(g.Assignees), source.MaxListed)] {
		i.Assignees = append(i.Assignees, a.Login)
	}
	for _, l := range g.Labels[:min(len(g.Labels), source.MaxListed)] {
		i.Labels = append(i.Labels, l.Name)
	}
	if g.ClosedAt != nil {
		i.ClosedAt = *g.ClosedAt
	}
	mergedAt := g.MergedAt
	if g.Pull != nil {
		i.SourceType = "pull_request"
		if mergedAt == nil {
			mergedAt = g.Pull.MergedAt
		}
	}
	if mergedAt != nil {
		i.MergedAt, i.State = *mergedAt, source.StateMerged
	}
	return i
}

// Review is what a reviewer says of a pull request as a whole, in events.
type Review struct {
	HTMLURL     string    `json:"html_url"`
	Body        string    `json:"body"`
	User        User      `json:"user"`
	SubmittedAt time.Time `json:"submitted_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Item returns r as an item of a project, about the pull request with this number and title. An empty title means unknown.
func (r Review) Item(project, number, title string) *source.Item {
	i := &source.Item{URI: r.HTMLURL, Title: "Review of #" + number, Body: r.Body, SourceType: "pull_request", Author: r.User.Login,
		Project: project, CreatedAt: r.SubmittedAt, UpdatedAt: r.UpdatedAt, Comment: true}
	if r.UpdatedAt.Before(r.SubmittedAt) {
		i.UpdatedAt = r.SubmittedAt
	}
	if title != "" {
		i.Title = source.ClipTitle(i.Title + ": " + title)
	}
	return i
}

// Comment is a comment on an issue, on a pull request or on a line of one.
type Comment struct {
	HTMLURL        string    `json:"html_url"`
	IssueURL       string    `json:"issue_url"`        // in lists, for a comment on an issue or pull request
	PullRequestURL string    `json:"pull_request_url"` // in lists, for a comment on a line
	Body           string    `json:"body"`
	User           User      `json:"user"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// Item returns c as an item of a project, about the issue or pull request with this
// number and title. An empty title means unknown.
func (c Comment) Item(project, number, title string, pull bool) *source.Item {
	i := &source.Item{URI: c.HTMLURL, Title: "Comment on #" + number, Body: c.Body, SourceType: "issue", Author: c.User.Login,
		Project: project, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Comment: true}
	if pull {
		i.SourceType = "pull_request"
	}
	if title != "" {
		i.Title = source.ClipTitle(i.Title + ": " + title)
	}
	return i
}
