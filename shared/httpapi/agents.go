package httpapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"docent/shared/filter"
	"docent/shared/search"
	"docent/shared/source/question"
)

// Agents call operations of this package as tools, with the same keys, limits and
// restrictions. The caller is the principal of ctx. The schema of the tool checks the
// bounds of the fields.
type (
	// SearchFields are the fields of a search of one space.
	SearchFields struct {
		Query       string `json:"query" jsonschema:"what is looked for, in plain words"`
		Instruction string `json:"instruction,omitempty" jsonschema:"what to prefer among what is found; never adds to it or leaves out"`
		Limit       int    `json:"limit,omitempty" jsonschema:"how many sources at most; 10 when left out"`
		FilterField
	}
	// ResearchFields are the fields of research.
	ResearchFields struct {
		Query       string          `json:"query" jsonschema:"the question"`
		Instruction string          `json:"instruction,omitempty" jsonschema:"what to prefer among what is found; never adds to it or leaves out"`
		Effort      question.Effort `json:"effort,omitempty" jsonschema:"low searches the question as it is and is the default; medium also other wordings of it; high also its parts"`
		FilterField
	}
	// RecordFields are the fields of a query of issues or pull requests.
	RecordFields struct {
		Query    string   `json:"query" jsonschema:"a question, with states, people, projects, labels and dates in it"`
		Projects []string `json:"projects,omitempty" jsonschema:"repositories or other projects, any of these, in place of what the query says"`
		Labels   []string `json:"labels,omitempty" jsonschema:"all of these, in place of what the query says"`
		UserName string   `json:"userName,omitempty" jsonschema:"author or assignee; me is the caller"`
		Limit    int      `json:"limit,omitempty" jsonschema:"how many at most; 20 when left out"`
		FilterField
	}
	// URLFields are the fields of a request for content.
	URLFields struct {
		URLs []string `json:"urls" jsonschema:"1 to 10 absolute http or https URLs"`
	}
	// QuestionFields are the fields of a question.
	QuestionFields struct {
		Question string `json:"question" jsonschema:"in plain words"`
		FilterField
	}
	// FilterField is the filter of a search or a question.
	FilterField struct {
		Filter map[string]any `json:"filter,omitempty" jsonschema:"selects documents by their metadata, and by author, assignee, project, number, state, labels, createdAt, updatedAt, closedAt and mergedAt; for example {\"product\": \"api\", \"version\": {\"gte\": 2}, \"labels\": {\"in\": [\"draft\", \"new\"]}, \"not\": {\"author\": \"bot\"}, \"or\": [{...}, {...}]}; operators: in, gt, gte, lt, lte, exists; leave it out unless the names are known"`
	}

	// SourcesBody is the result of a search.
	SourcesBody struct {
		Sources []question.Source `json:"sources" doc:"Best first."`
	}
	// ResearchBody is the result of research.
	ResearchBody struct {
		Answer  string            `json:"answer" doc:"Markdown. A reference has as its number the place of its document in sources, from 1."`
		Sources []question.Source `json:"sources" doc:"What the answer was made from, best first."`
	}
	// RecordsBody is the result of a query.
	RecordsBody struct {
		Sources     []RecordBody `json:"sources"`
		Interpreted interpreted  `json:"interpreted" doc:"How the query was understood."`
	}
	// ContentsBody is the content of the URLs.
	ContentsBody struct {
		Results []urlContent `json:"results" doc:"In the order of the request."`
	}
	// AnswerBody is a question and, once it is finished, its answer.
	AnswerBody = answerBody
)

// parse returns the filter; nil: none.
func (f FilterField) parse() (*filter.Filter, error) {
	if f.Filter == nil {
		return nil, nil //nolint:nilnil // no filter
	}
	text, err := json.Marshal(f.Filter)
	if err != nil {
		return nil, fmt.Errorf("encode the filter: %w", err)
	}
	parsed, err := filter.Parse(text)
	return parsed, filter.Under("/filter", err)
}

// SearchSpace searches one space.
func (s Services) SearchSpace(ctx context.Context, space search.Space, in SearchFields) (SourcesBody, error) {
	request := &searchInput{}
	var err error
	if request.Body.Filter, err = in.parse(); err != nil {
		return SourcesBody{}, err
	}
	request.Body.Query, request.Body.Instruction, request.Body.Limit = in.Query, in.Instruction, in.Limit
	out, err := (&contexts{s}).search(ctx, request, []search.Space{space})
	if err != nil {
		return SourcesBody{}, err
	}
	return SourcesBody(out.Body), nil
}

// Research answers a question with its sources.
func (s Services) Research(ctx context.Context, in ResearchFields) (ResearchBody, error) {
	request := &researchInput{}
	var err error
	if request.Body.Filter, err = in.parse(); err != nil {
		return ResearchBody{}, err
	}
	request.Body.Query, request.Body.Instruction, request.Body.Effort = in.Query, in.Instruction, in.Effort
	if request.Body.Effort == "" {
		request.Body.Effort = "low"
	}
	out, err := (&contexts{s}).research(ctx, request)
	if err != nil {
		return ResearchBody{}, err
	}
	return ResearchBody(out.Body), nil
}

// QueryRecords queries the issues or the pull requests.
func (s Services) QueryRecords(ctx context.Context, space search.Space, in RecordFields) (RecordsBody, error) {
	limit := in.Limit
	if limit == 0 {
		limit = 20
	}
	where, err := in.parse()
	if err != nil {
		return RecordsBody{}, err
	}
	out, err := (&contexts{s}).query(ctx, space, QueryFields{Query: in.Query, Where: where, Projects: in.Projects, Labels: in.Labels, UserName: in.UserName, Limit: limit}, "")
	if err != nil {
		return RecordsBody{}, err
	}
	return RecordsBody(out.Body), nil
}

// Contents gets the content of URLs.
func (s Services) Contents(ctx context.Context, in URLFields) (ContentsBody, error) {
	request := &getContentInput{}
	request.Body.URLs = in.URLs
	out, err := (&contexts{s}).get(ctx, request)
	if err != nil {
		return ContentsBody{}, err
	}
	return ContentsBody(out.Body), nil
}

// Ask asks a question under a new id and waits for its answer, as long as a request
// may. The answer may still be processing then.
func (s Services) Ask(ctx context.Context, in QuestionFields) (AnswerBody, error) {
	a := &answers{s}
	request := &askInput{QuestionPath: QuestionPath{uuid.NewString()}}
	request.Body.Question = in.Question
	var err error
	if request.Body.Filter, err = in.parse(); err != nil {
		return AnswerBody{}, err
	}
	if _, err := a.ask(ctx, request); err != nil {
		return AnswerBody{}, err
	}
	out, err := a.get(ctx, &getAnswerInput{QuestionPath: request.QuestionPath, Prefer: "wait=20"})
	if err != nil {
		return AnswerBody{}, err
	}
	return out.Body, nil
}

// Refusal returns the code and the text of err, with which the call of a tool fails.
func Refusal(ctx context.Context, err error) (code, detail string) {
	p := toProblem(ctx, err)
	requestFrom(ctx).tool = p.Status
	return p.Code, p.Detail
}
