package search

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"docent/shared/search/segment"
	"docent/shared/search/text"
)

// noWords is the list of words of a model that has none.
func noWords(string) bool { return false }

func buildPostings(p *profile, docs []Document) (segment.File, error) {
	return buildWith(context.Background(), newBuilder(p), docs)
}

// Ranked is a document in a ranking without verification.
type Ranked struct {
	Document          uuid.UUID
	Score, Normalised float64
}

// RankAll ranks documents of one space by their best passage among the best depth ones, with
// proximity for the first near. It also returns the size of their segment.
func RankAll(space Space, docs []Document, questions []string, depth, near int) (runs [][]Ranked, bytesPerPassage float64, err error) {
	p := profileOf(space)
	b, err := buildPostings(p, docs)
	if err != nil {
		return nil, 0, err
	}
	s, err := segment.Open(b.Data)
	if err != nil {
		return nil, 0, err
	}
	var texts []analysed // by passage
	for _, d := range docs {
		for _, c := range text.Cut(d.Body) {
			for _, q := range c.Passages {
				texts = append(texts, p.analyse(d.Title, q.Heading, d.Body[q.Start:q.End]))
			}
		}
	}
	var all [][]Ranked
	for _, q := range questions {
		r, err := newRanking(context.Background(), p, []*segment.Segment{s}, q, Carried{}, noWords)
		if err != nil {
			return nil, 0, err
		}
		found, err := r.best(depth)
		if err != nil {
			return nil, 0, err
		}
		var out []Ranked
		place := map[uuid.UUID]int{}
		for i, c := range found {
			score := float64(c.score)
			if i < near {
				score = r.complete(score, texts[c.passage], r.places(texts[c.passage]), s.Length(c.passage))
			}
			if j, ok := place[c.document]; ok {
				if score > out[j].Score {
					out[j].Score, out[j].Normalised = score, r.normalised(score)
				}
				continue
			}
			place[c.document] = len(out)
			out = append(out, Ranked{c.document, score, r.normalised(score)})
		}
		all = append(all, out)
	}
	return all, float64(len(b.Data)) / float64(len(texts)), nil
}

// QuoteAll returns every block of every passage of body in the form of a quotation.
func QuoteAll(body, question string) []string {
	p := prose
	b, err := buildPostings(p, []Document{{Body: body}})
	if err != nil {
		panic(err)
	}
	s, err := segment.Open(b.Data)
	if err != nil {
		panic(err)
	}
	r, err := newRanking(context.Background(), p, []*segment.Segment{s}, question, Carried{}, noWords)
	if err != nil {
		panic(err)
	}
	var out []string
	for _, c := range text.Cut(body) {
		for _, q := range c.Passages {
			all := (Hit{Passage: body[q.Start:q.End], opening: q.Opening, before: body[c.Start:q.Start], fromStart: c.Start == 0, after: body[q.End:c.End]}).blocks()
			for i := range all {
				out = append(out, quoted(stretch(all, i, r, answerTypeOf(question))))
			}
		}
	}
	return out
}

// BuildSegment returns the file of one segment of documents.
func BuildSegment(space Space, docs []Document) ([]byte, error) {
	b, err := buildPostings(profileOf(space), docs)
	return b.Data, err
}

// Places returns where each passage of a segment file is stored.
func Places(data []byte) (refs []Ref, within []int, err error) {
	s, err := segment.Open(data)
	if err != nil {
		return nil, nil, err
	}
	for i := range s.Passages {
		id, version, err := s.Identify(s.Document(i))
		if err != nil {
			return nil, nil, err
		}
		chunk, n := s.Place(i)
		refs, within = append(refs, Ref{id, version, chunk}), append(within, n)
	}
	return refs, within, nil
}

// Levels returns the levels of a team's segments.
func (ix *Index) Levels(ctx context.Context, teamID string) (levels []int, err error) {
	records, err := ix.records(ctx, teamID, "")
	for _, r := range records {
		levels = append(levels, r.level)
	}
	return levels, err
}

// Formats returns the formats of a team's segments, those of postings first, in order of time.
func (ix *Index) Formats(ctx context.Context, teamID string) (formats []int, err error) {
	records, err := ix.records(ctx, teamID, "")
	for _, r := range records {
		formats = append(formats, r.content.Format)
	}
	return formats, err
}

// Ranker opens a segment file and returns a function that finds the best passages in it.
func Ranker(data []byte) (func(question string) error, error) {
	s, err := segment.Open(data)
	if err != nil {
		return nil, err
	}
	return func(question string) error {
		r, err := newRanking(context.Background(), profiles[s.Profile], []*segment.Segment{s}, question, Carried{}, noWords)
		if err != nil {
			return err
		}
		_, err = r.best(maxCandidates)
		return err
	}, nil
}

// Compared returns how many terms of a segment file the misspelt words of a question are compared with.
func Compared(ctx context.Context, data []byte, question string) (int, error) {
	s, err := segment.Open(data)
	if err != nil {
		return 0, err
	}
	r, err := newRanking(ctx, profiles[s.Profile], []*segment.Segment{s}, question, Carried{}, noWords)
	if err != nil {
		return 0, err
	}
	return r.compared, nil
}

// MaxQuestionTerms bounds the distinct terms of a question.
const MaxQuestionTerms = maxQuestionTerms

// The bounds of one misspelt word, and of those of a question.
const (
	RespellSimilar = respellSimilar
	RespellRead    = respellRead
	Respelled      = respelled
)

// Slips returns the number of slips between a and b.
func Slips(a, b string) int { return slips([]rune(a), []rune(b), new([3][]int)) }

// SliceOf sets the number of passages of a slice.
func (b *Rebuilder) SliceOf(passages int) *Rebuilder {
	b.slicePassages = passages
	return b
}

// Outdated counts a team's segments by the reason to rebuild them, "" for none.
func (ix *Index) Outdated(ctx context.Context, teamID string) (map[string]int, error) {
	records, err := ix.records(ctx, teamID, "")
	reasons := map[string]int{}
	for _, r := range records {
		reasons[string(r.outdated())]++
	}
	return reasons, err
}

// Terms analyses s.
func Terms(space Space, s string) []string {
	return profileOf(space).in(text.LanguageOf(s)).AppendTerms(nil, s)
}

// Lists gathers passages, each a list of terms of a weight, and returns the segment with their postings.
func Lists(passages [][]string, weight uint32) (*segment.Segment, error) {
	l, w := newPostingLists(), segment.NewWriter(prose.id)
	w.Document(uuid.UUID{}, 1)
	starts := byte(segment.StartsDocument)
	for n, terms := range passages {
		for _, term := range terms {
			l.add(term, uint32(n), weight)
		}
		w.Passage(len(terms), starts)
		starts = 0
	}
	l.write(w)
	f, err := w.Finish()
	if err != nil {
		return nil, err
	}
	return segment.Open(f.Data)
}

// NearestDistance is nearestDistance.
var NearestDistance = nearestDistance

// BestCandidates returns the first n of documents with the same score, and how many there was room for.
func BestCandidates(documents []uuid.UUID, n int) (best []uuid.UUID, room int) {
	kept := bestCandidates{n: n}
	for i, d := range documents {
		kept.add(&candidate{ranking: &ranking{}, document: d, passage: i, score: 1})
		room = max(room, cap(kept.kept))
	}
	for _, c := range kept.inOrder() {
		best = append(best, c.document)
	}
	return best, room
}

// TermsAsked returns the number of distinct terms that a question of many segments of docs looks up.
func TermsAsked(docs []Document, segments int, question string) (int, error) {
	p := profileOf(Documentation)
	f, err := buildPostings(p, docs)
	if err != nil {
		return 0, err
	}
	s, err := segment.Open(f.Data)
	if err != nil {
		return 0, err
	}
	r, err := newRanking(context.Background(), p, slices.Repeat([]*segment.Segment{s}, segments), question, Carried{}, noWords)
	if err != nil {
		return 0, err
	}
	return len(r.terms), nil
}
