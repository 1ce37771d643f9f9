package search

import (
	"bytes"
	"math"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// maxQuestionTerms bounds the distinct terms of a question that are looked up;
// further ones are as if they had not been asked.
const maxQuestionTerms = 256

// ranking is a question against the segments of one profile: its terms, and the
// statistics over exactly those segments.
type ranking struct {
	profile  *profile
	language *language
	segments []*segment
	terms    []*questionTerm          // distinct, in order of first use
	byText   map[string]*questionTerm // by what was asked and by what is looked for
	order    []int                    // places of the terms as they were asked, while the question is read
	codes    map[uint32]int           // code of a term → its place in terms
	pairs    []pair
	passages int
	average  float64 // terms a passage
	highest  float64 // score that no passage can pass without proximity
}

// questionTerm is one distinct term of a question.
type questionTerm struct {
	text   string
	place  int // in the ranking's terms
	count  int // in the question
	df     int // passages that hold it
	idf    float64
	weight float64       // what a count weighs: 1, less for a term that was not asked in this spelling
	most   float64       // idf by which the highest score is reckoned: of the spelling that was asked
	name   bool          // written as a name in the question
	lists  []postingList // by segment
}

// newRanking analyses a question and looks its terms up. A question without
// terms gives a ranking without terms.
func newRanking(p *profile, segments []*segment, question string) (*ranking, error) {
	r := &ranking{profile: p, segments: segments}
	var lengths uint64
	for _, s := range segments {
		r.passages += s.passages
		lengths += s.sumLengths
	}
	r.average = max(float64(lengths)/float64(max(r.passages, 1)), 1)

	best := -1.0
	for _, l := range languagesOf(question) {
		t := &ranking{profile: p, language: l, segments: segments, passages: r.passages, average: r.average}
		if err := t.ask(question); err != nil {
			return nil, err
		}
		if known := t.known(); known > best {
			best, r = known, t
		}
		if best == 1 {
			break
		}
	}
	if err := r.respell(); err != nil {
		return nil, err
	}
	for _, t := range r.terms {
		r.highest += (p.k1 + 1) * max(t.idf, t.most)
	}
	r.codes = make(map[uint32]int, len(r.terms))
	for i, t := range r.terms {
		r.codes[code(t.text)] = i
	}
	r.pairUp(r.order)
	r.markNames(question)
	r.order = nil
	return r, nil
}

// ask analyses the question and looks its terms up.
func (r *ranking) ask(question string) error {
	r.byText = map[string]*questionTerm{}
	for _, text := range r.profile.in(r.language).appendTerms(nil, question) {
		if text == "" {
			continue
		}
		t, ok := r.byText[text]
		if !ok {
			if len(r.terms) == maxQuestionTerms {
				continue
			}
			t = &questionTerm{text: text, place: len(r.terms), weight: 1}
			if err := r.lookUp(t); err != nil {
				return err
			}
			r.byText[text] = t
			r.terms = append(r.terms, t)
		}
		t.count++
		r.order = append(r.order, t.place)
	}
	return nil
}

// known is the share of the terms that some passage holds.
func (r *ranking) known() float64 {
	n := 0.0
	for _, t := range r.terms {
		if t.df > 0 {
			n++
		}
	}
	return n / float64(max(len(r.terms), 1))
}

func (r *ranking) lookUp(t *questionTerm) error {
	t.lists = make([]postingList, len(r.segments))
	for i, s := range r.segments {
		l, err := s.find(t.text)
		if err != nil {
			return err
		}
		t.lists[i] = l
		t.df += l.df
	}
	n, df := float64(r.passages), float64(t.df)
	t.idf = math.Log(1 + (n-df+0.5)/(df+0.5))
	return nil
}

// norm is what a frequency is held against in a passage of that length.
func (r *ranking) norm(length uint16) float64 {
	p := r.profile
	return p.k1 * (1 - p.b + p.b*float64(length)/r.average)
}

// normalised is a score by the highest that the question could reach.
func (r *ranking) normalised(score float64) float64 {
	if r.highest == 0 {
		return 0
	}
	return score / r.highest
}

// candidate is a passage by its score without proximity.
type candidate struct {
	ranking  *ranking
	segment  int // of the ranking's
	passage  int
	score    float32
	document uuid.UUID
	version  int64
}

// before orders candidates: best first, equal ones in an order that does not
// depend on how passages lie in segments.
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

// best returns up to n passages, best first. Passages without a term of the
// question are left out.
func (r *ranking) best(n int) ([]candidate, error) {
	top := &bounded{limit: n}
	for i, s := range r.segments {
		scores := scratch(s.passages)
		err := r.score(i, *scores)
		if err == nil {
			r.collect(top, i, *scores)
		}
		scratches.Put(scores)
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(top.heap, func(a, b candidate) int { return a.before(&b) })
	return top.heap, nil
}

var scratches = sync.Pool{New: func() any { return new([]float32) }}

// scratch returns n zeros.
func scratch(n int) *[]float32 {
	s := scratches.Get().(*[]float32)
	if cap(*s) < n {
		*s = make([]float32, n)
	}
	*s = (*s)[:n]
	clear(*s)
	return s
}

// score adds up what each passage of a segment scores.
func (r *ranking) score(segment int, scores []float32) error {
	s := r.segments[segment]
	base := float32(r.profile.k1 * (1 - r.profile.b))
	slope := float32(r.profile.k1 * r.profile.b / r.average)
	for _, t := range r.terms {
		weight := float32(float64(t.count) * t.weight * t.idf * (r.profile.k1 + 1))
		err := t.lists[segment].each(func(passage int, frequency uint32) {
			f := float32(frequency)
			scores[passage] += weight * f / (f + base + slope*float32(s.length(passage)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *ranking) collect(top *bounded, segment int, scores []float32) {
	s := r.segments[segment]
	for passage, score := range scores {
		if score <= 0 || score < top.floor() {
			continue
		}
		c := candidate{ranking: r, segment: segment, passage: passage, score: score}
		c.document, c.version = s.identity(s.document(passage))
		top.add(c)
	}
}

// bounded keeps the best candidates in a heap whose root is the worst of them.
type bounded struct {
	limit int
	heap  []candidate
}

// floor is the score that a candidate must at least have.
func (b *bounded) floor() float32 {
	if len(b.heap) < b.limit {
		return 0
	}
	return b.heap[0].score
}

func (b *bounded) add(c candidate) {
	if len(b.heap) < b.limit {
		b.heap = append(b.heap, c)
		for i := len(b.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if b.heap[i].before(&b.heap[up]) <= 0 {
				return
			}
			b.heap[i], b.heap[up] = b.heap[up], b.heap[i]
			i = up
		}
		return
	}
	if c.before(&b.heap[0]) >= 0 {
		return
	}
	b.heap[0] = c
	for i := 0; ; {
		worst := i
		for down := 2*i + 1; down <= 2*i+2 && down < len(b.heap); down++ {
			if b.heap[down].before(&b.heap[worst]) > 0 {
				worst = down
			}
		}
		if worst == i {
			return
		}
		b.heap[i], b.heap[worst] = b.heap[worst], b.heap[i]
		i = worst
	}
}
