package search

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// maxContent bounds what Hit.Content returns, in characters.
const maxContent = 4000

// result returns the verified hits in order, by document and by passage.
func (s *searchRun) result() Result {
	s.joinMeaning()
	slices.SortFunc(s.found, func(a, b *verified) int {
		return cmp.Or(cmp.Compare(b.hit.Normalised, a.hit.Normalised), bytes.Compare(a.document[:], b.document[:]), a.inBody(b))
	})
	r := Result{Passages: s.passages, HasTerms: s.known, Best: make([]Hit, 0, min(bestPassages, len(s.found)))}
	byDocument := make(map[uuid.UUID][]*verified, min(s.limit, len(s.found)))
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
		r.Hits[i].passages = byDocument[r.Hits[i].Document]
	}
	return r
}

// inBody compares passages of one document by their place in the body.
func (v *verified) inBody(w *verified) int {
	return cmp.Or(v.Chunk-w.Chunk, v.within-w.within)
}

// Content returns the passage under its heading path, and then the best of the other passages of the
// document that match, as many as fit completely, in reading order: at most 4,000 characters. Address
// leads to the page of the first passage; where another page of the file begins, a line such as
// "Page 7:" says so. It is "" for a hit that is not from Result.Hits.
func (h Hit) Content() string {
	passages := h.passages
	if len(passages) == 0 {
		return ""
	}
	best := passages[0]
	var b strings.Builder
	b.Grow(contentBytes(passages))
	room := maxContent
	fits := func(characters int) bool {
		if room < maxContent {
			characters += len(between)
		}
		if characters > room {
			return false
		}
		room -= characters
		return true
	}
	add := func(text string) {
		if b.Len() > 0 {
			b.WriteString(between)
		}
		b.WriteString(strings.TrimSpace(text))
	}
	if heading := strings.TrimSpace(best.hit.Heading); heading != "" && fits(utf8.RuneCountInString(heading)) {
		add(heading)
	}
	if fits(best.characters) {
		add(best.hit.Passage)
	}
	more := make([]*verified, 0, len(passages)-1)
	for _, v := range passages[1:] {
		if fits(v.characters + len(v.hit.pageLine())) {
			more = append(more, v)
		}
	}
	slices.SortFunc(more, (*verified).inBody)
	page := best.hit.Page
	for _, v := range more {
		if v.hit.Page != page {
			page = v.hit.Page
			b.WriteString(v.hit.pageLine())
		}
		add(v.hit.Passage)
	}
	return b.String()
}

// between separates passages in a content.
const between = "\n\n"

// pageLine returns what says in a content that text of the hit's page follows.
func (h Hit) pageLine() string {
	if h.Page == 0 {
		return ""
	}
	return between + "Page " + strconv.Itoa(h.Page) + ":"
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
