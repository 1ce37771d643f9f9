package search

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"docent/shared/search/segment"
	"docent/shared/search/text"
)

// Bounds of the distinct terms of a question. Further terms are ignored. Each is looked up in each segment: of more than a thousand
// segments, as a team with a hundred sources may have, fewer terms are.
const (
	maxQuestionTerms = 256
	minQuestionTerms = 32
	maxLookUps       = maxQuestionTerms << 10
)

// mostTerms returns how many distinct terms a question of that many segments has at most.
func mostTerms(segments int) int {
	return min(maxQuestionTerms, max(minQuestionTerms, maxLookUps/max(segments, 1)))
}

// maxQuestionBytes bounds what the characters of a question become in terms, such as the ligature \uFDFA, which is four words. Without such
// characters no question of a client is longer.
const maxQuestionBytes = 40_000

// ranking is a question and the segments of one profile: the question's terms, with
// statistics over exactly these segments.
type ranking struct {
	profile    *profile
	language   *text.Language
	segments   []*segment.Segment
	terms      []*questionTerm            // distinct, in order of first use
	compounds  []*compound                // of neighbouring words of the question
	compoundOf map[string]*compound       // by its text
	byText     map[string]*questionTerm   // by the spelling in the question and the one looked up
	looked     map[string][]*segment.List // by text, by segment; shared by the languages that are tried
	order      []int                      // places of the terms in the question's order; nil after it was read
	codes      map[uint32][]int           // code of a term → places in terms
	filter     codeFilter                 // of codes
	pairs      []pair
	passages   int
	average    float64           // terms a passage
	maxScore   float64           // upper bound of a score without proximity
	decoded    int               // postings that scoring has read so far
	compared   int               // terms that misspelt ones were compared with
	respelled  map[string]string // the terms that replace misspelt ones, by those
}

// questionTerm is one distinct term of a question.
type questionTerm struct {
	text    string
	place   int // in the ranking's terms
	count   int // in the question
	df      int // passages that contain it
	idf     float64
	weight  float64         // of one occurrence: 1, or less for a corrected spelling
	maxIDF  float64         // idf of the spelling in the question, which maxScore uses
	name    bool            // written as a name in the question
	carried bool            // from a question before it only
	lists   []*segment.List // by segment; nil for one without the term
}

// newRanking analyses a question, the end of which is carried, and looks its terms up. Words that knows reports are not misspelt.
func newRanking(ctx context.Context, p *profile, segments []*segment.Segment, question string, carried Carried, knows func(word string) bool) (*ranking, error) {
	r := &ranking{profile: p, segments: segments}
	var lengths uint64
	for _, s := range segments {
		passages, sum := s.Statistics()
		r.passages += passages
		lengths += sum
	}
	r.average = max(float64(lengths)/float64(max(r.passages, 1)), 1)

	best := -1.0
	looked := map[string][]*segment.List{}
	for _, l := range text.LanguagesOf(question) {
		t := &ranking{profile: p, language: l, segments: segments, passages: r.passages, average: r.average, looked: looked}
		if err := t.ask(question, carried.Words); err != nil {
			return nil, err
		}
		if known := t.knownShare(); known > best {
			best, r = known, t
		}
		if best == 1 {
			break
		}
	}
	if err := r.respell(ctx, question, knows); err != nil {
		return nil, err
	}
	r.weaken(carried.Weight)
	for _, t := range r.terms {
		r.maxScore += (p.k1 + 1) * max(t.idf, t.maxIDF)
	}
	r.codes = make(map[uint32][]int, len(r.terms)+len(r.compounds))
	for _, c := range r.compounds {
		r.codes[code(c.text)] = c.parts
	}
	for i, t := range r.terms {
		r.codes[code(t.text)] = []int{i}
	}
	for c := range r.codes {
		r.filter.add(c)
	}
	r.pairUp(r.order)
	r.markNames(question)
	r.order = nil
	return r, nil
}

// ask analyses the question, which ends with carried, in one language and looks its terms up.
func (r *ranking) ask(question, carried string) error {
	var own []string
	if carried != "" {
		own = r.profile.in(r.language).AppendTerms(nil, strings.TrimSuffix(question, carried))
	}
	most := mostTerms(len(r.segments))
	r.byText, r.compoundOf = map[string]*questionTerm{}, map[string]*compound{}
	for _, text := range r.profile.in(r.language).AppendTerms(nil, question) {
		if text == "" {
			continue
		}
		t, ok := r.byText[text]
		if !ok {
			if len(r.terms) == most {
				continue
			}
			t = &questionTerm{text: text, place: len(r.terms), weight: 1, carried: carried != "" && !slices.Contains(own, text)}
			r.byText[text] = t
			r.terms = append(r.terms, t)
		}
		t.count++
		r.order = append(r.order, t.place)
	}
	written, words := r.compoundTexts(question)
	wanted := slices.Clone(written)
	for _, t := range r.terms {
		wanted = append(wanted, t.text)
	}
	if err := r.parallel(func(_ int, s *segment.Segment) error { return s.FetchTerms(wanted) }); err != nil {
		return err
	}
	compounds := r.compoundsOf(written, words)
	compounds = compounds[:min(most/compoundsPerTerm, len(compounds))]
	all := slices.Clone(r.terms)
	for _, c := range compounds {
		all = append(all, &c.questionTerm)
	}
	if err := r.lookUp(all...); err != nil {
		return err
	}
	r.addCompounds(compounds)
	return nil
}

// weaken lets the carried terms count less, unless no passage contains any other term.
func (r *ranking) weaken(weight float64) {
	if !slices.ContainsFunc(r.terms, func(t *questionTerm) bool { return !t.carried && t.df > 0 }) {
		return
	}
	for _, t := range r.terms {
		if t.carried {
			t.idf, t.maxIDF = weight*t.idf, weight*t.maxIDF
		}
	}
	for _, c := range r.compounds {
		c.idf = min(c.idf, r.idfOf(c.parts))
	}
}

// scored returns the terms that passages are scored by: those of the question and its
// compounds.
func (r *ranking) scored() []*questionTerm {
	all := slices.Clone(r.terms)
	for _, c := range r.compounds {
		all = append(all, &c.questionTerm)
	}
	return all
}

// knownShare returns the share of the terms that some passage contains.
func (r *ranking) knownShare() float64 {
	n := 0.0
	for _, t := range r.terms {
		if t.df > 0 {
			n++
		}
	}
	return n / float64(max(len(r.terms), 1))
}

// lookUp looks terms up. Of a view of some passages it reads the postings, because only they say which of
// these passages contain a term.
func (r *ranking) lookUp(terms ...*questionTerm) error {
	var missing []*questionTerm
	for _, t := range terms {
		if t.lists = r.looked[t.text]; t.lists == nil {
			t.lists = make([]*segment.List, len(r.segments))
			missing = append(missing, t)
			r.looked[t.text] = t.lists
		}
	}
	err := r.parallel(func(i int, s *segment.Segment) error {
		var lists []*segment.List
		for _, t := range missing {
			l, err := s.Find(t.text)
			if err != nil {
				return err
			}
			if l.DF > 0 {
				found := l // on the heap, which l is not: few terms are in each segment
				t.lists[i] = &found
				lists = append(lists, &found)
			}
		}
		if !s.Restricted() || len(lists) == 0 {
			return nil
		}
		return s.Load(lists)
	})
	if err != nil {
		return err
	}
	for _, t := range terms {
		for _, l := range t.lists {
			if l != nil {
				t.df += l.DF
			}
		}
		n, df := float64(r.passages), float64(t.df)
		t.idf = math.Log(1 + (n-df+0.5)/(df+0.5))
	}
	return nil
}

// norm returns the frequency at which a term in a passage of that length reaches half of its
// maximum score.
func (r *ranking) norm(length uint16) float64 {
	p := r.profile
	return p.k1 * (1 - p.b + p.b*float64(length)/r.average)
}

// normalised returns score divided by the question's max score.
func (r *ranking) normalised(score float64) float64 {
	if r.maxScore == 0 {
		return 0
	}
	return score / r.maxScore
}

// candidate is a passage by its score without proximity.
type candidate struct {
	ranking  *ranking
	segment  int // of the ranking's; -1: only its vector is known
	passage  int
	score    float32
	document uuid.UUID
	version  int64
	place    passageID
	near     *neighbour // nil: it has no vector, or vectors are not compared
}

// before orders candidates: best first, equal ones independently of the order of passages in
// segments.
func (c *candidate) before(d *candidate) int {
	switch {
	case c.score > d.score:
		return -1
	case c.score < d.score:
		return 1
	}
	if o := bytes.Compare(c.document[:], d.document[:]); o != 0 {
		return o
	}
	if c.version != d.version {
		if c.version > d.version {
			return -1
		}
		return 1
	}
	if c.segment != d.segment {
		return c.segment - d.segment
	}
	return c.passage - d.passage
}

// best returns up to n passages, best first. It leaves out passages without a term of
// the question. An error about one segment is a *segmentFault.
func (r *ranking) best(n int) ([]candidate, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	terms := r.ordered()
	top := newTop(n)
	for i := range r.segments {
		if err := r.scan(i, terms, top); err != nil {
			return nil, &segmentFault{r.segments[i], err}
		}
	}
	return r.candidates(top.passages(), n)
}

// load reads the parts of ranged segments that scoring needs.
func (r *ranking) load() error {
	terms := r.scored()
	return r.parallel(func(i int, s *segment.Segment) error {
		var lists []*segment.List
		for _, t := range terms {
			if l := t.lists[i]; l != nil && l.DF > 0 && !l.Loaded() {
				lists = append(lists, l)
			}
		}
		if len(lists) == 0 {
			return nil
		}
		return s.Load(lists)
	})
}

func (r *ranking) parallel(do func(i int, s *segment.Segment) error) error {
	return parallel(r.segments, do)
}

// parallel calls do for each segment, in parallel for segments that are read by range. It
// returns a *segmentFault.
func parallel(segments []*segment.Segment, do func(i int, s *segment.Segment) error) error {
	var g errgroup.Group
	g.SetLimit(openAtOnce)
	for i, s := range segments {
		if s.Ranged() {
			g.Go(func() error { return faultOf(s, do(i, s)) })
		} else if err := do(i, s); err != nil {
			return errors.Join(faultOf(s, err), g.Wait())
		}
	}
	return g.Wait()
}

// tiedAtOnce is the number of passages whose documents are looked up in one round. Of short texts, such as messages, a million may
// have the same score.
const tiedAtOnce = 1 << 16

// candidates looks up the documents of passages, and returns the best n in order.
func (r *ranking) candidates(passages []scored, n int) ([]candidate, error) {
	best := bestCandidates{n: n}
	for some := range slices.Chunk(passages, tiedAtOnce) {
		documents := make([][]int, len(r.segments)) // by segment, in the order of passages
		for _, k := range some {
			documents[k.segment] = append(documents[k.segment], r.segments[k.segment].Document(int(k.passage)))
		}
		err := r.parallel(func(i int, s *segment.Segment) error { return s.FetchDocuments(documents[i]) })
		if err != nil {
			return nil, err
		}
		for _, k := range some {
			c := candidate{ranking: r, segment: int(k.segment), passage: int(k.passage), score: k.score}
			s := r.segments[k.segment]
			if c.document, c.version, err = s.Identify(documents[k.segment][0]); err != nil {
				return nil, &segmentFault{s, err}
			}
			documents[k.segment] = documents[k.segment][1:]
			best.add(&c)
		}
	}
	return best.inOrder(), nil
}

// bestCandidates keeps the best n candidates, and at most as many others.
type bestCandidates struct {
	n    int
	kept []candidate
	last candidate // the worst of n that were in order; its ranking is nil before
}

func (b *bestCandidates) add(c *candidate) {
	if b.last.ranking != nil && c.before(&b.last) > 0 {
		return
	}
	if b.kept = append(b.kept, *c); len(b.kept) == 2*b.n {
		b.last = b.inOrder()[b.n-1]
	}
}

func (b *bestCandidates) inOrder() []candidate {
	slices.SortFunc(b.kept, func(a, b candidate) int { return a.before(&b) })
	b.kept = b.kept[:min(b.n, len(b.kept))]
	return b.kept
}

// segmentFault is an error about one segment. A search can leave that segment out.
type segmentFault struct {
	segment *segment.Segment
	err     error
}

func faultOf(s *segment.Segment, err error) error {
	if err == nil {
		return nil
	}
	return &segmentFault{s, err}
}

func (f *segmentFault) Error() string { return f.err.Error() }
func (f *segmentFault) Unwrap() error { return f.err }
