package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/filter"
	"docent/shared/search"
	"docent/shared/source/question"
)

// QueryFields are the common fields of queries for issues and for pull requests.
type QueryFields struct {
	Query           string         `json:"query" minLength:"1" maxLength:"10000" doc:"A question, with filters in it or not."`
	Projects        []string       `json:"projects,omitempty" maxItems:"50" doc:"Any of these."`
	Labels          []string       `json:"labels,omitempty" maxItems:"50" doc:"All of these."`
	Where           *filter.Filter `json:"filter,omitempty"`
	UserName        string         `json:"userName,omitempty" maxLength:"256" doc:"Author or assignee; me is the caller."`
	CreatedAfter    time.Time      `json:"createdAfter,omitempty" doc:"Inclusive, as every after."`
	CreatedBefore   time.Time      `json:"createdBefore,omitempty" doc:"Exclusive, as every before."`
	UpdatedAfter    time.Time      `json:"updatedAfter,omitempty"`
	UpdatedBefore   time.Time      `json:"updatedBefore,omitempty"`
	CompletedAfter  time.Time      `json:"completedAfter,omitempty" doc:"Closed for issues, merged for pull requests."`
	CompletedBefore time.Time      `json:"completedBefore,omitempty"`
	Sort            question.Order `json:"sort,omitempty" enum:"relevance,created,updated" doc:"The two of time have the newest first."`
	Limit           int            `json:"limit,omitempty" minimum:"1" maximum:"200" default:"100"`
}

type queryIssuesInput struct {
	Body struct {
		QueryFields
		State string `json:"state,omitempty" enum:"open,closed"`
	}
}

type queryPullRequestsInput struct {
	Body struct {
		QueryFields
		State string `json:"state,omitempty" enum:"open,closed,merged"`
	}
}

// RecordBody is an issue or a pull request.
type RecordBody struct {
	question.Source
	Number    string   `json:"number,omitempty"`
	State     string   `json:"state,omitempty"`
	Author    string   `json:"author,omitempty"`
	Assignees []string `json:"assignees,omitempty"`
	Labels    []string `json:"labels,omitempty"`
	Project   string   `json:"project,omitempty"`
	CreatedAt string   `json:"createdAt" format:"date-time"`
	UpdatedAt string   `json:"updatedAt" format:"date-time"`
	ClosedAt  string   `json:"closedAt,omitempty" format:"date-time"`
	MergedAt  string   `json:"mergedAt,omitempty" format:"date-time"`
}

type recordsOutput struct {
	Body struct {
		Sources     []RecordBody `json:"sources"`
		Interpreted interpreted  `json:"interpreted" doc:"How the query was understood."`
	}
}

type interpreted struct {
	Text            string         `json:"text" doc:"What was ranked by; empty when only filters were left."`
	Projects        []string       `json:"projects,omitempty"`
	Labels          []string       `json:"labels,omitempty"`
	UserName        string         `json:"userName,omitempty"`
	Role            question.Role  `json:"role,omitempty" enum:"author,assignee" doc:"Of the user; either when absent."`
	State           string         `json:"state,omitempty"`
	CreatedAfter    string         `json:"createdAfter,omitempty" format:"date-time"`
	CreatedBefore   string         `json:"createdBefore,omitempty" format:"date-time"`
	UpdatedAfter    string         `json:"updatedAfter,omitempty" format:"date-time"`
	UpdatedBefore   string         `json:"updatedBefore,omitempty" format:"date-time"`
	CompletedAfter  string         `json:"completedAfter,omitempty" format:"date-time"`
	CompletedBefore string         `json:"completedBefore,omitempty" format:"date-time"`
	Sort            question.Order `json:"sort,omitempty"`
}

func interpretedOf(a question.RecordResults) interpreted {
	f := a.Filter
	return interpreted{Text: a.Text, Projects: f.Projects, Labels: f.Labels, UserName: f.User, Role: f.Role, State: f.State, Sort: f.Sort,
		CreatedAfter: timeOrNone(f.Created.After), CreatedBefore: timeOrNone(f.Created.Before),
		UpdatedAfter: timeOrNone(f.Updated.After), UpdatedBefore: timeOrNone(f.Updated.Before),
		CompletedAfter: timeOrNone(f.Completed.After), CompletedBefore: timeOrNone(f.Completed.Before)}
}

func timeOrNone(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return formatTime(t)
}

func (h *contexts) query(ctx context.Context, space search.Space, in QueryFields, state string) (*recordsOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkFacts("projects", in.Projects), checkFacts("labels", in.Labels)); err != nil {
		return nil, err
	}
	if err := waitTurn(ctx, in.Query, ""); err != nil {
		return nil, err
	}
	a, err := h.Questions.Query(ctx, p.TeamID, askedBy(p), space, question.RecordQuery{Text: in.Query, Limit: in.Limit, Where: in.Where.OrNil(),
		Filter: question.Filter{Projects: in.Projects, Labels: in.Labels, User: in.UserName, State: state, Sort: in.Sort,
			Created:   question.Span{After: in.CreatedAfter, Before: in.CreatedBefore},
			Updated:   question.Span{After: in.UpdatedAfter, Before: in.UpdatedBefore},
			Completed: question.Span{After: in.CompletedAfter, Before: in.CompletedBefore}}})
	noteSources(ctx, len(a.Records), err)
	if err != nil {
		return nil, err
	}
	out := &recordsOutput{}
	out.Body.Sources, out.Body.Interpreted = make([]RecordBody, 0, len(a.Records)), interpretedOf(a)
	for _, r := range a.Records {
		facts := r.Entry.Facts
		body := RecordBody{Source: r.Source, Number: facts.Number, State: facts.State, Author: facts.Author, Assignees: facts.Assignees,
			Labels: facts.Labels, Project: facts.Project, CreatedAt: formatTime(r.Entry.CreatedAt), UpdatedAt: formatTime(r.Entry.UpdatedAt)}
		if space == search.PRs {
			body.MergedAt = timeOrNone(facts.Merged)
		}
		body.ClosedAt = timeOrNone(facts.Closed)
		out.Body.Sources = append(out.Body.Sources, body)
	}
	return out, nil
}

// maxFact bounds a name to filter by, in characters.
const maxFact = 256

// checkFacts returns an error for the first name in the member field that is empty or too long.
func checkFacts(field string, names []string) error {
	for i, name := range names {
		if n := utf8.RuneCountInString(name); n < 1 || n > maxFact {
			return apierr.BadField(fmt.Sprintf("/%s/%d", field, i), "must have 1 to %d characters", maxFact)
		}
	}
	return nil
}
