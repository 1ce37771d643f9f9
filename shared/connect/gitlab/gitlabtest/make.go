package gitlabtest

import (
	"fmt"
	"time"
)

// Day is the creation time of everything that this package makes.
var Day = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// NewUser returns an account.
func NewUser(name string) *User {
	return &User{ID: len(name), Username: name, Name: name, State: "active"}
}

// NewMember returns an active member with a role and a public email, which may be empty.
func NewMember(name string, level int, email string) Member {
	return Member{ID: len(name), Username: name, Name: name, State: "active", MembershipState: "active", AccessLevel: level, PublicEmail: email}
}

// NewIssue returns an open issue, last changed n minutes after Day.
func NewIssue(n int, title string) Record {
	text := "Text of " + title + "."
	return Record{ID: 1000 + n, IID: n, Title: title, Description: &text, State: "opened", Author: NewUser("ada"), Labels: []string{}, Assignees: []User{},
		CreatedAt: Day, UpdatedAt: Day.Add(time.Duration(n) * time.Minute), IssueType: "issue"}
}

// NewMergeRequest returns a merge request, merged at its last change.
func NewMergeRequest(n int, title string) Record {
	r := NewIssue(n, title)
	r.State, r.IssueType, r.TargetBranch, r.MergedAt = "merged", "", "main", &r.UpdatedAt
	return r
}

// NewWikiPage returns a page of a wiki.
func NewWikiPage(slug, title string) WikiPage {
	return WikiPage{Format: "markdown", Slug: slug, Title: title, Encoding: "UTF-8", Content: fmt.Sprintf("Text of %s.", title)}
}
