package search

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a block with the text around it.
const (
	stretchChars = 1200 // of a quotation of several blocks; one block alone may have blockChars
	beginChars   = 300  // minimum room for the beginning of an announced block that is too long
)

// stretch returns the block all[best] for a quotation, with whole blocks around it while they
// fit. Documents for screens have short paragraphs, and the one closest to the question is rarely
// the answer. Blocks after it are added first, because steps, commands and examples follow the
// text that announces them.
func stretch(all []block, best int, r *ranking, asked *answerType) string {
	if all[best].isAnsweredBefore(r, asked) {
		best-- // the paragraph that announces it, which it follows
	}
	b := all[best]
	next := best + 1
	room := stretchChars - utf8.RuneCountInString(b.markdown(r, asked))
	var after []string
	for ; next < len(all); next++ {
		text := all[next].whole()
		n := utf8.RuneCountInString(text) + 2
		if n > room {
			if text := all[next].begin(room); all[next].lead != "" && room >= beginChars && text != "" {
				after, room = append(after, text), 0
			}
			break
		}
		after, room = append(after, text), room-n
	}
	for n := len(after); n > 0 && all[best+n].isTitle(next < len(all)) && !all[best+n-1].announces(); n-- {
		after = after[:n-1] // of what is not quoted
	}
	if n := len(after); all[best+n].announces() && (n > 0 || !b.isLead()) {
		after = append(after, ellipsis) // what it announces is not quoted
	}
	from := best
	for from > 0 {
		n := utf8.RuneCountInString(all[from-1].whole()) + 2
		if n > room {
			break
		}
		from, room = from-1, room-n
	}
	var parts []string
	for _, before := range all[from:best] {
		parts = append(parts, before.whole())
		b.lead = "" // the block before it ends with the lead
	}
	parts = append(append(parts, b.markdown(r, asked)), after...)
	return strings.Join(parts, "\n\n")
}

// isAnsweredBefore reports whether a sentence of the paragraph that announces the list, table or code b answers better than b.
// Steps are the answer to how something is done. Both must fit into a quotation.
func (b block) isAnsweredBefore(r *ranking, asked *answerType) bool {
	if b.kind == paragraphKind || b.lead == "" || leadsIn(b.intro) || asked.asksSteps() && b.instructs() ||
		utf8.RuneCountInString(b.intro)+utf8.RuneCountInString(b.whole())+2 > stretchChars {
		return false
	}
	intro := block{kind: paragraphKind, text: b.intro}.pieces()
	if len(intro) > 0 && leadsIn(intro[len(intro)-1]) {
		intro = intro[:len(intro)-1]
	}
	pieces := slices.Concat(intro, b.units)
	return len(intro) > 0 && bestPiece(r, asked, pieces, b.title()) < len(intro)
}

// titleChars bounds a paragraph that is a title.
const titleChars = 80

// isTitle reports whether b is the title of what follows: a paragraph in bold, or if more follows, a short one that is not a sentence,
// such as a term.
func (b block) isTitle(more bool) bool {
	text := strings.TrimRight(b.text, "*_")
	isBold := strings.HasPrefix(b.text, "**") && strings.HasSuffix(b.text, "**")
	if isBold {
		text = strings.TrimRight(text, "?？")
	}
	if b.kind != paragraphKind || text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:;,") || strings.HasSuffix(b.text, ellipsis) {
		return false
	}
	if strings.Contains(b.text, "\n") || utf8.RuneCountInString(text) > titleChars || strings.ContainsAny(text, wideEnds) {
		return false
	}
	return more || isBold
}

// announces reports whether b is a paragraph that ends with the announcement of what follows.
func (b block) announces() bool {
	if b.kind != paragraphKind {
		return false
	}
	line := strings.TrimRight(b.text, " *_")
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")
}

// whole returns the whole block without marks, and without the line that announces it.
func (b block) whole() string {
	switch b.kind {
	case codeKind:
		return fence(b.info, b.units, false, false)
	case listKind, tableKind:
		return strings.Join(b.units, "\n")
	default:
		return b.text
	}
}

// begin returns the beginning of a block of units, without the line that announces it: as many
// units as fit into room characters, and a mark for the rest. It returns "" if no unit fits.
func (b block) begin(room int) string {
	n, least := 0, 1
	if b.kind == tableKind {
		least = 3 // under the head
	}
	for n < len(b.units)-1 {
		if room -= utf8.RuneCountInString(b.units[n]) + 1; room < 0 {
			break
		}
		n++
	}
	switch {
	case n < least:
		return ""
	case b.kind == codeKind:
		return fence(b.info, b.units[:n], false, true)
	}
	return strings.Join(b.units[:n], "\n") + cutMark("\n\n", true)
}

// numbered matches the mark of an item of an ordered list.
var numbered = regexp.MustCompile(`^\s*\d{1,9}[.)]`)

// instructs reports whether the block is code or an ordered list.
func (b block) instructs() bool {
	return b.kind == codeKind || b.kind == listKind && numbered.MatchString(b.units[0])
}

// steps scores whether the block at i shows how to do something: 1 if it or the next block is
// code or an ordered list, a half if its text contains code.
func steps(all []block, i int) float64 {
	switch {
	case all[i].instructs(), i+1 < len(all) && all[i+1].instructs():
		return 1
	case strings.Contains(all[i].plain(), "`"):
		return 0.5
	}
	return 0
}
