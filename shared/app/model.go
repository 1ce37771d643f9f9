package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"docent/shared/answer"
	"docent/shared/llm"
	"docent/shared/search"
	"docent/shared/source/question"
)

// Bounds of requests to a model.
const (
	answerPassages = 8 // for one answer
	researchTime   = 12 * time.Second
)

// Model returns the functions that write answers and research. Failures of research are
// logged to log.
type Model = func(log *slog.Logger) (compose, *question.Model)

// compose writes the answer to a question, which may follow others, from the passages found, and gives soFar,
// which may be nil, what it has written so far.
type compose = func(ctx context.Context, text, before string, found []search.Hit, soFar func(answer.Composed)) (answer.Composed, error)

// WrittenBy returns a Model that uses model, or nil if model is nil.
func WrittenBy(model llm.Composer) Model { return WrittenInTurns(model, 0) }

// WrittenInTurns is WrittenBy for a process that handles many requests: at most most requests to the model are in progress at a time,
// and others wait, by team. 0: any number.
func WrittenInTurns(model llm.Composer, most int) Model {
	if model == nil {
		return nil
	}
	turns := llm.NewTurns(most)
	return func(log *slog.Logger) (compose, *question.Model) {
		return composer(&llm.Writer{Model: model, Turns: turns}), researcher(&llm.Writer{Model: model, Turns: turns, Time: researchTime}, log)
	}
}

func composer(writer *llm.Writer) compose {
	return func(ctx context.Context, text, before string, found []search.Hit, soFar func(answer.Composed)) (answer.Composed, error) {
		found = found[:min(answerPassages, len(found))]
		var verified func(llm.Verified)
		if soFar != nil {
			verified = func(v llm.Verified) { soFar(answer.Composed{Markdown: v.Markdown, References: cited(found, v.Used)}) }
		}
		written, err := writer.Stream(ctx, llm.Asked{Question: text, Before: before}, passagesOf(found), verified)
		composed := answer.Composed{Markdown: written.Markdown, ModelUse: answer.ModelUse{Outcome: string(written.Outcome),
			InputTokens: written.InputTokens, OutputTokens: written.OutputTokens}}
		composed.References = cited(found, written.Used)
		return composed, err
	}
}

// cited returns the documents of the hits at the places used.
func cited(found []search.Hit, used []int) []answer.Reference {
	var out []answer.Reference
	for _, i := range used {
		out = append(out, answer.Reference{HTMLURL: found[i].Address(), Title: found[i].Title})
	}
	return out
}

// researcher logs the failure of a request, unless its client has left, but never the question or the text.
func researcher(writer *llm.Writer, log *slog.Logger) *question.Model {
	failed := func(ctx context.Context, what string, err error) {
		if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
			log.WarnContext(ctx, "a model was of no help to research", "asked", what, "err", err)
		}
	}
	propose := func(task llm.Task, what string) func(context.Context, string) question.Proposed {
		return func(ctx context.Context, text string) question.Proposed {
			p, err := writer.Propose(ctx, task, text)
			failed(ctx, what, err)
			return question.Proposed{Texts: p.Texts, Tokens: question.Tokens{Input: p.InputTokens, Output: p.OutputTokens}}
		}
	}
	return &question.Model{
		Wordings: propose(llm.ProposeWordings, "wordings"),
		Parts:    propose(llm.ProposeParts, "parts"),
		Write: func(ctx context.Context, text, instruction string, found []search.Hit, numbers map[uuid.UUID]int, soFar func(string, []string)) question.Written {
			var verified func(llm.Verified)
			if soFar != nil {
				verified = func(v llm.Verified) { soFar(strings.TrimSpace(v.Markdown), addresses(found, v.Used)) }
			}
			passages := passagesOf(found)
			for i, h := range found {
				passages[i].Number = numbers[h.Document]
			}
			written, err := writer.Stream(ctx, llm.Asked{Question: text, Instruction: instruction}, passages, verified)
			failed(ctx, "answer", err)
			return question.Written{Markdown: written.Markdown, URLs: addresses(found, written.Used),
				Tokens: question.Tokens{Input: written.InputTokens, Output: written.OutputTokens}}
		},
	}
}

// addresses returns the addresses of the hits at the places used.
func addresses(found []search.Hit, used []int) []string {
	var out []string
	for _, i := range used {
		out = append(out, found[i].Address())
	}
	return out
}

func passagesOf(found []search.Hit) []llm.Passage {
	passages := make([]llm.Passage, 0, len(found))
	for _, h := range found {
		passages = append(passages, llm.Passage{Document: h.Document.String(), Text: h.Standalone(), Link: h.Link()})
	}
	return passages
}
