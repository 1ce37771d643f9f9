package pdf

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// paragraph is text that belongs together.
type paragraph struct {
	text   string
	marker string // of a list's item, such as "-" or "2."
	left   float64
	size   float64
	bold   bool
	lines  int

	running bool // it heads or ends many pages
}

// maxParagraph is how long a paragraph may grow; each line is copied to its end.
const maxParagraph = 20_000

var (
	bulletStart = regexp.MustCompile(`^[•▪◦‣●○■□➢▶·⁃∙–—*-]\s*\S`)
	numberStart = regexp.MustCompile(`^(?:\d{1,3}[.)]|\([0-9a-z]{1,3}\)|[a-z]\))\s+\S`)
	leaders     = regexp.MustCompile(`(?:[.…·]\s?){5,}`)
)

// paragraphs joins the lines of a block.
func (v vocabulary) paragraphs(lines []line) []paragraph {
	if len(lines) == 0 {
		return nil
	}
	var all []paragraph
	area := lines[0].box
	for _, l := range lines {
		area = area.join(l.box)
	}
	pitch := linePitch(lines)
	for i, l := range lines {
		text := leaders.ReplaceAllString(l.text, " … ")
		if i > 0 && !begins(lines[i-1], l, all[len(all)-1], pitch, area) {
			p := &all[len(all)-1]
			p.text = v.continued(p.text, text)
			p.lines++
			p.bold = p.bold && l.bold
			p.size = max(p.size, l.size)
			continue
		}
		p := paragraph{text: text, left: l.left, size: l.size, bold: l.bold, lines: 1, running: l.running}
		p.marker, p.text = marker(text)
		all = append(all, p)
	}
	return all
}

// begins reports whether a paragraph begins with the line below.
func begins(above, below line, p paragraph, pitch float64, area box) bool {
	size := max(above.size, below.size)
	fall := above.middle() - below.middle()
	indent := below.left - above.left
	switch {
	case len(p.text) > maxParagraph:
		return true
	case min(above.size, below.size) < 0.85*size, fall > farther(above, below, pitch), fall < 0, bulletStart.MatchString(below.text) && !hyphened(above.text):
		return true
	case hyphened(above.text):
		return false
	case above.bold != below.bold && p.bold && p.lines < 3 && above.right < area.right-2*size:
		return true
	case numberStart.MatchString(below.text) && (p.marker != "" || ends(above.text)):
		return true
	case p.marker == "" && indent > 0.8*size && indent < 6*size && below.left > area.left+0.8*size && p.lines > 1:
		return true
	}
	return ends(above.text) && above.right < area.right-0.2*(area.right-area.left)
}

// farther returns the fall to a line of the same paragraph at most. Larger text than that of the block, such as a heading
// in two lines, has a pitch of its own.
func farther(above, below line, pitch float64) float64 {
	if own := 1.2 * min(above.size, below.size); own > 1.15*pitch && above.bold == below.bold && min(above.size, below.size) > 0.94*max(above.size, below.size) {
		return 1.25 * own
	}
	return 1.35 * pitch
}

// linePitch returns the usual distance from line to line.
func linePitch(lines []line) float64 {
	if len(lines) < 2 {
		return 1
	}
	falls := make([]line, 0, len(lines)-1)
	for i, l := range lines[1:] {
		if fall := lines[i].middle() - l.middle(); fall > 0 {
			falls = append(falls, line{size: fall})
		}
	}
	size := median(lines, func(l line) float64 { return l.size })
	if pitch := median(falls, func(l line) float64 { return l.size }); pitch > 0 {
		return max(min(pitch, 2*size), 0.8*size)
	}
	return 1.2 * size
}

// marker cuts the mark of a list's item from its text.
func marker(text string) (mark, rest string) {
	if bulletStart.MatchString(text) {
		_, size := utf8.DecodeRuneInString(text)
		rest := strings.TrimSpace(text[size:])
		if first := text[:size]; strings.Contains("-–—*", first) && (len(rest) == 0 || text[size] != ' ') {
			return "", text // a dash that belongs to its word
		}
		return "-", rest
	}
	if numberStart.MatchString(text) {
		mark, rest, _ := strings.Cut(text, " ")
		if strings.HasSuffix(mark, ".") {
			return mark, strings.TrimSpace(rest)
		}
		return "-", text
	}
	return "", text
}

// ends reports whether a sentence can end with the text.
func ends(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, `"”’')]`), ".") || strings.ContainsAny(text[max(0, len(text)-1):], "!?:;")
}

func hyphened(text string) bool {
	return len(text) > 2 && strings.HasSuffix(text, "-") && !strings.HasSuffix(text, " -")
}

// vocabulary has the words of the file, to tell a hyphen that a line's end added from one that belongs to a word.
type vocabulary map[string]bool

func (v vocabulary) add(text string) {
	for _, w := range strings.Fields(text) {
		if len(v) < 200_000 {
			v[bare(w)] = true
		}
	}
}

func bare(word string) string {
	return strings.ToLower(strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}

// continued joins a line to the text before it.
func (v vocabulary) continued(text, next string) string {
	if !hyphened(text) {
		return text + " " + next
	}
	first := text[strings.LastIndexByte(text, ' ')+1:]
	second, _, _ := strings.Cut(next, " ")
	r, _ := utf8.DecodeRuneInString(second)
	half := strings.TrimSuffix(first, "-")
	last, _ := utf8.DecodeLastRuneInString(half)
	if !unicode.IsLower(r) || !unicode.IsLetter(last) || !v[bare(half+second)] && v[bare(first+second)] {
		return text + next
	}
	return strings.TrimSuffix(text, "-") + next
}
