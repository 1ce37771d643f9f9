package source

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Delivery is one webhook delivery of GitHub.
type Delivery struct {
	Signature string // of X-Hub-Signature-256
	Event     string // of X-GitHub-Event
	ID        string // of X-GitHub-Delivery
	Body      []byte // as it came, which is what is signed
	RequestID string
}

// TakeGitHub takes a delivery: issues, pull requests and the comments on both are
// brought up to date or removed, a push to the default branch makes a sync due, and
// other events change nothing. Deliveries may come twice and in any order.
func (s *Service) TakeGitHub(ctx context.Context, k Sender, d Delivery) error {
	hexed, ok := strings.CutPrefix(d.Signature, "sha256=")
	if !validSignature(k.secrets.WebhookSecret, hexed, d.Body) || !ok {
		return k.Refusal()
	}
	return s.takeOnce(ctx, k, d.ID, func() error {
		var event githubEvent
		if err := decodeDelivery(ctx, d.Body, &event); err != nil {
			return err
		}
		settings, err := s.settingsOf(ctx, k.teamID, k.id)
		if err != nil {
			return err
		}
		ours := slices.ContainsFunc(settings.Repositories, func(r string) bool { return strings.EqualFold(r, event.Repository.FullName) })
		if !ours {
			return nil
		}
		if d.Event == "push" && event.Ref == "refs/heads/"+event.Repository.DefaultBranch {
			return s.SyncSoon(ctx, k.teamID, k.id)
		}
		return s.applyChange(ctx, k, d.RequestID, event.change(d.Event))
	})
}

// githubEvent is what is read of an event's payload.
type githubEvent struct {
	Action      string         `json:"action"`
	Ref         string         `json:"ref"` // of a push
	Issue       *GitHubIssue   `json:"issue"`
	PullRequest *GitHubIssue   `json:"pull_request"`
	Comment     *GitHubComment `json:"comment"`
	Repository  struct {
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
}

// change is what e, an event of that name, tells.
func (e githubEvent) change(name string) change {
	gone := e.Action == "deleted" || e.Action == "transferred"
	project := e.Repository.FullName
	switch {
	case name == "issues" && e.Issue != nil && gone:
		return change{remove: e.Issue.HTMLURL, at: e.Issue.UpdatedAt}
	case name == "issues" && e.Issue != nil:
		return change{item: e.Issue.Item(project)}
	case name == "pull_request" && e.PullRequest != nil:
		e.PullRequest.Pull = &GitHubPull{}
		return change{item: e.PullRequest.Item(project)}
	case name == "issue_comment" && e.Issue != nil:
		return e.comment(*e.Issue, gone)
	case name == "pull_request_review_comment" && e.PullRequest != nil:
		e.PullRequest.Pull = &GitHubPull{}
		return e.comment(*e.PullRequest, gone)
	default:
		return change{}
	}
}

// comment is an item of its own beside what it is about.
func (e githubEvent) comment(on GitHubIssue, gone bool) change {
	c := e.Comment
	if c == nil {
		return change{}
	}
	if gone {
		return change{remove: c.HTMLURL, at: c.UpdatedAt}
	}
	return change{item: c.Item(e.Repository.FullName, strconv.Itoa(on.Number), on.Title, on.Pull != nil)}
}
