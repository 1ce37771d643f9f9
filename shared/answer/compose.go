package answer

import (
	"context"

	"docent/shared/search"
)

// Composed is what a model made of a question.
type Composed struct {
	Markdown   string // empty: the quoted answer is given instead
	References []Reference
	ModelUse
}

// ModelUse says what became of a question that a model was asked, for metrics and
// usage.
type ModelUse struct {
	Outcome      string // a short word
	InputTokens  int    // as the model's server counts
	OutputTokens int
}

// compose has the answer a written by a model where one is configured. Whatever
// goes wrong leaves the quoted answer, which a holds already; only that it went
// wrong is logged, and nothing that was asked or written.
func (w *Worker) compose(ctx context.Context, a *Answer, found []search.Hit) {
	if w.Compose == nil {
		return
	}
	composed, err := w.Compose(ctx, a.Question, found)
	if err != nil {
		w.Log.WarnContext(ctx, "no answer of the model; quoted instead", "question", a.QuestionID, "team", a.TeamID,
			"outcome", composed.Outcome, "err", err)
	}
	a.Model = &composed.ModelUse
	if composed.Markdown != "" {
		a.Markdown, a.References = composed.Markdown, composed.References
	}
}
