package app

import (
	"context"

	"docent/shared/answer"
	"docent/shared/llm"
	"docent/shared/search"
)

// answersBy has answers written by a model.
func (s *services) answersBy(model llm.Composer) {
	writer := &llm.Writer{Model: model}
	s.answering.Compose = func(ctx context.Context, question string, found []search.Hit) (answer.Composed, error) {
		var passages []llm.Passage
		for _, h := range found {
			passages = append(passages, llm.Passage{Document: h.Document.String(), Text: h.Given(), Link: h.Link()})
		}
		written, err := writer.Write(ctx, question, "", passages)
		composed := answer.Composed{Markdown: written.Markdown, ModelUse: answer.ModelUse{Outcome: string(written.Outcome),
			InputTokens: written.InputTokens, OutputTokens: written.OutputTokens}}
		for _, i := range written.Used {
			composed.References = append(composed.References, answer.Reference{HTMLURL: found[i].URI, Title: found[i].Title})
		}
		return composed, err
	}
}
