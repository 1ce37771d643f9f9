package search

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// maxContent bounds Hit.Content, in characters.
const maxContent = 4000

// result returns the verified hits in order, by document and by passage.
func (s *searchRun) result() Result {
	s.joinMeaning()
	slices.SortFunc(s.found, func(a, b *verified) int {
		return cmp.Or(cmp.Compare(b.hit.Normalised, a.hit.Normalised), bytes.Compare(a.document[:], b.document[:]), a.inBody(b))
	})
	r := Result{Passages: s.passages, HasTerms: s.known}
	byDocument := map[uuid.UUID][]*verified{}
	for _, v := range s.found {
		best, hit := len(r.Best) < bestPassages, byDocument[v.document] == nil && (len(r.Hits) < s.limit || s.query.Choose != nil)
		if best || hit {
			v.hit.Confidence = v.confidence()
		}
		if best {
			r.Best = append(r.Best, v.hit)
		}
		if hit {
			if s.query.Explain {
				v.hit.Explanation = v.explain()
			}
			r.Hits = append(r.Hits, v.hit)
		}
		byDocument[v.document] = append(byDocument[v.document], v)
	}
	for i := range r.Hits {
		r.Hits[i].Content = content(byDocument[r.Hits[i].Document])
	}
	return r
}

// inBody compares passages of one document by their place in the body.
func (v *verified) inBody(w *verified) int {
	return cmp.Or(v.Chunk-w.Chunk, v.within-w.within)
}

// content returns the first passage, which is the best, under its heading path, and then as
// many of the others as fit completely, in reading order.
func content(passages []*verified) string {
	best := passages[0]
	var b strings.Builder
	b.Grow(contentBytes(passages))
	room := maxContent
	add := func(text string) {
		text = strings.TrimSpace(text)
		between := ""
		if b.Len() > 0 {
			between = "\n\n"
		}
		n := len(between) + utf8.RuneCountInString(text)
		if n > room {
			return
		}
		b.WriteString(between)
		b.WriteString(text)
		room -= n
	}
	if best.hit.Heading != "" {
		add(best.hit.Heading)
	}
	add(best.hit.Passage)
	rest := slices.Clone(passages[1:])
	slices.SortFunc(rest, (*verified).inBody)
	for _, v := range rest {
		add(v.hit.Passage)
	}
	return b.String()
}

// contentBytes returns about how many bytes the content of passages has: never more than one long
// passage and maxContent.
func contentBytes(passages []*verified) int {
	bytes := len(passages[0].hit.Heading) + len(passages[0].hit.Passage)
	for _, v := range passages[1:] {
		bytes += len(v.hit.Passage)
	}
	return min(bytes+2*len(passages), maxContent)
}
