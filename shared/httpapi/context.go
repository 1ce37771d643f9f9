package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/filter"
	"docent/shared/memory"
	"docent/shared/search"
	"docent/shared/source/question"
	"docent/shared/team"
	"docent/shared/uri"
	"docent/shared/usage"
)

type contexts struct{ Services }

func (h *contexts) routes(api huma.API) {
	for _, o := range []struct {
		id, path, summary string
		spaces            []search.Space
	}{
		{"searchContext", "/context/search", "Search everything", nil},
		{"searchCode", "/context/search/code", "Search code", []search.Space{search.Code}},
		{"searchPullRequests", "/context/search/prs", "Search pull requests", []search.Space{search.PRs}},
		{"searchIssues", "/context/search/issues", "Search issues", []search.Space{search.Issues}},
		{"searchDocumentation", "/context/search/documentation", "Search documentation", []search.Space{search.Documentation}},
		{"searchMessages", "/context/search/messages", "Search messages", []search.Space{search.Messages}},
	} {
		register(api, contextOperation(o.id, o.path, o.summary), func(ctx context.Context, in *searchInput) (*sourcesOutput, error) {
			return h.search(ctx, in, o.spaces)
		})
	}
	research := contextOperation("research", "/context/research", "Answer a question with its sources")
	register(api, research, h.research)
	describeEvents(api, research.Path, research.Method, researchEventsDoc)
	register(api, contextOperation("queryIssues", "/context/query/issues", "Query issues by question and filters"),
		func(ctx context.Context, in *queryIssuesInput) (*recordsOutput, error) {
			return h.query(ctx, search.Issues, in.Body.QueryFields, in.Body.State)
		})
	register(api, contextOperation("queryPullRequests", "/context/query/prs", "Query pull requests by question and filters"),
		func(ctx context.Context, in *queryPullRequestsInput) (*recordsOutput, error) {
			return h.query(ctx, search.PRs, in.Body.QueryFields, in.Body.State)
		})
	register(api, contextOperation("getContent", "/context/get", "Get the content of URLs"), h.get)
}

func contextOperation(id, path, summary string) huma.Operation {
	return huma.Operation{OperationID: id, Method: http.MethodPost, Path: path, Summary: summary, Tags: []string{"Context"}}
}

func askedBy(p team.Principal) question.Caller {
	return question.Caller{UserName: p.UserName, Sources: p.Sources, Reader: p.Reader}
}

type searchInput struct {
	Body struct {
		Query       string         `json:"query" minLength:"1" maxLength:"10000"`
		Instruction string         `json:"instruction,omitempty" maxLength:"10000" doc:"Changes the order of what is found, never what is searched."`
		Limit       int            `json:"limit,omitempty" minimum:"1" maximum:"50" default:"10"`
		Explain     bool           `json:"explain,omitempty" doc:"Adds to each result why it is where it is."`
		Filter      *filter.Filter `json:"filter,omitempty"`
		Within
	}
}

// Within are the data sources that a request names.
type Within struct {
	DataSourceIDs []string `json:"dataSourceIds,omitempty" minItems:"1" maxItems:"100" doc:"Only in these, such as collections. What the key may not read is not searched."`
}

// caller returns who asks, restricted to the data sources of w.
func (w Within) caller(p team.Principal) (question.Caller, error) {
	for i, id := range w.DataSourceIDs {
		if !isUUID(id) {
			return question.Caller{}, apierr.BadField(fmt.Sprintf("/dataSourceIds/%d", i), "must be the id of a data source")
		}
	}
	canonicalIDs(w.DataSourceIDs)
	return askedBy(p).Within(w.DataSourceIDs), nil
}

type sourcesOutput struct {
	Body struct {
		Sources []question.Source `json:"sources" doc:"Best first."`
	}
}

func (h *contexts) search(ctx context.Context, in *searchInput, spaces []search.Space) (*sourcesOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	c, err := in.Body.caller(p)
	if err != nil {
		return nil, err
	}
	if err := waitTurn(ctx, in.Body.Query, in.Body.Instruction); err != nil {
		return nil, err
	}
	// Most searches return the full limit, so that is counted during the search and
	// corrected after it. Waiting would cost a round trip; a correction with the row's
	// next call would be lost with the last call.
	likely := cmp.Or(in.Body.Limit, question.DefaultLimit)
	usage.Note(ctx, usage.Sources, int64(likely))
	usage.OutcomeKnown(ctx)
	out := &sourcesOutput{}
	out.Body.Sources, err = h.Questions.Search(ctx, p.TeamID, c,
		question.Question{Text: in.Body.Query, Instruction: in.Body.Instruction, Limit: in.Body.Limit, Explain: in.Body.Explain,
			Filter: in.Body.Filter.OrNil()}, spaces)
	usage.Note(ctx, usage.Sources, int64(-likely))
	noteSources(ctx, len(out.Body.Sources), err)
	return out, err
}

// longQuery is the size of a query with its instruction above which a search waits for its
// turn among the large requests, because each word costs time.
const longQuery = 1000

func waitTurn(ctx context.Context, query, instruction string) error {
	if len(query)+len(instruction) <= longQuery {
		return nil
	}
	return memory.WaitTurn(ctx)
}

// noteSources notes how many sources a context operation found.
func noteSources(ctx context.Context, found int, err error) {
	switch {
	case err != nil:
	case found == 0:
		usage.Note(ctx, usage.Empty, 1)
	default:
		usage.Note(ctx, usage.Sources, int64(found))
	}
}

type researchInput struct {
	Body struct {
		Query       string          `json:"query" minLength:"1" maxLength:"10000"`
		Instruction string          `json:"instruction,omitempty" maxLength:"10000" doc:"Changes the order of what is found, never what is searched."`
		Effort      question.Effort `json:"effort,omitempty" enum:"low,medium,high" default:"low"`
		Filter      *filter.Filter  `json:"filter,omitempty"`
		Within
	}
}

type researchOutput struct {
	Body struct {
		Answer  string            `json:"answer" doc:"Markdown. A reference has as its number the place of its document in sources, from 1."`
		Sources []question.Source `json:"sources" doc:"What the answer was made from, best first."`
	}
}

func (h *contexts) research(ctx context.Context, in *researchInput) (*researchOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	c, err := in.Body.caller(p)
	if err != nil {
		return nil, err
	}
	out := &researchOutput{}
	if err := memory.WaitTurn(ctx); err != nil {
		return nil, err
	}
	q := question.Question{Text: in.Body.Query, Instruction: in.Body.Instruction, Filter: in.Body.Filter.OrNil()}
	if !wantsEvents(ctx) {
		found, err := h.Questions.Research(ctx, p.TeamID, c, q, in.Body.Effort)
		noteSources(ctx, len(found.Sources), err)
		out.Body.Answer, out.Body.Sources = found.Answer, found.Sources
		return out, err
	}
	if err := roomForEvents(ctx); err != nil {
		return nil, err
	}
	h.streamResearch(ctx, p.TeamID, c, q, in.Body.Effort, openEvents(ctx))
	return out, nil
}

// streamResearch is research whose reply is events.
func (h *contexts) streamResearch(ctx context.Context, teamID string, c question.Caller, q question.Question, effort question.Effort, events *eventStream) {
	text := textEvents{send: events.send, id: func(string) string { return "" }, sources: map[string]int{}}
	q.Listener = question.Listener{
		Found: func(found []question.Source) {
			for i, s := range found {
				text.sources[uri.WithoutPage(s.URL)] = i
			}
			events.send("sources", "", map[string]any{"sources": found})
		},
		Written: text.written,
	}
	found, err := h.Questions.Research(ctx, teamID, c, q, effort)
	noteSources(ctx, len(found.Sources), err)
	if err != nil {
		events.send("error", "", toProblem(ctx, err))
		return
	}
	text.complete(found.Answer, found.Cited)
	out := &researchOutput{}
	out.Body.Answer, out.Body.Sources = found.Answer, found.Sources
	events.send("answer.completed", "", out.Body)
}

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
	for name, texts := range map[string][]string{"projects": in.Projects, "labels": in.Labels} {
		for i, text := range texts {
			if n := utf8.RuneCountInString(text); n < 1 || n > maxFact {
				return nil, apierr.BadField(fmt.Sprintf("/%s/%d", name, i), "must have 1 to %d characters", maxFact)
			}
		}
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

type getContentInput struct {
	Body struct {
		URLs []string `json:"urls" minItems:"1" maxItems:"10" doc:"Absolute http or https URLs of at most 2048 characters."`
	}
}

type getContentOutput struct {
	Body struct {
		Results []urlContent `json:"results" doc:"In the order of the request."`
	}
}

type urlContent struct {
	URL        string    `json:"url"`
	Title      string    `json:"title,omitempty"`
	Content    string    `json:"content,omitempty"`
	SourceType string    `json:"sourceType,omitempty"`
	Provider   string    `json:"provider,omitempty"`
	Truncated  bool      `json:"truncated,omitempty" doc:"The content was cut at 250,000 bytes."`
	Error      *urlError `json:"error,omitempty"`
}

type urlError struct {
	Code   string `json:"code" enum:"not-found,unsupported-url,blocked-url,fetch-failed,timeout"`
	Detail string `json:"detail"`
}

// contentCost is the memory that one byte of content needs while a reply is made. A reply
// to an agent contains it twice, once as JSON in JSON.
const contentCost = 8

func (h *contexts) get(ctx context.Context, in *getContentInput) (*getContentOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	for i, u := range in.Body.URLs {
		if n := utf8.RuneCountInString(u); n < 1 || n > 2048 {
			return nil, apierr.BadField(fmt.Sprintf("/urls/%d", i), "must have 1 to 2048 characters")
		}
	}
	all, err := h.Questions.Get(ctx, p.TeamID, askedBy(p), in.Body.URLs)
	if err != nil {
		return nil, err
	}
	length := 0
	for _, g := range all {
		length += len(g.Content)
	}
	if err := memory.Reserve(ctx, contentCost*int64(length)); err != nil {
		return nil, err
	}
	out, found := &getContentOutput{}, 0
	for _, g := range all {
		one := urlContent{URL: g.URL, Title: g.Title, Content: g.Content, SourceType: g.SourceType, Provider: g.Provider, Truncated: g.Truncated}
		if g.Error != nil {
			one.Error = &urlError{g.Error.Code, g.Error.Detail}
		} else {
			found++
		}
		out.Body.Results = append(out.Body.Results, one)
	}
	noteSources(ctx, found, nil)
	return out, nil
}
