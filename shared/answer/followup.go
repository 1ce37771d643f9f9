package answer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/search/text"
	"docent/shared/table"
)

// Bounds of what a follow-up question takes over from the questions before it.
const (
	contextQuestions = 3
	contextBytes     = 2000
	carriedWords     = 12
)

// followUp makes a follow the question q.Previous, which the asker must be allowed to read. repeats
// reports that this question was asked before, and that the one before it was deleted since.
func (s *Service) followUp(ctx context.Context, teamID string, asker Asker, q Question, a *Answer) (repeats bool, _ error) {
	a.Previous = q.Previous
	a.Context = lastLines(q.Context)
	if q.Previous == "" {
		return false, nil
	}
	before, err := s.Get(ctx, teamID, asker, q.Previous)
	if err == nil {
		a.Context = lastLines(append(strings.Split(before.Context, "\n"), before.Question))
		return false, nil
	}
	if !apierr.IsCode(err, apierr.CodeNotFound) {
		return false, err
	}
	item, err := s.Table.Get(ctx, answerKey(q.ID))
	if err == nil && repeated(&item, asker, *a) == nil {
		return true, nil
	}
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return false, err
	}
	return false, apierr.BadField("/previousQuestionId", "is not the id of a question that you may read")
}

// lastLines returns the last questions as lines, the newest last.
func lastLines(questions []string) string {
	var lines []string
	room := contextBytes
	for i := len(questions) - 1; i >= 0 && len(lines) < contextQuestions; i-- {
		line := strings.Join(strings.Fields(questions[i]), " ")
		if line == "" {
			continue
		}
		for len(line) > room {
			_, size := utf8.DecodeLastRuneInString(line)
			line = line[:len(line)-size]
		}
		room -= len(line)
		if line != "" {
			lines = append(lines, line)
		}
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// searched returns the text to search and to quote for: the question, and the words of the questions
// before it that it does not repeat, the newest first.
func (a Answer) searched() string {
	if a.Context == "" {
		return a.Question
	}
	analyser := text.Analyser{Language: text.LanguageOf(a.Context + " " + a.Question)}
	seen := map[string]bool{}
	for _, term := range analyser.AppendTerms(nil, a.Question) {
		seen[term] = true
	}
	out := []string{a.Question}
	lines := strings.Split(a.Context, "\n")
	slices.Reverse(lines)
	for _, line := range lines {
		for _, word := range strings.Fields(line) {
			added := false
			for _, term := range analyser.AppendTerms(nil, word) {
				if term != "" && !seen[term] {
					seen[term], added = true, true
				}
			}
			if added && len(out) <= carriedWords {
				out = append(out, strings.Trim(word, "?!.,;:"))
			}
		}
	}
	return strings.Join(out, " ")
}

// understood returns the question for a model, after the question that it follows.
func (a Answer) understood() string {
	if a.Context == "" {
		return a.Question
	}
	return a.Context[strings.LastIndexByte(a.Context, '\n')+1:] + "\n" + a.Question
}
