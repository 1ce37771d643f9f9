package search

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"docent/shared/search/text"
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
// document that match, as many as fit completely, in reading order: at most 4,000 characters. A passage that goes on within
// another section has its heading path too, and one that begins or ends within code or a table the fences or the table's head. Address
// leads to the page of the first passage; where another page of the file begins, a line such as
// "Page 7:" says so. It is "" for a hit that is not from Result.Hits.
func (h Hit) Content() string {
	if len(h.passages) == 0 {
		return ""
	}
	best := h.passages[0]
	heading := strings.TrimSpace(best.hit.Heading)
	room := maxContent - best.characters - utf8.RuneCountInString(heading) - len(between)
	if room < 0 {
		heading, room = "", maxContent-best.characters
	}
	shown := []*verified{best}
	for _, v := range h.passages[1:] {
		if n := v.characters + utf8.RuneCountInString(v.hit.pageLine()+v.hit.section()) + len(between); n <= room {
			shown, room = append(shown, v), room-n
		}
	}
	slices.SortFunc(shown[1:], (*verified).inBody)
	var b strings.Builder
	b.Grow(contentBytes(h.passages))
	b.WriteString(heading)
	at := best.hit
	for i, v := range shown {
		if v.hit.Page != at.Page {
			b.WriteString(v.hit.pageLine())
		}
		if v.hit.Heading != at.Heading {
			b.WriteString(v.hit.section())
		}
		opening, closing := v.hit.frame()
		if i > 0 && v.follows(shown[i-1]) {
			opening = ""
		}
		if i+1 < len(shown) && shown[i+1].follows(v) {
			closing = ""
		}
		if n := utf8.RuneCountInString(opening + closing); n <= room {
			room -= n
		} else {
			opening, closing = "", ""
		}
		if b.Len() > 0 {
			b.WriteString(between)
		}
		b.WriteString(opening + strings.TrimSpace(v.hit.Passage) + closing)
		at = v.hit
	}
	return b.String()
}

// follows reports whether v is the passage after w in their document.
func (v *verified) follows(w *verified) bool {
	return v.Chunk == w.Chunk && v.within == w.within+1 || v.Chunk == w.Chunk+1 && v.within == 0 && w.hit.after == ""
}

// frame returns what the passage lacks at both ends: the fence of the code or the head of the table that it begins within, and
// the fence of the code that it ends within.
func (h Hit) frame() (opening, closing string) {
	passage := h.Passage
	if h.opening != "" {
		opening = h.opening + "\n"
		passage = opening + passage
	}
	var open items
	if line := open.read(passage); line != "" {
		closing = "\n" + openFence(line)
	}
	return opening, closing
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

// section returns the heading path of the hit's passage as it is in a content, or "" if the passage begins with its heading.
func (h Hit) section() string {
	heading := strings.TrimSpace(h.Heading)
	first, _, _ := strings.Cut(strings.TrimSpace(h.Passage), "\n")
	if level, _ := text.ATXHeading(first); level > 0 || heading == "" {
		return ""
	}
	return between + heading
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
