package search

import (
	"cmp"
	"docent/shared/search/segment"
	"docent/shared/search/text"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of correcting a misspelt term.
const (
	respelled     = 8    // maximum number of terms of a question
	respellFrom   = 4    // minimum characters of a term
	respellTwice  = 8    // terms of at least this many characters may have two slips, others one
	respellWeight = 0.75 // weight of a corrected term
	respellPrefix = 2    // bytes that must match; it bounds the part of the dictionary to read
	nearAtOnce    = 4    // near terms whose passages are counted in one round
)

// respell replaces each term that no passage contains by the nearest term of the dictionaries.
// The max score still uses the term of the question.
func (r *ranking) respell() error {
	tried := 0
	for _, t := range r.terms {
		if t.df > 0 || !respellable(t.text) {
			continue
		}
		if tried++; tried > respelled {
			return nil
		}
		near, err := r.nearest(t.text)
		if err != nil {
			return err
		}
		if near == "" || r.byText[near] != nil {
			continue
		}
		t.maxIDF, t.text, t.weight = t.idf, near, respellWeight
		if err := r.lookUp(t); err != nil {
			return err
		}
		r.byText[near] = t
	}
	return nil
}

// respellable reports whether term is a word that is long enough, in letters of a
// script with spelling.
func respellable(term string) bool {
	first, _ := utf8.DecodeRuneInString(term)
	return utf8.RuneCountInString(term) >= respellFrom && !text.Unspaced(first) && !strings.ContainsAny(term, "0123456789._'")
}

// nearest returns the term of the dictionaries with the fewest slips from term; of several, the
// one in most passages. It returns "" if none is near enough.
func (r *ranking) nearest(term string) (string, error) {
	m := misspelt{term: []rune(term), bytes: len(term), letters: letters([]byte(term)), limit: 1}
	if len(m.term) >= respellTwice {
		m.limit = 2
	}
	near := map[string]*nearTerm{}
	for i, s := range r.segments {
		err := s.EachTerm(term[:respellPrefix], func(t []byte, l segment.List) {
			n := near[string(t)]
			if n == nil {
				slips := m.slips(t)
				if slips > m.limit {
					return
				}
				n = &nearTerm{text: string(t), slips: slips}
				near[n.text] = n
			}
			n.most += l.DF
			if s.Restricted() {
				n.lists = append(n.lists, listOf{i, l})
			} else {
				n.df += l.DF
			}
		})
		if err != nil {
			return "", &segmentFault{s, err}
		}
	}
	order := slices.SortedFunc(maps.Values(near), func(a, b *nearTerm) int {
		return cmp.Or(cmp.Compare(a.slips, b.slips), cmp.Compare(b.most, a.most))
	})
	best := &nearTerm{}
	for some := range slices.Chunk(order, nearAtOnce) {
		if best.df > 0 && (best.slips < some[0].slips || best.df > some[0].most) {
			break // no term that follows can be nearer or in more passages
		}
		if err := r.countNear(some); err != nil {
			return "", err
		}
		for _, n := range some {
			if n.df > 0 && (best.df == 0 || n.slips == best.slips && (n.df > best.df || n.df == best.df && n.text < best.text)) {
				best = n
			}
		}
	}
	return best.text, nil
}

// nearTerm is a term of the dictionaries that is near a misspelt one.
type nearTerm struct {
	text  string
	slips int
	most  int      // passages that contain it, at most
	df    int      // those of them that the question may find
	lists []listOf // in views of some passages, not counted in df yet
}

// listOf is a list of the segment at a place of a ranking.
type listOf struct {
	segment int
	segment.List
}

// countNear counts the passages of terms in views of some passages.
func (r *ranking) countNear(terms []*nearTerm) error {
	wanted := make([][]*segment.List, len(r.segments))
	for _, n := range terms {
		for i := range n.lists {
			l := &n.lists[i]
			wanted[l.segment] = append(wanted[l.segment], &l.List)
		}
	}
	err := r.parallel(func(i int, s *segment.Segment) error {
		if len(wanted[i]) == 0 {
			return nil
		}
		return s.Load(wanted[i])
	})
	for _, n := range terms {
		for _, l := range n.lists {
			n.df += l.DF
		}
	}
	return err
}

// misspelt is a term that is compared with a dictionary.
type misspelt struct {
	term    []rune
	bytes   int // of term
	letters uint64
	limit   int // slips allowed
	other   []rune
	rows    [3][]int
}

// letters returns the set of a term's bytes, by their lowest bits. If letters are
// single bytes, a slip changes at most two of them.
func letters(term []byte) (set uint64) {
	for _, c := range term {
		set |= 1 << (c % 64)
	}
	return set
}

// slips returns how many slips term is from the misspelt one, or more than the limit.
func (m *misspelt) slips(term []byte) int {
	const letterBytes = 4
	far := m.limit + 1
	if d := len(term) - m.bytes; d > letterBytes*m.limit || d < -letterBytes*m.limit {
		return far
	}
	ascii := m.bytes == len(m.term)
	for _, c := range term {
		if c >= '0' && c <= '9' || c == '.' || c == '_' || c == '\'' {
			return far
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii && bits.OnesCount64(m.letters^letters(term)) > 2*m.limit {
		return far
	}
	m.other = m.other[:0]
	for len(term) > 0 {
		c, size := utf8.DecodeRune(term)
		m.other, term = append(m.other, c), term[size:]
	}
	if d := len(m.other) - len(m.term); d > m.limit || d < -m.limit {
		return far
	}
	return slips(m.term, m.other, &m.rows)
}

// slips returns how many characters were left out, inserted, replaced, or swapped with
// the next, between a and b (optimal string alignment). It uses rows as memory.
func slips(a, b []rune, rows *[3][]int) int {
	for i := range rows {
		rows[i] = slices.Grow(rows[i][:0], len(b)+1)[:len(b)+1]
	}
	before, last, row := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			changed := 1
			if a[i] == b[j] {
				changed = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+changed)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
