package search

import (
	"context"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"docent/shared/search/segment"
)

// misspelt is a term that is compared with dictionaries.
type misspelt struct {
	begin    string
	prefixes []string // of the terms that are compared, in order; none begins with another
	term     []rune
	bytes    int // of term
	letters  uint64
	limit    int // slips allowed
	near     map[string]*nearTerm
	read     int // terms that begin like it
	similar  int // of these, those that were compared
	other    []rune
	rows     [3][]int
}

func newMisspelt(term string) *misspelt {
	m := &misspelt{begin: term[:respellPrefix], prefixes: prefixesNear(term), term: []rune(term), bytes: len(term), letters: letters([]byte(term)), limit: 1, near: map[string]*nearTerm{}}
	if len(m.term) >= respellTwice {
		m.limit = 2
	}
	return m
}

// prefixesNear returns how the terms begin that are compared with a misspelt one: as it does, or with a slip in the second
// letter, if that is a letter of ASCII. They are in order, and none begins with another.
func prefixesNear(term string) []string {
	prefixes := []string{term[:respellPrefix]}
	if len(term) >= respellSecond && !strings.ContainsFunc(term[:respellSecond], notASCIILetter) {
		first, second, third, fourth := term[:1], term[1:2], term[2:3], term[3:4]
		prefixes = append(prefixes, first+third+fourth, first+third+second+fourth)
		for c := 'a'; c <= 'z'; c++ {
			prefixes = append(prefixes, first+string(c)+second+third, first+string(c)+third+fourth)
		}
	}
	slices.Sort(prefixes)
	distinct := prefixes[:1]
	for _, p := range prefixes[1:] {
		if !strings.HasPrefix(p, distinct[len(distinct)-1]) {
			distinct = append(distinct, p)
		}
	}
	return distinct
}

func notASCIILetter(c rune) bool { return c < 'a' || c > 'z' }

// eachTerm calls f for the terms of s that are compared, until f returns false.
func (m *misspelt) eachTerm(s *segment.Segment, f func(term []byte, l segment.List) bool) error {
	if err := s.FetchTerms(m.prefixes); err != nil {
		return err
	}
	more := true
	for _, p := range m.prefixes {
		err := s.EachTerm(p, func(t []byte, l segment.List) bool {
			more = f(t, l)
			return more
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// compare compares m with the terms of s, the segment at a place of a ranking. It returns false once there are too many.
func (m *misspelt) compare(_ context.Context, place int, s *segment.Segment) (bool, error) {
	within := true
	err := m.eachTerm(s, func(t []byte, l segment.List) bool {
		within = m.add(t, place, s, l)
		return within
	})
	return within, faultOf(s, err)
}

// compareFindable is compare with only those terms that are in passages of the view s.
func (m *misspelt) compareFindable(ctx context.Context, place int, s *segment.Segment) (within bool, err error) {
	if !s.Restricted() {
		return m.compare(ctx, place, s)
	}
	var round termRound
	within = true
	flush := func() bool {
		within, err = m.addFindable(ctx, &round, place, s)
		return within
	}
	failed := m.eachTerm(s, func(t []byte, l segment.List) bool {
		round.add(t, l)
		return len(round.lists) < askedAtOnce || flush()
	})
	if failed != nil {
		return false, faultOf(s, failed)
	}
	if within {
		flush()
	}
	return within, err
}

// termRound is terms that are looked for in the passages of a view together.
type termRound struct {
	texts []byte
	ends  []int // in texts
	lists []segment.List
}

func (r *termRound) add(term []byte, l segment.List) {
	r.texts = append(r.texts, term...)
	r.ends, r.lists = append(r.ends, len(r.texts)), append(r.lists, l)
}

// addFindable adds the terms of a round that are in passages of the view s, and empties the round. It returns false
// once there are too many, or with an error.
func (m *misspelt) addFindable(ctx context.Context, round *termRound, place int, s *segment.Segment) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	findable, err := s.Findable(round.lists)
	if err != nil {
		return false, faultOf(s, err)
	}
	from := 0
	for i, to := range round.ends {
		if findable[i] && !m.add(round.texts[from:to], place, s, round.lists[i]) {
			return false, nil
		}
		from = to
	}
	round.texts, round.ends, round.lists = round.texts[:0], round.ends[:0], round.lists[:0]
	return true, nil
}

// add counts a term and compares it if it is similar. It returns false once there are too many.
func (m *misspelt) add(term []byte, place int, s *segment.Segment, l segment.List) bool {
	if m.read++; m.read > respellRead {
		return false
	}
	if !m.isSimilar(term) {
		return true
	}
	if m.similar++; m.similar > respellSimilar {
		return false
	}
	n := m.near[string(term)]
	if n == nil {
		slips := m.slips(term)
		if slips > m.limit {
			return true
		}
		n = &nearTerm{text: string(term), far: 2 * slips}
		if !strings.HasPrefix(n.text, m.begin) {
			n.far++
		}
		m.near[n.text] = n
	}
	n.most += l.DF
	if s.Restricted() {
		n.lists = append(n.lists, listOf{place, l})
	} else {
		n.df += l.DF
	}
	return true
}

// letters returns the set of a term's bytes, by their lowest bits. If letters are
// single bytes, a slip changes at most two of them.
func letters(term []byte) (set uint64) {
	for _, c := range term {
		set |= 1 << (c % 64)
	}
	return set
}

// isSimilar reports whether term can be near m by its length and its letters, which costs little to know.
func (m *misspelt) isSimilar(term []byte) bool {
	const letterBytes = 4
	if d := len(term) - m.bytes; d > letterBytes*m.limit || d < -letterBytes*m.limit {
		return false
	}
	ascii := m.bytes == len(m.term)
	for _, c := range term {
		if c >= '0' && c <= '9' || c == '.' || c == '_' || c == '\'' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		d := len(term) - m.bytes
		return d <= m.limit && d >= -m.limit && bits.OnesCount64(m.letters^letters(term)) <= 2*m.limit
	}
	d := utf8.RuneCount(term) - len(m.term)
	return d <= m.limit && d >= -m.limit
}

// slips returns how many slips term is from the misspelt one.
func (m *misspelt) slips(term []byte) int {
	m.other = m.other[:0]
	for len(term) > 0 {
		c, size := utf8.DecodeRune(term)
		m.other, term = append(m.other, c), term[size:]
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
