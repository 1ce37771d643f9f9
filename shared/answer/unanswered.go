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
	maxGapWording   = 1000 // bytes of a question that are compared, its first ones
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
}

// Count returns the number of questions in the group.
func (g Gap) Count() int { return g.NotFound + g.Failed + g.RatedDown }

// Unanswered returns groups of the questions since then that were not answered or whose answers
// were rated down, the largest first. It looks at the newest 2,000 questions that the asker may
// read; all reports whether these were all.
func (s *Service) Unanswered(ctx context.Context, teamID string, asker Asker, since time.Time) (gaps []*Gap, all bool, _ error) {
	g := grouping{with: map[string][]int{}}
	w := table.Window{Limit: 100} // nothing of an answer is shown, only whether there was one
	for read := 0; read < maxGapQuestions; {
		slice, err := s.listStored(ctx, teamID, asker, w)
		if err != nil {
			return nil, false, err
		}
		for _, e := range slice.Entries {
			if e.Value.AskedAt.Before(since) {
				return sorted(g.gaps), true, nil
			}
			g.add(e.Value)
		}
		if !slice.Next {
			return sorted(g.gaps), true, nil
		}
		read += w.Limit
		w.After = slice.Last
	}
	return sorted(g.gaps), false, nil
}

// grouping groups questions by their wording. It finds the groups that a question has terms in common with by these terms:
// to compare each of thousands of questions with each group would take long.
type grouping struct {
	gaps  []*Gap
	terms []int            // by group: how many terms its newest question has
	with  map[string][]int // by term: the groups whose newest question has it
}

// add adds a to the group of alike wording, if it was not answered well.
func (g *grouping) add(a Answer) {
	down := a.Feedback != nil && a.Feedback.Rating == Down
	if a.State == Processing || a.State == Complete && len(a.References) > 0 && !down {
		return
	}
	terms := termsOf(a.Question)
	i := g.alike(terms)
	if i < 0 {
		i = len(g.gaps)
		g.gaps, g.terms = append(g.gaps, &Gap{Question: a.Question, LastAsked: a.AskedAt}), append(g.terms, len(terms))
		for _, term := range terms {
			g.with[term] = append(g.with[term], i)
		}
	}
	gap := g.gaps[i]
	switch {
	case down:
		gap.RatedDown++
		if a.Feedback.Comment != "" && len(gap.Comments) < maxGapIDs {
			gap.Comments = append(gap.Comments, a.Feedback.Comment)
		}
	case a.State == Failed:
		gap.Failed++
	default:
		gap.NotFound++
	}
	if len(gap.IDs) < maxGapIDs {
		gap.IDs = append(gap.IDs, a.QuestionID)
	}
}

// alike returns the first group whose newest question has alike terms, or -1.
func (g *grouping) alike(terms []string) int {
	common := make([]int, len(g.gaps))
	for _, term := range terms {
		for _, i := range g.with[term] {
			common[i]++
		}
	}
	for i, n := range common {
		if n > 0 && float64(n) >= alike*float64(len(terms)+g.terms[i]-n) {
			return i
		}
	}
	return -1
}

// termsOf returns the distinct terms of a question's wording without stop words; its words if there are no others.
func termsOf(question string) []string {
	question = strings.ToValidUTF8(question[:min(len(question), maxGapWording)], "")
	terms := text.Analyser{Language: text.LanguageOf(question)}.AppendTerms(nil, question)
	terms = slices.DeleteFunc(terms, func(term string) bool { return term == "" })
	if len(terms) == 0 {
		terms = strings.Fields(strings.ToLower(question))
	}
	slices.Sort(terms)
	return slices.Compact(terms)
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
