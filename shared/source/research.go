package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"docent/shared/search"
)

// Effort is how much work research takes.
type Effort string

// The efforts.
const (
	Low    Effort = "low"    // the question as it is
	Medium Effort = "medium" // up to three wordings of it
	High   Effort = "high"   // up to four parts of it, each as in Medium
)

// ResearchTime bounds the work of one Research.
const ResearchTime = 25 * time.Second

// rankOffset is k of reciprocal rank fusion.
const rankOffset = 60

// bounds are what each effort quotes from and how much.
var bounds = map[Effort]struct{ documents, passages, pieces int }{Low: {8, 8, 3}, Medium: {16, 16, 6}, High: {24, 24, 3}}

// Research answers a question by quoting, with what it has found, best first.
// When its time is up it answers from what was found until then.
func (s *Service) Research(ctx context.Context, teamID string, c Caller, q Question, effort Effort) (string, []Source, error) {
	b := bounds[effort]
	searchFor := func(ctx context.Context, text string) (search.Result, error) {
		return s.Index(ctx, teamID, search.Query{Text: text, Instruction: q.Instruction, Sources: c.Sources, Limit: b.documents})
	}
	asked := []string{q.Text}
	if effort == High {
		if several := parts(q.Text); len(several) > 1 {
			asked = several
		}
	}
	limited, cancel := context.WithTimeout(ctx, ResearchTime)
	defer cancel()
	var providers map[string]Provider
	found := make([]search.Result, len(asked))
	group, gctx := errgroup.WithContext(limited)
	group.Go(func() (err error) {
		providers, err = s.providers(gctx, teamID)
		return err
	})
	for i, part := range asked {
		group.Go(func() (err error) {
			if found[i], err = searchFor(gctx, part); err != nil || effort == Low {
				return err
			}
			found[i], err = reworded(gctx, searchFor, part, found[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return "", nil, err
	}
	answer := answerParts(asked, found, b.passages, b.pieces)
	found = slices.DeleteFunc(found, func(r search.Result) bool { return !r.Found() })
	return answer, sourcesOf(joined(found, b.documents), providers), nil
}

// reworded adds to own, what question found, what its other wordings find. Those
// that do not end in time are left out.
func reworded(ctx context.Context, searchFor func(context.Context, string) (search.Result, error), question string, own search.Result) (search.Result, error) {
	lists := []search.Result{own}
	for _, wording := range []string{rarer(question, own), widened(question, own)} {
		if wording == "" {
			continue
		}
		more, err := searchFor(ctx, wording)
		if errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if err != nil {
			return search.Result{}, err
		}
		lists = append(lists, more)
	}
	return fuse(lists), nil
}

// fuse orders the documents of several lists by reciprocal rank, the first list
// counting twice. Whether there is an answer at all stays the first list's word:
// its best passage stays the best, and the passages of further documents follow.
func fuse(lists []search.Result) search.Result {
	own := lists[0]
	score := map[uuid.UUID]float64{}
	hits := map[uuid.UUID]search.Hit{}
	var order []uuid.UUID
	for i, list := range lists {
		weight := 1.0
		if i == 0 {
			weight = 2
		}
		for rank, h := range list.Hits {
			if _, known := hits[h.Document]; !known {
				hits[h.Document] = h
				order = append(order, h.Document)
			}
			score[h.Document] += weight / float64(rankOffset+rank+1)
		}
	}
	slices.SortStableFunc(order, func(a, b uuid.UUID) int { return cmp.Compare(score[b], score[a]) })
	out := search.Result{Passages: own.Passages, Known: own.Known, Best: slices.Clone(own.Best)}
	held := map[uuid.UUID]bool{}
	for _, h := range own.Best {
		held[h.Document] = true
	}
	for _, id := range order {
		h := hits[id]
		out.Hits = append(out.Hits, h)
		if !held[id] && len(own.Best) > 0 {
			h.Normalised = min(h.Normalised, own.Best[len(own.Best)-1].Normalised)
			out.Best = append(out.Best, h)
		}
	}
	return out
}

// answerParts quotes what was found. Of several parts each has its heading, and
// its own sentence where nothing was found; when none has anything, it is said once.
func answerParts(asked []string, found []search.Result, passages, pieces int) string {
	if len(asked) == 1 {
		return search.QuoteUpTo(asked[0], found[0], passages, pieces).Markdown
	}
	answers := make([]search.Answer, len(asked))
	some := false
	for i := range asked {
		answers[i] = search.QuoteUpTo(asked[i], found[i], passages, pieces)
		if answers[i].Found {
			some = true
		}
	}
	if !some {
		return answers[0].Markdown
	}
	var b strings.Builder
	for i, a := range answers {
		fmt.Fprintf(&b, "## %s\n\n%s\n", heading(asked[i]), strings.TrimSpace(a.Markdown))
		if i < len(answers)-1 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// heading is a part of a question on one line, as plain text.
func heading(text string) string {
	return strings.Join(strings.Fields(escaper.Replace(text)), " ")
}

var escaper = strings.NewReplacer("\\", `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "!", `\!`, "&", `\&`, "|", `\|`, "~", `\~`)

// joined are the documents of all parts, the best of each first.
func joined(found []search.Result, limit int) []search.Hit {
	var out []search.Hit
	seen := map[uuid.UUID]bool{}
	for rank := 0; len(out) < limit; rank++ {
		left := false
		for _, r := range found {
			if rank >= len(r.Hits) {
				continue
			}
			left = true
			if h := r.Hits[rank]; !seen[h.Document] && len(out) < limit {
				seen[h.Document] = true
				out = append(out, h)
			}
		}
		if !left {
			break
		}
	}
	return out
}
