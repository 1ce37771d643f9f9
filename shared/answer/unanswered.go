package answer

import (
	"context"
	"slices"
	"strings"
	"time"

	"docent/shared/search/text"
	"docent/shared/table"
)

// Bounds of Unanswered.
const (
	maxGapQuestions = 2000 // that are read
	maxGapIDs       = 10   // of one Gap
	alike           = 0.5  // share of common terms from which two questions have alike wording
)

// Gap is a group of questions with alike wording that were not answered well.
type Gap struct {
	Question  string // the newest
	NotFound  int    // questions for which nothing was found
	Failed    int
	RatedDown int
	LastAsked time.Time
	IDs       []string // of the newest questions, newest first
	Comments  []string // of readers who rated down, newest first

	terms map[string]bool // of the newest question
}

// Count returns the number of questions in the group.
func (g Gap) Count() int { return g.NotFound + g.Failed + g.RatedDown }

// Unanswered returns groups of the questions since then that were not answered or whose answers
// were rated down, the largest first. It looks at the newest 2,000 questions that the asker may
// read; all reports whether these were all.
func (s *Service) Unanswered(ctx context.Context, teamID string, asker Asker, since time.Time) (gaps []*Gap, all bool, _ error) {
	w := table.Window{Limit: 100} // nothing of an answer is shown, only whether there was one
	for read := 0; read < maxGapQuestions; {
		slice, err := s.listStored(ctx, teamID, asker, w)
		if err != nil {
			return nil, false, err
		}
		for _, e := range slice.Entries {
			if e.Value.AskedAt.Before(since) {
				return sorted(gaps), true, nil
			}
			gaps = addGap(gaps, e.Value)
		}
		if !slice.Next {
			return sorted(gaps), true, nil
		}
		read += w.Limit
		w.After = slice.Last
	}
	return sorted(gaps), false, nil
}

// addGap adds a to the group of alike wording, if it was not answered well.
func addGap(gaps []*Gap, a Answer) []*Gap {
	down := a.Feedback != nil && a.Feedback.Rating == Down
	if a.State == Processing || a.State == Complete && len(a.References) > 0 && !down {
		return gaps
	}
	terms := termsOf(a.Question)
	i := slices.IndexFunc(gaps, func(g *Gap) bool { return areAlike(g.terms, terms) })
	if i < 0 {
		i = len(gaps)
		gaps = append(gaps, &Gap{Question: a.Question, LastAsked: a.AskedAt, terms: terms})
	}
	g := gaps[i]
	switch {
	case down:
		g.RatedDown++
		if a.Feedback.Comment != "" && len(g.Comments) < maxGapIDs {
			g.Comments = append(g.Comments, a.Feedback.Comment)
		}
	case a.State == Failed:
		g.Failed++
	default:
		g.NotFound++
	}
	if len(g.IDs) < maxGapIDs {
		g.IDs = append(g.IDs, a.QuestionID)
	}
	return gaps
}

// termsOf returns the terms of a question without stop words; its words if there are no others.
func termsOf(question string) map[string]bool {
	terms := map[string]bool{}
	for _, term := range (text.Analyser{Language: text.LanguageOf(question)}).AppendTerms(nil, question) {
		if term != "" {
			terms[term] = true
		}
	}
	if len(terms) == 0 {
		for _, word := range strings.Fields(strings.ToLower(question)) {
			terms[word] = true
		}
	}
	return terms
}

func areAlike(a, b map[string]bool) bool {
	common := 0
	for term := range a {
		if b[term] {
			common++
		}
	}
	return common > 0 && float64(common) >= alike*float64(len(a)+len(b)-common)
}

// sorted sorts groups by their size, equal ones by the newest question.
func sorted(gaps []*Gap) []*Gap {
	slices.SortStableFunc(gaps, func(a, b *Gap) int {
		if a.Count() != b.Count() {
			return b.Count() - a.Count()
		}
		return b.LastAsked.Compare(a.LastAsked)
	})
	return gaps
}
