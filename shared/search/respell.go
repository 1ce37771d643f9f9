package search

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"docent/shared/search/segment"
	"docent/shared/search/text"
)

// Bounds of correcting a misspelt term.
const (
	respelled     = 8    // maximum number of terms of a question
	respellFrom   = 4    // minimum characters of a term
	respellTwice  = 8    // terms of at least this many characters may have two slips, others one
	respellWeight = 0.75 // weight of a corrected term
	respellPrefix = 2    // bytes that must match, but for a slip in the second letter
	respellSecond = 5    // minimum letters of a term whose second one may be a slip
	nearAtOnce    = 4    // near terms whose passages are counted in one round
	askedAtOnce   = 1024 // terms of a restricted view that are looked for in its passages in one round
)

// Bounds of what one misspelt term is compared with. A term that exceeds one of them is left as it is. In 1.1 million
// passages of code and documentation at most 86,000 terms begin with the same two letters, and 2,700 of these are similar
// to one term.
const (
	respellRead    = 200_000 // terms of the dictionaries that begin like it, see prefixesNear
	respellSimilar = 5000    // of these, terms of a similar length with similar letters, which are compared with it
)

// respell replaces each term that no passage contains by the nearest term of the dictionaries, unless it is of a word of the
// question that knows reports. The max score still uses the term of the question.
func (r *ranking) respell(ctx context.Context, question string, knows func(word string) bool) error {
	tried := 0
	var right map[string]bool
	for _, t := range r.terms {
		if t.df > 0 || !respellable(t.text) {
			continue
		}
		if right == nil {
			right = r.right(question, knows)
		}
		if right[t.text] {
			continue
		}
		if tried++; tried > respelled {
			return nil
		}
		near, err := r.nearest(ctx, t.text)
		if err != nil {
			return err
		}
		if near == "" || r.byText[near] != nil {
			continue
		}
		if r.respelled == nil {
			r.respelled = map[string]string{}
		}
		r.respelled[t.text] = near
		t.maxIDF, t.text, t.weight = t.idf, near, respellWeight
		if err := r.lookUp(t); err != nil {
			return err
		}
		r.byText[near] = t
	}
	return nil
}

// right returns the terms of the words of the question that knows reports.
func (r *ranking) right(question string, knows func(word string) bool) map[string]bool {
	seen, terms := map[string]bool{}, map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(question), notLetter) {
		if len(terms) == maxQuestionTerms {
			break
		}
		if seen[word] || !knows(word) {
			continue
		}
		seen[word] = true
		for _, t := range r.profile.in(r.language).AppendTerms(nil, word) {
			terms[t] = true
		}
	}
	return terms
}

// respellable reports whether term is a word that is long enough, in letters of a
// script with spelling.
func respellable(term string) bool {
	first, _ := utf8.DecodeRuneInString(term)
	return utf8.RuneCountInString(term) >= respellFrom && !text.Unspaced(first) && !strings.ContainsAny(term, "0123456789._'")
}

// nearest returns the term of the dictionaries with the fewest slips from term; of several, one that begins
// like it, and the one in most passages. It returns "" if none is near enough, or if there are too many to compare.
func (r *ranking) nearest(ctx context.Context, term string) (string, error) {
	near, ok, err := r.near(ctx, term)
	if err != nil || !ok {
		return "", err
	}
	order := slices.SortedFunc(maps.Values(near), func(a, b *nearTerm) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(b.most, a.most))
	})
	best := &nearTerm{}
	for some := range slices.Chunk(order, nearAtOnce) {
		if best.df > 0 && (best.far < some[0].far || best.df > some[0].most) {
			break // no term that follows can be nearer or in more passages
		}
		if err := r.countNear(some); err != nil {
			return "", err
		}
		for _, n := range some {
			if n.df > 0 && (best.df == 0 || n.far == best.far && (n.df > best.df || n.df == best.df && n.text < best.text)) {
				best = n
			}
		}
	}
	return best.text, nil
}

// near returns the terms that are near a misspelt one. ok is false if there are too many to compare.
//
// Only terms of passages that the question may find count, so that the bounds show nothing of the others. Which terms
// these are is expensive to know, so that at first all are counted. If they are too many, they are counted
// again without the others.
func (r *ranking) near(ctx context.Context, term string) (near map[string]*nearTerm, ok bool, err error) {
	m := newMisspelt(term)
	ok, err = r.compare(ctx, m, m.compare)
	if err == nil && !ok && slices.ContainsFunc(r.segments, (*segment.Segment).Restricted) {
		m = newMisspelt(term)
		ok, err = r.compare(ctx, m, m.compareFindable)
	}
	return m.near, ok, err
}

// compare compares m with the terms of each segment. It returns false if there are too many.
func (r *ranking) compare(ctx context.Context, m *misspelt, compare func(context.Context, int, *segment.Segment) (bool, error)) (bool, error) {
	defer func() { r.compared += m.similar }()
	for i, s := range r.segments {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if within, err := compare(ctx, i, s); err != nil || !within {
			return false, err
		}
	}
	return true, nil
}

// nearTerm is a term of the dictionaries that is near a misspelt one.
type nearTerm struct {
	text  string
	far   int      // twice its slips; one more if it begins otherwise
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
