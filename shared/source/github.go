package source

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/apierr"
)

// Delivery is one webhook delivery of GitHub.
type Delivery struct {
	SourceID  string
	Signature string // of X-Hub-Signature-256
	Event     string // of X-GitHub-Event
	ID        string // of X-GitHub-Delivery
	Body      []byte // as it came, which is what is signed
	RequestID string
}

// TakeGitHub takes a delivery: issues, pull requests and the comments on both are
// brought up to date or removed; other events change nothing. Deliveries may come
// twice and in any order.
func (s *Service) TakeGitHub(ctx context.Context, d Delivery) error {
	k, err := s.sender(ctx, d.SourceID, GitHub)
	if err != nil {
		return err
	}
	hexed, ok := strings.CutPrefix(d.Signature, "sha256=")
	if !signed(k.secrets.WebhookSecret, hexed, string(d.Body)) || !ok {
		return Unsigned()
	}
	return s.once(ctx, k, d.ID, func() error {
		var event githubEvent
		if err := json.Unmarshal(d.Body, &event); err != nil {
			return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The delivery is not JSON of the expected form. Choose application/json as the content type.")
		}
		settings, err := s.settingsOf(ctx, k.teamID, k.id)
		if err != nil {
			return err
		}
		ours := slices.ContainsFunc(settings.Repositories, func(r string) bool { return strings.EqualFold(r, event.Repository.FullName) })
		if !ours {
			return nil
		}
		return s.take(ctx, k, d.RequestID, event.change(d.Event))
	})
}

// githubEvent is what is read of an event's payload.
type githubEvent struct {
	Action      string       `json:"action"`
	Issue       *githubIssue `json:"issue"`
	PullRequest *githubIssue `json:"pull_request"`
	Comment     *struct {
		HTMLURL   string     `json:"html_url"`
		Body      string     `json:"body"`
		User      githubUser `json:"user"`
		CreatedAt time.Time  `json:"created_at"`
		UpdatedAt time.Time  `json:"updated_at"`
	} `json:"comment"`
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
}

type githubUser struct {
	Login string `json:"login"`
}

// githubIssue is an issue or a pull request.
type githubIssue struct {
	HTMLURL   string       `json:"html_url"`
	Number    int          `json:"number"`
	Title     string       `json:"title"`
	Body      string       `json:"body"`
	State     string       `json:"state"`
	User      githubUser   `json:"user"`
	Assignees []githubUser `json:"assignees"`
	Labels    []struct {
		Name string `json:"name"`
	} `json:"labels"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	ClosedAt    *time.Time `json:"closed_at"`
	MergedAt    *time.Time `json:"merged_at"`
	PullRequest *struct{}  `json:"pull_request"` // an issue in an event of comments that is a pull request
}

// change is what e, an event of that name, tells.
func (e githubEvent) change(name string) change {
	gone := e.Action == "deleted" || e.Action == "transferred"
	switch {
	case name == "issues" && e.Issue != nil && gone:
		return change{remove: e.Issue.HTMLURL, at: e.Issue.UpdatedAt}
	case name == "issues" && e.Issue != nil:
		return change{item: e.Issue.item(e.Repository.FullName, "issue")}
	case name == "pull_request" && e.PullRequest != nil:
		return change{item: e.PullRequest.item(e.Repository.FullName, "pull_request")}
	case name == "issue_comment" && e.Issue != nil:
		sourceType := "issue"
		if e.Issue.PullRequest != nil {
			sourceType = "pull_request"
		}
		return e.comment(*e.Issue, sourceType, gone)
	case name == "pull_request_review_comment" && e.PullRequest != nil:
		return e.comment(*e.PullRequest, "pull_request", gone)
	default:
		return change{}
	}
}

// comment is an item of its own beside what it is about.
func (e githubEvent) comment(on githubIssue, sourceType string, gone bool) change {
	c := e.Comment
	if c == nil {
		return change{}
	}
	if gone {
		return change{remove: c.HTMLURL, at: c.UpdatedAt}
	}
	return change{item: &Item{URI: c.HTMLURL, Title: clipTitle("Comment on #" + strconv.Itoa(on.Number) + ": " + on.Title), Body: c.Body,
		SourceType: sourceType, Author: c.User.Login, Project: e.Repository.FullName, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Comment: true}}
}

func (g githubIssue) item(project, sourceType string) *Item {
	i := &Item{URI: g.HTMLURL, Title: clipTitle(g.Title), Body: g.Body, SourceType: sourceType, Author: g.User.Login, Project: project,
		Number: strconv.Itoa(g.Number), State: g.State, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt}
	for _, a := range g.Assignees[:min(len(g.Assignees), maxMany)] {
		i.Assignees = append(i.Assignees, a.Login)
	}
	for _, l := range g.Labels[:min(len(g.Labels), maxMany)] {
		i.Labels = append(i.Labels, l.Name)
	}
	if g.ClosedAt != nil {
		i.ClosedAt = *g.ClosedAt
	}
	if g.MergedAt != nil {
		i.MergedAt, i.State = *g.MergedAt, merged
	}
	return i
}
