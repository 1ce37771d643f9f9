package gitlab

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"docent/shared/filter"
	"docent/shared/source"
)

// user is an account. A deleted one is null or Ghost User.
type user struct {
	Username string `json:"username"`
}

// record is an issue or a merge request.
type record struct {
	Number       int        `json:"iid"`
	Title        string     `json:"title"`
	Description  string     `json:"description"`
	State        string     `json:"state"`
	Author       user       `json:"author"`
	Assignees    []user     `json:"assignees"`
	Labels       []string   `json:"labels"`
	CreatedAt    time.Time  `json:"created_at"`
	UpdatedAt    time.Time  `json:"updated_at"`
	ClosedAt     *time.Time `json:"closed_at"`
	MergedAt     *time.Time `json:"merged_at"`
	Notes        int        `json:"user_notes_count"`
	Confidential *bool      `json:"confidential"` // nil: not told
	Type         string     `json:"issue_type"`
	Target       string     `json:"target_branch"`
	Milestone    *struct {
		Title string `json:"title"`
	} `json:"milestone"`
}

// note is a comment.
type note struct {
	Body         string    `json:"body"`
	Author       user      `json:"author"`
	CreatedAt    time.Time `json:"created_at"`
	System       bool      `json:"system"`
	Internal     *bool     `json:"internal"`     // nil: not told
	Confidential *bool     `json:"confidential"` // the name of Internal before 15.5
	Position     *struct {
		Path string `json:"new_path"`
		Line int    `json:"new_line"`
	} `json:"position"`
}

// item returns r with its comments as an item.
func (r record) item(kind, project, uri string, notes []note) *source.Item {
	i := &source.Item{URI: uri, Title: source.ClipTitle(r.Title), Body: text(r.Description, notes), SourceType: "issue", Author: r.Author.Username, Project: project,
		Number: strconv.Itoa(r.Number), State: source.StateOpen, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	if kind == merges {
		i.SourceType = "pull_request"
	}
	switch r.State {
	case source.StateClosed, source.StateMerged:
		i.State = r.State
	}
	if r.ClosedAt != nil {
		i.ClosedAt = *r.ClosedAt
	}
	if r.MergedAt != nil && i.State == source.StateMerged {
		i.MergedAt = *r.MergedAt
		if i.ClosedAt.IsZero() {
			i.ClosedAt = i.MergedAt
		}
	}
	for _, a := range r.Assignees[:min(len(r.Assignees), source.MaxListed)] {
		i.Assignees = append(i.Assignees, a.Username)
	}
	for _, l := range r.Labels[:min(len(r.Labels), source.MaxListed)] {
		i.Labels = append(i.Labels, string([]rune(l)[:min(utf8.RuneCountInString(l), source.MaxLabel)])) // GitLab allows 255
	}
	i.Metadata = r.metadata()
	return i
}

const confidentialName = "confidential" // in metadata

// metadata returns what filters select by, besides the facts of an item.
func (r record) metadata() filter.Metadata {
	m := filter.Metadata{}
	if r.Milestone != nil && r.Milestone.Title != "" {
		m["milestone"] = filter.Text(r.Milestone.Title)
	}
	if r.Type != "" && r.Type != "issue" {
		m["issueType"] = filter.Text(r.Type)
	}
	if r.Target != "" {
		m["targetBranch"] = filter.Text(r.Target)
	}
	if r.Confidential != nil && *r.Confidential {
		m[confidentialName] = filter.Bool(true)
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// involved returns who wrote r or is assigned to it.
func (r record) involved() map[string]bool {
	all := map[string]bool{r.Author.Username: true}
	for _, a := range r.Assignees {
		all[a.Username] = true
	}
	return all
}

// isConfidential reports whether r is an issue that fewer people may read than others, or GitLab does not tell. Without a token it shows none.
func (s *session) isConfidential(r record) bool {
	if r.Confidential == nil {
		return s.kind == issues && !s.anonymous()
	}
	return *r.Confidential
}

// isInternal reports whether fewer people may read n than what it is on, or GitLab does not tell. Without a token it shows none.
func (s *session) isInternal(n note) bool {
	if n.Internal == nil && n.Confidential == nil {
		return !s.anonymous()
	}
	return n.Internal != nil && *n.Internal || n.Confidential != nil && *n.Confidential
}

const maxText = 4 << 20 // bytes of the comments on a record

// text returns a description followed by its comments.
func text(description string, notes []note) string {
	if len(notes) == 0 {
		return description
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(description, "\r\n\t "))
	b.WriteString("\n\n## Comments\n")
	for _, n := range notes {
		at := ""
		if n.Position != nil && n.Position.Path != "" {
			at = fmt.Sprintf(", on `%s`", n.Position.Path)
			if n.Position.Line > 0 {
				at = fmt.Sprintf(", on `%s` line %d", n.Position.Path, n.Position.Line)
			}
		}
		if b.Len()+len(n.Body) > maxText {
			b.WriteString("\nFurther comments are left out.\n")
			break
		}
		fmt.Fprintf(&b, "\n**%s**, %s%s:\n\n%s\n", n.Author.Username, n.CreatedAt.UTC().Format(time.DateOnly), at, strings.TrimSpace(n.Body))
	}
	return strings.TrimLeft(b.String(), "\n")
}
