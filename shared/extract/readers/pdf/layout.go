package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"docent/shared/raised"
)

// page is a page of the file.
type page struct {
	number int
	texts  [][]line // its lines by their directions, that of most characters first
	blocks []block
}

// block is a run of lines that are read from top to bottom, or a table.
type block struct {
	lines []line
	table [][]string
	apart bool // it does not continue the text of the block before
}

// line is a line of text, or a part of one between wide gaps.
type line struct {
	text string
	box
	size    float64 // height of its characters
	bold    bool
	running bool       // it heads or ends many pages
	turned  bool       // the text of its page runs from right to left
	grid    [][]string // of a table with lines between its cells, which the line stands for
}

// base returns the height on which the characters of a word stand.
func (l line) base() float64 { return l.bottom + 0.25*l.size }

type box struct{ left, bottom, right, top float64 }

func (b box) middle() float64 { return (b.top + b.bottom) / 2 }

// join returns the smallest box around both.
func (b box) join(o box) box {
	return box{min(b.left, o.left), min(b.bottom, o.bottom), max(b.right, o.right), max(b.top, o.top)}
}

// directions returns the lines of a page in each of the four directions, those of most characters first. rules are the lines that it draws.
func directions(chars []char, rules []box) [][]line {
	var turned [4][]char
	for _, c := range chars {
		if c.r == ' ' { // it has no place of its own, and ends a word in every direction
			for i := range turned {
				turned[i] = append(turned[i], c)
			}
			continue
		}
		turned[c.turn] = append(turned[c.turn], c.upright())
	}
	slices.SortStableFunc(turned[:], func(a, b []char) int { return cmp.Compare(len(b), len(a)) })
	var texts [][]line
	for _, group := range turned {
		upright := make([]box, len(rules))
		for i, r := range rules {
			upright[i] = r.upright(turnOf(group))
		}
		lines, rest := ruled(words(group), upright)
		if len(rest) > 0 {
			lines = append(lines, fragments(rest)...)
		}
		if len(lines) > 0 {
			texts = append(texts, lines)
		}
	}
	return texts
}

// turnOf returns the direction of characters that have the same one.
func turnOf(chars []char) int {
	for _, c := range chars {
		if c.r != ' ' {
			return c.turn
		}
	}
	return 0
}

// layout puts the lines of a page in the order of reading. Lines in other directions follow those in the direction
// of most characters. What heads the page comes before its text, and what ends it after.
func layout(texts [][]line) []block {
	var blocks []block
	for _, all := range texts {
		text := make([]line, 0, len(all))
		var heads, feet []line
		middle := middleOf(all)
		for _, l := range all {
			switch {
			case !l.running:
				text = append(text, l)
			case l.middle() > middle:
				heads = append(heads, l)
			default:
				feet = append(feet, l)
			}
		}
		blocks = append(blocks, running(heads)...)
		blocks = append(blocks, columns(text, 0)...)
		blocks = append(blocks, running(feet)...)
	}
	return blocks
}

// running returns the lines of headers or footers as a block.
func running(all []line) []block {
	if len(all) == 0 {
		return nil
	}
	var blocks []block
	for _, row := range rows(all) {
		if grids, rest := apart(row); len(grids) > 0 {
			blocks = append(blocks, grids...)
			if row = rest; len(row) == 0 {
				continue
			}
		}
		if n := len(blocks) - 1; n >= 0 && blocks[n].table == nil {
			blocks[n].lines = append(blocks[n].lines, joined(row))
		} else {
			blocks = append(blocks, block{lines: []line{joined(row)}})
		}
	}
	return blocks
}

// apart returns the tables of a row that lines stand for, and the rest of the row.
func apart(row []line) (grids []block, rest []line) {
	for _, l := range row {
		if l.grid != nil {
			grids = append(grids, block{table: l.grid})
		} else {
			rest = append(rest, l)
		}
	}
	return grids, rest
}

// middleOf returns the height in the middle between the highest and the lowest line.
func middleOf(all []line) float64 {
	area := all[0].box
	for _, l := range all {
		area = area.join(l.box)
	}
	return area.middle()
}

// upright returns c turned so that its line runs from left to right.
func (c char) upright() char {
	switch c.turn {
	case 1:
		c.left, c.right, c.y = c.bottom, c.top, -c.x
	case 2:
		c.left, c.right, c.y = -c.right, -c.left, -c.y
	case 3:
		c.left, c.right, c.y = -c.top, -c.bottom, c.x
	}
	return c
}

// words joins characters that follow each other on a line without a gap.
func words(chars []char) []line {
	var all []line
	var text, high strings.Builder
	var current line
	var onLine char // the last one of the word that does not stand above the line
	lower := func() {
		text.WriteString(raised.Text(high.String()))
		high.Reset()
	}
	flush := func() {
		if lower(); text.Len() > 0 {
			current.text = text.String()
			all = append(all, current)
			text.Reset()
		}
	}
	for _, c := range chars {
		if c.r == ' ' {
			flush()
			continue
		}
		// From the line of the character: the boxes of some fonts overlap those of the lines above and below.
		size := c.size
		b := box{c.left, c.y - 0.25*size, c.right, c.y + 0.75*size}
		if text.Len()+high.Len() > 0 {
			gap := c.left - current.right
			sameLine := b.middle() > current.bottom && b.middle() < current.top
			if !sameLine || gap > 0.5*max(size, current.size) || c.left < current.left-size && c.right < current.left+size/2 {
				flush()
			}
		}
		if text.Len()+high.Len() == 0 {
			current, onLine = line{box: b, size: size, bold: c.bold}, c
		} else {
			current.box = current.join(b)
			current.size = max(current.size, size)
		}
		if above(c.y, size, onLine.y, onLine.size) {
			high.WriteString(plain(c.r))
			continue
		}
		lower()
		text.WriteString(plain(c.r))
		onLine = c
	}
	flush()
	return all
}

// above reports whether a text stands above the line of another, as exponents and the marks of notes do. Each has a baseline and a size.
func above(y, size, line, lineSize float64) bool {
	return size < 0.9*lineSize && y > line+0.2*lineSize
}

// plain returns letters instead of the sign for a letter of a formula, or of a ligature.
func plain(r rune) string {
	if r >= 0x1d400 && r <= 0x1d7ff || r >= 0xfb00 && r <= 0xfb06 {
		return norm.NFKC.String(string(r))
	}
	return string(r)
}

// fragments joins words into lines, cut where a gap is too wide for a space. They are sorted from top to bottom.
func fragments(words []line) []line {
	var all []line
	turned := turned(words)
	for _, row := range rows(words) {
		current := row[0]
		bold, letters := 0, 0
		var texts []string
		var glued []bool
		add := func(w line, glue bool) {
			texts, glued = append(texts, w.text), append(glued, glue)
			letters += len(w.text)
			if w.bold {
				bold += len(w.text)
			}
		}
		flush := func() {
			current.text, current.bold, current.turned = inOrder(texts, glued, turned), bold == letters, turned
			all = append(all, current)
			texts, glued = nil, nil
			bold, letters = 0, 0
		}
		add(current, false)
		for i, w := range row[1:] {
			size := max(w.size, current.size)
			gap := w.left - current.right
			if gap > 0.75*size {
				flush()
				current = w
			} else {
				current.box, current.size = current.join(w.box), max(current.size, w.size)
			}
			glue := gap <= 0.1*size
			if before := row[i]; glue && above(w.base(), w.size, before.base(), before.size) {
				w.text = raised.Text(w.text)
			}
			add(w, glue)
		}
		flush()
	}
	return all
}

// row is what is on one line of the page.
type row struct {
	parts        []line
	size, middle float64 // of its main text
}

const rowsBack = 3 // rows that a word is compared with: a large letter may be between two rows

// rows groups what is on one line of the page, from top to bottom, and each from left to right.
func rows(all []line) [][]line {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.middle(), a.middle()), cmp.Compare(a.left, b.left))
	})
	var found []row
	for _, l := range sorted {
		joined := false
		for i := len(found) - 1; i >= max(0, len(found)-rowsBack) && !joined; i-- {
			joined = found[i].add(l)
		}
		if !joined {
			found = append(found, row{[]line{l}, l.size, l.middle()})
		}
	}
	slices.SortStableFunc(found, func(a, b row) int { return cmp.Compare(b.middle, a.middle) })
	parts := make([][]line, len(found))
	for i, r := range found {
		slices.SortStableFunc(r.parts, func(a, b line) int { return cmp.Compare(a.left, b.left) })
		parts[i] = r.parts
	}
	return parts
}

// add adds l if it is on the row. Indices and exponents are, a large letter next to two lines is not.
func (r *row) add(l line) bool {
	large, small := max(r.size, l.size), min(r.size, l.size)
	reach := 0.3 * large
	if small < 0.85*large {
		reach = 0.5 * small
	}
	if large > 1.7*small || math.Abs(r.middle-l.middle()) > reach {
		return false
	}
	r.parts = append(r.parts, l)
	if l.size > r.size {
		r.size, r.middle = l.size, l.middle()
	}
	return true
}
