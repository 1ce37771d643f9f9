package httpapi

import (
	"context"

	"docent/shared/filter"
	"docent/shared/memory"
	"docent/shared/source/question"
	"docent/shared/uri"
)

type researchInput struct {
	Body struct {
		Query       string          `json:"query" minLength:"1" maxLength:"10000"`
		Instruction string          `json:"instruction,omitempty" maxLength:"10000" doc:"Changes the order of what is found, never what is searched."`
		Effort      question.Effort `json:"effort,omitempty" enum:"low,medium,high" default:"low" doc:"How much work it is: low unless given."`
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
			events.beforeText()
			events.send("sources", "", map[string]any{"sources": found})
		},
		Written: func(written string, cited []string) {
			events.beforeText()
			text.written(written, cited)
		},
	}
	found, err := h.Questions.Research(ctx, teamID, c, q, effort)
	noteSources(ctx, len(found.Sources), err)
	if err != nil {
		events.send("error", "", toProblem(ctx, err))
		return
	}
	events.beforeText()
	text.complete(found.Answer, found.Cited)
	out := &researchOutput{}
	out.Body.Answer, out.Body.Sources = found.Answer, found.Sources
	events.send("answer.completed", "", out.Body)
}
