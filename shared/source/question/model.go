package question

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"docent/shared/memory"
	"docent/shared/search"
	"docent/shared/usage"
)

// Model is a language model that helps Research. It logs its own failures and then
// returns nothing; Research answers as without a model.
type Model struct {
	// Wordings proposes other wordings of the question, Parts its parts. They get
	// nothing but the question.
	Wordings func(ctx context.Context, question string) Proposed
	Parts    func(ctx context.Context, question string) Proposed
	// Write writes the answer from passages, best first. The instruction is the
	// caller's. numbers has the number of each document, for references. Write gives
	// soFar, which may be nil, what it has written and verified so far.
	Write func(ctx context.Context, question, instruction string, passages []search.Hit, numbers map[uuid.UUID]int, soFar func(markdown string, urls []string)) Written
}

// Proposed contains the texts that a model proposes to search for.
type Proposed struct {
	Texts []string
	Tokens
}

// Written is the answer of a model.
type Written struct {
	Markdown string   // empty: no answer
	URLs     []string // of the documents that it cites
	Tokens
}

// Tokens are the tokens of a model request, as its server counts them.
type Tokens struct{ Input, Output int }

func (t Tokens) note(ctx context.Context) {
	usage.Note(ctx, usage.InputTokens, int64(t.Input))
	usage.Note(ctx, usage.OutputTokens, int64(t.Output))
}

// wordings returns the model's other wordings of the question; none without a model.
func (s *Service) wordings(ctx context.Context, question string) []string {
	if s.Model == nil {
		return nil
	}
	p := s.Model.Wordings(ctx, question)
	p.note(ctx)
	return slices.DeleteFunc(p.Texts, func(text string) bool { return !searchable(text) })
}

// parts returns the parts of a question: the model's if it proposes at least two,
// otherwise those that parts finds.
func (s *Service) parts(ctx context.Context, question string) []string {
	own := parts(question)
	if s.Model == nil {
		return own
	}
	p := s.Model.Parts(ctx, question)
	p.note(ctx)
	proposed := slices.DeleteFunc(p.Texts, func(text string) bool { return !searchable(text) })
	if len(proposed) < 2 {
		return own
	}
	return proposed[:min(maxParts, len(proposed))]
}

// write returns the model's answer from the best passages of all parts. It is empty
// without a model or its answer, and if nothing was found; the model is not asked then.
func (s *Service) write(ctx context.Context, q Question, found []search.Result, limit int, numbers map[uuid.UUID]int) Written {
	if s.Model == nil || !slices.ContainsFunc(found, search.Result.Found) {
		return Written{}
	}
	memory.Yield(ctx)
	w := s.Model.Write(ctx, q.Text, q.Instruction, bestOf(found, limit), numbers, q.Listener.Written)
	w.note(ctx)
	w.Markdown = strings.TrimSpace(w.Markdown)
	return w
}

// bestOf returns the passages of all parts with an answer, the best of each first.
func bestOf(found []search.Result, limit int) []search.Hit {
	var lists [][]search.Hit
	for _, r := range found {
		if r.Found() {
			lists = append(lists, r.Best)
		}
	}
	type passage struct{ document, text string }
	return inTurn(lists, limit, func(h search.Hit) passage { return passage{h.Document.String(), h.Passage} })
}

// inTurn takes hits from the lists in turn, at most limit, none with the key of an
// earlier one.
func inTurn[K comparable](lists [][]search.Hit, limit int, key func(search.Hit) K) []search.Hit {
	var out []search.Hit
	seen := map[K]bool{}
	for rank, left := 0, true; left; rank++ {
		left = false
		for _, list := range lists {
			if rank >= len(list) || len(out) == limit {
				continue
			}
			left = true
			if k := key(list[rank]); !seen[k] {
				seen[k] = true
				out = append(out, list[rank])
			}
		}
	}
	return out
}
