package github

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/source"
)

// verify reports whether GitHub signed the delivery with the source's secret.
func verify(d source.Delivery, secrets source.Secrets, _ time.Time) bool {
	digest, ok := strings.CutPrefix(d.Header(signatureHeader), "sha256=")
	return source.ValidSignature(secrets[webhookSecret], digest, d.Body) && ok
}

// readEvent returns the change of an issue, a pull request, a comment on one or a review. A
// push to the default branch requests a sync; other events change nothing.
func readEvent(ctx context.Context, d source.Delivery) (source.Event, error) {
	var e event
	if err := source.DecodeDelivery(ctx, d.Body, &e); err != nil {
		return source.Event{}, err
	}
	name := d.Header(eventHeader)
	out := e.change(name)
	out.Sync = name == "push" && e.Ref == "refs/heads/"+e.Repository.DefaultBranch
	out.Concerns = func(s source.Settings) bool {
		return slices.ContainsFunc(s.List(repositories), func(r string) bool { return strings.EqualFold(r, e.Repository.FullName) })
	}
	return out, nil
}

// event is the part of an event's payload that is used.
type event struct {
	Action      string   `json:"action"`
	Ref         string   `json:"ref"` // of a push
	Issue       *Issue   `json:"issue"`
	PullRequest *Issue   `json:"pull_request"`
	Comment     *Comment `json:"comment"`
	Review      *Review  `json:"review"`
	Repository  struct {
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
}

// change returns the change that e, an event of that name, reports.
func (e event) change(name string) source.Event {
	gone := e.Action == "deleted" || e.Action == "transferred"
	project := e.Repository.FullName
	switch {
	case name == "issues" && e.Issue != nil && gone:
		return source.Event{Removed: []string{e.Issue.HTMLURL}, At: e.Issue.UpdatedAt}
	case name == "issues" && e.Issue != nil:
		return source.Event{Item: e.Issue.Item(project)}
	case name == "pull_request" && e.PullRequest != nil:
		e.PullRequest.Pull = &Pull{}
		return source.Event{Item: e.PullRequest.Item(project)}
	case name == "issue_comment" && e.Issue != nil:
		return e.comment(*e.Issue, gone)
	case name == "pull_request_review_comment" && e.PullRequest != nil:
		e.PullRequest.Pull = &Pull{}
		return e.comment(*e.PullRequest, gone)
	case name == "pull_request_review" && e.PullRequest != nil && e.Review != nil:
		return e.review(*e.PullRequest, *e.Review)
	default:
		return source.Event{}
	}
}

// review returns the change of a review. One without a text only joins comments on lines.
func (e event) review(of Issue, r Review) source.Event {
	if e.Action == "edited" && r.UpdatedAt.IsZero() {
		r.UpdatedAt = of.UpdatedAt // some servers do not tell when it changed
	}
	i := r.Item(e.Repository.FullName, strconv.Itoa(of.Number), of.Title)
	switch {
	case strings.TrimSpace(r.Body) != "":
		return source.Event{Item: i}
	case e.Action == "edited":
		return source.Event{Removed: []string{i.URI}, At: i.UpdatedAt}
	default:
		return source.Event{}
	}
}

// comment returns the change of the comment of e.
func (e event) comment(on Issue, gone bool) source.Event {
	c := e.Comment
	if c == nil {
		return source.Event{}
	}
	if gone {
		return source.Event{Removed: []string{c.HTMLURL}, At: c.UpdatedAt}
	}
	return source.Event{Item: c.Item(e.Repository.FullName, strconv.Itoa(on.Number), on.Title, on.Pull != nil)}
}
