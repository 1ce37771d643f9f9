package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/memory"
	"docent/shared/search"
	"docent/shared/source/question"
	"docent/shared/team"
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

// Within are the data sources that a request names.
type Within struct {
	DataSourceIDs []string `json:"dataSourceIds,omitempty" minItems:"1" maxItems:"100" doc:"Only in these, such as collections. What the key may not read is not searched."`
}

// caller returns the one that asks, restricted to the data sources of w.
func (w Within) caller(p team.Principal) (question.Caller, error) {
	for i, id := range w.DataSourceIDs {
		if !isUUID(id) {
			return question.Caller{}, apierr.BadField(fmt.Sprintf("/dataSourceIds/%d", i), "must be the id of a data source")
		}
	}
	canonicalIDs(w.DataSourceIDs)
	return askedBy(p).Within(w.DataSourceIDs), nil
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
