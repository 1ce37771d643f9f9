package httpapi

import (
	"cmp"
	"context"

	"docent/shared/filter"
	"docent/shared/search"
	"docent/shared/source/question"
	"docent/shared/usage"
)

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
