package question

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

	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/source"
	"docent/shared/uri"
)

// Effort is how much work Research does.
type Effort string

// The efforts.
const (
	Low    Effort = "low"    // the question as it is
	Medium Effort = "medium" // up to three wordings of it
	High   Effort = "high"   // up to four parts of it, each as in Medium
)

// ResearchTime bounds the time of one Research.
const ResearchTime = 25 * time.Second

// rankOffset is the k of reciprocal rank fusion.
const rankOffset = 60

// bounds say for each effort from how many documents and passages it answers, and
// how many pieces it quotes per part.
var bounds = map[Effort]struct{ documents, passages, pieces int }{Low: {8, 8, 3}, Medium: {16, 16, 6}, High: {24, 24, 3}}

// Researched is the result of a Research.
type Researched struct {
	Answer  string   // Markdown; a reference has the place of its document in Sources as number, from 1
	Sources []Source // best first
	Cited   []string // URLs that the answer cites; those of a file may name another page than Sources
}

// Research answers a question by a model, if there is one, or by quoting. It works at
// most ResearchTime; rewordings that are not found by then are left out. It returns an error with
// CodeAccessChanged if the caller may no longer read a document of the answer when that is written.
func (s *Service) Research(ctx context.Context, teamID string, c Caller, q Question, effort Effort) (Researched, error) {
	r := &researchRun{Service: s, teamID: teamID, caller: c, question: q, effort: effort}
	limited, cancel := context.WithTimeout(ctx, ResearchTime)
	defer cancel()
	asked, found, shelves, err := r.find(limited)
	if err != nil {
		return Researched{}, err
	}
	b := bounds[effort]
	hits := listed(joined(slices.DeleteFunc(slices.Clone(found), func(r search.Result) bool { return !r.Found() }), b.documents), shelves)
	sources, numbers := sourcesOf(hits, shelves), numbered(hits)
	found = within(numbers, found)
	if q.Listener.Found != nil {
		q.Listener.Found(sources)
	}
	watch := r.watch(hits)
	if written := q.Listener.Written; written != nil {
		q.Listener.Written = func(markdown string, urls []string) {
			if watch.Check(limited) == nil { // after a failure, the next text has this one, too
				written(markdown, urls)
			}
		}
	}
	w := s.write(limited, q, found, b.passages, numbers)
	if err := watch.Check(ctx); err != nil {
		return Researched{}, err
	}
	if w.Markdown != "" {
		return Researched{w.Markdown, sources, w.URLs}, nil
	}
	answer, cited := answerParts(asked, found, b.passages, b.pieces, numbers)
	return Researched{answer, sources, cited}, nil
}

// researchRun is the state of one Research.
type researchRun struct {
	*Service
	teamID   string
	caller   Caller
	question Question
	effort   Effort
}

// search searches what the caller may read. Every search of a Research uses it.
func (r *researchRun) search(ctx context.Context, text string) (search.Result, error) {
	return r.Index(ctx, r.teamID, search.Query{Text: text, Instruction: r.question.Instruction, Sources: r.caller.Sources, Reader: r.caller.Reader,
		Limit: bounds[r.effort].documents, Filter: r.question.Filter})
}

// watch returns the Watch of an answer from hits, which were just found.
func (r *researchRun) watch(hits []search.Hit) *document.Watch {
	found := document.OfHits(hits)
	return document.NewWatch(r.Now, func(ctx context.Context) (closed bool, err error) {
		hidden, _, err := r.Documents.Unreadable(ctx, r.teamID, r.caller.who(), found)
		return len(hidden) > 0, err
	})
}

// find searches for the parts of the question and, in parallel, reads the
// team's data sources.
func (r *researchRun) find(ctx context.Context) (asked []string, found []search.Result, shelves map[string]source.Shelf, err error) {
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		shelves, err = r.Sources.Shelves(gctx, r.teamID)
		return err
	})
	group.Go(func() (err error) {
		asked, found, err = r.findParts(gctx)
		return err
	})
	err = group.Wait()
	return asked, found, shelves, err
}

func (r *researchRun) findParts(ctx context.Context) (asked []string, found []search.Result, err error) {
	whole := []string{r.question.Text}
	if r.effort != High {
		found, err = r.findAll(ctx, whole)
		return whole, found, err
	}
	if asked = r.parts(ctx, r.question.Text); len(asked) > 1 {
		found, err = r.findAll(ctx, asked)
		if err != nil || slices.ContainsFunc(found, search.Result.Found) {
			return asked, found, err
		}
	}
	// Nothing was found for the parts, or there is only one.
	found, err = r.findAll(ctx, whole)
	return whole, found, err
}

// findAll searches for each of texts, with other wordings if the effort allows.
func (r *researchRun) findAll(ctx context.Context, texts []string) ([]search.Result, error) {
	found := make([]search.Result, len(texts))
	group, gctx := errgroup.WithContext(ctx)
	for i, text := range texts {
		group.Go(func() (err error) {
			var proposed []string
			both, bctx := errgroup.WithContext(gctx)
			if r.effort == Medium {
				both.Go(func() error {
					proposed = r.wordings(bctx, text)
					return nil
				})
			}
			both.Go(func() (err error) {
				found[i], err = r.search(bctx, text)
				return err
			})
			if err := both.Wait(); err != nil || r.effort == Low {
				return err
			}
			if len(proposed) == 0 {
				proposed = []string{rarestHalf(text, found[i]), widened(text, found[i])}
			}
			found[i], err = r.reworded(gctx, proposed, found[i])
			return err
		})
	}
	return found, group.Wait()
}

// reworded searches for wordings in parallel and adds their results to own, those of
// the question. It leaves out searches that do not end in time.
func (r *researchRun) reworded(ctx context.Context, wordings []string, own search.Result) (search.Result, error) {
	found := make([]search.Result, len(wordings))
	group, gctx := errgroup.WithContext(ctx)
	for i, wording := range wordings {
		if wording == "" {
			continue
		}
		group.Go(func() error {
			more, err := r.search(gctx, wording)
			if errors.Is(err, context.DeadlineExceeded) {
				return nil
			}
			found[i] = more
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return search.Result{}, err
	}
	return fuse(append([]search.Result{own}, found...)), nil
}

// fuse sorts the documents of several lists by reciprocal rank; the first list counts
// twice. Only the first list decides whether there is an answer: its best passages
// stay first, and those of further documents follow.
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
	out := search.Result{Passages: own.Passages, HasTerms: own.HasTerms, Best: slices.Clone(own.Best)}
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

// answerParts quotes what was found. Each of several parts gets a heading, and a
// sentence if nothing was found for it. If nothing was found at all, it says so once.
// It also returns the URLs of what it quotes.
func answerParts(asked []string, found []search.Result, passages, pieces int, numbers map[uuid.UUID]int) (markdown string, cited []string) {
	answers := make([]search.Answer, len(asked))
	anyFound := false
	for i := range asked {
		answers[i] = search.QuoteUpTo(asked[i], found[i], passages, pieces, numbers)
		if answers[i].Found {
			anyFound = true
		}
		for _, r := range answers[i].References {
			if !slices.ContainsFunc(cited, func(url string) bool { return uri.WithoutPage(url) == uri.WithoutPage(r.URL) }) {
				cited = append(cited, r.URL)
			}
		}
	}
	if len(asked) == 1 || !anyFound {
		return answers[0].Markdown, cited
	}
	var b strings.Builder
	for i, a := range answers {
		fmt.Fprintf(&b, "## %s\n\n%s\n", heading(asked[i]), strings.TrimSpace(a.Markdown))
		if i < len(answers)-1 {
			b.WriteString("\n")
		}
	}
	return b.String(), cited
}

// heading returns a part of a question on one line, with Markdown escaped.
func heading(text string) string {
	return strings.Join(strings.Fields(escaper.Replace(text)), " ")
}

var escaper = strings.NewReplacer("\\", `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "!", `\!`, "&", `\&`, "|", `\|`, "~", `\~`)

// joined returns documents of all parts, the best of each first: as many as limit, and in
// any case those of the best passages, with which an answer begins.
func joined(found []search.Result, limit int) []search.Hit {
	var lists [][]search.Hit
	for _, r := range found {
		lists = append(lists, r.Hits)
	}
	hits := inTurn(lists, limit, func(h search.Hit) uuid.UUID { return h.Document })
	for _, r := range found {
		isBest := func(h search.Hit) bool { return h.Document == r.Best[0].Document }
		if i := slices.IndexFunc(r.Hits, isBest); i >= 0 && !slices.ContainsFunc(hits, isBest) {
			hits = append(hits, r.Hits[i])
		}
	}
	return hits
}

// numbered returns the places of documents, from 1.
func numbered(hits []search.Hit) map[uuid.UUID]int {
	numbers := map[uuid.UUID]int{}
	for i, h := range hits {
		numbers[h.Document] = i + 1
	}
	return numbers
}

// within returns found without the passages of documents that have no number. So an answer cites only documents among its
// sources.
func within(numbers map[uuid.UUID]int, found []search.Result) []search.Result {
	out := slices.Clone(found)
	for i := range out {
		out[i].Best = slices.DeleteFunc(slices.Clone(out[i].Best), func(h search.Hit) bool { return numbers[h.Document] == 0 })
	}
	return out
}
