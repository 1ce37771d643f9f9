package question

import (
	"context"
	"slices"
	"strings"

	"docent/shared/memory"
	"docent/shared/search"
	"docent/shared/usage"
)

// Model is a language model that helps Research. What fails of it is its own to
// log: it gives nothing then, and the answer is the one that there is without it.
type Model struct {
	// Wordings and Parts propose what to search for beside the question. They are
	// shown the question alone.
	Wordings func(ctx context.Context, question string) Proposed
	Parts    func(ctx context.Context, question string) Proposed
	// Write writes the answer from passages that were found, best first. The
	// instruction is the asker's wishes for the wording.
	Write func(ctx context.Context, question, instruction string, passages []search.Hit) Written
}

// Proposed is what a model proposes to search for.
type Proposed struct {
	Texts []string
	Tokens
}

// Written is the answer of a model.
type Written struct {
	Markdown string // empty: there is none
	Tokens
}

// Tokens are those of a request to a model, as its server counts.
type Tokens struct{ Input, Output int }

func (t Tokens) note(ctx context.Context) {
	usage.Note(ctx, usage.InputTokens, int64(t.Input))
	usage.Note(ctx, usage.OutputTokens, int64(t.Output))
}

// wordings are what a model proposes to search for beside the question; none
// without a model, or when it has none.
func (s *Service) wordings(ctx context.Context, question string) []string {
	if s.Model == nil {
		return nil
	}
	p := s.Model.Wordings(ctx, question)
	p.note(ctx)
	return slices.DeleteFunc(p.Texts, func(text string) bool { return !telling(text) })
}

// parts are the parts of a question, as a model proposes them where there is one;
// one part is the question itself.
func (s *Service) parts(ctx context.Context, question string) []string {
	own := parts(question)
	if s.Model == nil {
		return own
	}
	p := s.Model.Parts(ctx, question)
	p.note(ctx)
	proposed := slices.DeleteFunc(p.Texts, func(text string) bool { return !telling(text) })
	if len(proposed) < 2 {
		return own
	}
	return proposed[:min(maxParts, len(proposed))]
}

// write is the answer of a model from the best passages of all parts; empty without
// a model, when it has none, and when nothing was found: then nobody is asked.
func (s *Service) write(ctx context.Context, q Question, found []search.Result, limit int) string {
	if s.Model == nil || !slices.ContainsFunc(found, search.Result.Found) {
		return ""
	}
	memory.Yield(ctx)
	w := s.Model.Write(ctx, q.Text, q.Instruction, bestOf(found, limit))
	w.note(ctx)
	return strings.TrimSpace(w.Markdown)
}

// bestOf are the passages of all parts that have an answer, the best of each first.
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

// inTurn takes from the lists in turn, each thing once, limit at most.
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
