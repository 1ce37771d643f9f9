package search

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/backtick"
	"docent/shared/search/text"
)

const ellipsis = "…"

// markdown returns the block for a quotation: cut to blockChars around the piece that answers
// best, which is in bold if it is a sentence of prose.
func (b block) markdown(r *ranking, asked *answerType) string {
	pieces := b.pieces()
	if len(pieces) == 0 {
		return b.text
	}
	head := 0
	if b.kind == tableKind {
		head = min(2, len(pieces))
	}
	best := 0
	if len(pieces) > head {
		best = head + bestPiece(r, asked, pieces[head:], b.title())
	}
	from, to := window(pieces, head, best)
	switch b.kind {
	case tableKind:
		lines := append([]string{}, pieces[:head]...)
		lines = append(lines, pieces[from:to]...)
		return b.leadIn() + strings.Join(lines, "\n") + cutMark("\n\n", to < len(pieces) || from > head)
	case codeKind:
		return b.leadIn() + fence(b.info, pieces[from:to], from > 0, to < len(pieces))
	case listKind:
		out := append([]string{}, pieces[from:to]...)
		out[best-from] = boldItem(r, asked, cutPiece(out[best-from]), b.title())
		return b.leadIn() + cutMarkBefore(from > 0, "\n\n") + joinItems(out) + cutMark("\n\n", to < len(pieces))
	default:
		return b.leadIn() + b.sentencesShown(r, asked, pieces, from, to, best)
	}
}

// sentencesShown returns a paragraph, with the text between its sentences unchanged.
func (b block) sentencesShown(r *ranking, asked *answerType, pieces []string, from, to, best int) string {
	if to-from == 1 && utf8.RuneCountInString(pieces[best]) > blockChars {
		return cutPiece(pieces[best])
	}
	shown := b.text
	if from > 0 || to < len(pieces) {
		ranges := sentences(shown)
		shown = safeInline(shown[ranges[from][0]:ranges[to-1][1]]) // the cut may be within a code span
	}
	return cutMarkBefore(from > 0, " ") + boldBest(r, asked, shown, b.title()) + cutMark(" ", to < len(pieces))
}

func cutMark(space string, cut bool) string {
	if cut {
		return space + ellipsis
	}
	return ""
}

func cutMarkBefore(cut bool, space string) string {
	if cut {
		return ellipsis + space
	}
	return ""
}

// leadIn returns the line that announces or names b as a paragraph that begins with a sentence.
func (b block) leadIn() string {
	if b.lead == "" {
		return ""
	}
	intro := b.intro
	line := strings.LastIndexByte(intro, '\n') + 1
	for _, at := range sentences(intro) {
		if at[1] <= line {
			continue
		}
		if from := min(at[0], line); from > 0 {
			intro = safeInline(intro[from:]) // it may begin within a code span
		}
		break
	}
	return cutPiece(intro) + "\n\n"
}

// window returns as many whole pieces around the best one as fit, added from both sides in turn.
func window(pieces []string, head, best int) (from, to int) {
	room := blockChars
	for _, p := range pieces[:head] {
		room -= utf8.RuneCountInString(p) + 1
	}
	from, to = best, best+1
	room -= utf8.RuneCountInString(pieces[best])
	for {
		grown := false
		if from > head {
			if n := utf8.RuneCountInString(pieces[from-1]) + 1; n <= room {
				from, room, grown = from-1, room-n, true
			}
		}
		if to < len(pieces) {
			if n := utf8.RuneCountInString(pieces[to]) + 1; n <= room {
				to, room, grown = to+1, room-n, true
			}
		}
		if !grown {
			return from, to
		}
	}
}

// bold marks one sentence as bold if it has no marks that would conflict.
func bold(s string) string {
	if strings.ContainsAny(s, "*") || strings.Contains(s, "__") || strings.Count(s, "`")%2 != 0 || strings.HasSuffix(s, `\`) {
		return s
	}
	return "**" + s + "**"
}

// task matches the box of an item that is a task.
var task = regexp.MustCompile(`^\[[ xX]\][ \t]+`)

// boldItem marks the best sentence of a list's item, after the item's mark and the box of a task.
func boldItem(r *ranking, asked *answerType, item, title string) string {
	mark := itemMark.FindString(item)
	mark += task.FindString(item[len(mark):])
	return mark + boldBest(r, asked, item[len(mark):], title)
}

// joinItems joins items, without the indent of the first, so that nested ones are not code. From an
// item of an outer list on, nested ones keep their place below it.
func joinItems(units []string) string {
	indent := indentOf(units[0])
	var lines []string
	for _, unit := range units {
		indent = min(indent, indentOf(unit))
		for line := range strings.SplitSeq(unit, "\n") {
			lines = append(lines, outdent(line, indent))
		}
	}
	return strings.Join(lines, "\n")
}

// blankLines matches what ends a paragraph. A paragraph of the source may hold some where lines of tags were.
var blankLines = regexp.MustCompile(`\n(?:[ \t]*\n)+`)

// sentences returns the byte ranges of the sentences of s. A sentence ends with its paragraph.
func sentences(s string) [][2]int {
	var out [][2]int
	start := 0
	add := func(end int) {
		for _, at := range text.Sentences(s[start:end]) {
			out = append(out, [2]int{start + at[0], start + at[1]})
		}
	}
	for _, gap := range blankLines.FindAllStringIndex(s, -1) {
		add(gap[0])
		start = gap[1]
	}
	add(len(s))
	return out
}

// wideEnds end a sentence that the next one may follow without a space.
const wideEnds = "。！？"

// boldBest marks the sentence of s that answers best.
func boldBest(r *ranking, asked *answerType, s, title string) string {
	ranges := sentences(s)
	if len(ranges) == 0 {
		return s
	}
	pieces := make([]string, len(ranges))
	for i, at := range ranges {
		pieces[i] = s[at[0]:at[1]]
	}
	i := bestPiece(r, asked, pieces, title)
	from, to := ranges[i][0], ranges[i][1]
	if next, _ := utf8.DecodeRuneInString(s[to:]); to < len(s) && !unicode.IsSpace(next) {
		// Marks of emphasis do not end between punctuation and a letter.
		to = from + len(strings.TrimRight(s[from:to], wideEnds))
	}
	if from == to {
		return s
	}
	return s[:from] + bold(s[from:to]) + s[to:]
}

// cutPiece shortens one sentence or item to blockChars, at a space.
func cutPiece(s string) string {
	if utf8.RuneCountInString(s) <= blockChars {
		return s
	}
	end := 0
	for range blockChars {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if i := strings.LastIndexAny(s[:end], " \n"); i > end/2 {
		end = i
	}
	// The cut may be within an escape or a code span.
	return safeInline(strings.TrimRight(s[:end], "\\ \n")) + " " + ellipsis
}

// fence shows lines of code between fences longer than any run of backticks in them.
func fence(info string, lines []string, before, after bool) string {
	marks := backtick.Fence(lines...)
	var b strings.Builder
	b.WriteString(cutMarkBefore(before, "\n\n") + marks + info + "\n")
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	b.WriteString(marks + cutMark("\n\n", after))
	return b.String()
}
