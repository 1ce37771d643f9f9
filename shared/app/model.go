package app

import (
	"context"
	"time"

	"docent/shared/answer"
	"docent/shared/llm"
	"docent/shared/search"
	"docent/shared/source"
)

// Bounds of what a model is asked for.
const (
	answerPassages = 8 // that an answer is written from
	researchTime   = 12 * time.Second
)

// answersBy has answers and research written by a model.
func (s *services) answersBy(model llm.Composer) {
	writer := &llm.Writer{Model: model}
	s.answering.Compose = func(ctx context.Context, question string, found []search.Hit) (answer.Composed, error) {
		found = found[:min(answerPassages, len(found))]
		written, err := writer.Write(ctx, question, "", passagesOf(found))
		composed := answer.Composed{Markdown: written.Markdown, ModelUse: answer.ModelUse{Outcome: string(written.Outcome),
			InputTokens: written.InputTokens, OutputTokens: written.OutputTokens}}
		for _, i := range written.Used {
			composed.References = append(composed.References, answer.Reference{HTMLURL: found[i].URI, Title: found[i].Title})
		}
		return composed, err
	}
	s.sources.Model = s.researchBy(model)
}

// researchBy is the model as research knows it. Only that a request failed is
// logged, and nothing that was asked or written.
func (s *services) researchBy(model llm.Composer) *source.Model {
	writer := &llm.Writer{Model: model, Time: researchTime}
	failed := func(ctx context.Context, what string, err error) {
		if err != nil {
			s.answering.Log.WarnContext(ctx, "a model was of no help to research", "asked", what, "err", err)
		}
	}
	propose := func(task llm.Task, what string) func(context.Context, string) source.Proposed {
		return func(ctx context.Context, question string) source.Proposed {
			p, err := writer.Propose(ctx, task, question)
			failed(ctx, what, err)
			return source.Proposed{Texts: p.Texts, Tokens: source.Tokens{Input: p.InputTokens, Output: p.OutputTokens}}
		}
	}
	return &source.Model{
		Wordings: propose(llm.ProposeWordings, "wordings"),
		Parts:    propose(llm.ProposeParts, "parts"),
		Write: func(ctx context.Context, question, instruction string, found []search.Hit) source.Written {
			written, err := writer.Write(ctx, question, instruction, passagesOf(found))
			failed(ctx, "answer", err)
			return source.Written{Markdown: written.Markdown, Tokens: source.Tokens{Input: written.InputTokens, Output: written.OutputTokens}}
		},
	}
}

func passagesOf(found []search.Hit) []llm.Passage {
	passages := make([]llm.Passage, 0, len(found))
	for _, h := range found {
		passages = append(passages, llm.Passage{Document: h.Document.String(), Text: h.Standalone(), Link: h.Link()})
	}
	return passages
}
