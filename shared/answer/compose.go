package answer

import (
	"context"

	"docent/shared/search"
)

// Composed is an answer that a model wrote, or the verified part of one that it is writing.
type Composed struct {
	Markdown   string // empty: the answer quotes instead
	References []Reference
	ModelUse
}

// ModelUse describes a call of the model, for metrics and usage.
type ModelUse struct {
	Outcome      string // a short word
	InputTokens  int    // as the model's server counts
	OutputTokens int
}

// compose asks the model, if there is one, to write a, whose question follows those in before. If that fails, a keeps the
// quoted answer, and the log says only that it failed, not what was asked or written.
func (w *Worker) compose(ctx context.Context, a *Answer, before string, found []search.Hit, soFar func(Composed)) {
	if w.Compose == nil {
		return
	}
	composed, err := w.Compose(ctx, a.Question, before, found, soFar)
	if err != nil {
		w.Log.WarnContext(ctx, "no answer of the model; quoted instead", "question", a.QuestionID, "team", a.TeamID,
			"outcome", composed.Outcome, "err", err)
	}
	a.Model = &composed.ModelUse
	if composed.Markdown != "" {
		a.Markdown, a.References = composed.Markdown, composed.References
	}
}
