package pdf

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	edgeRows         = 2 // rows at the top and at the bottom of a page that can be headers and footers
	marginRows       = 8 // the same, of lines in the margin
	minRepeatedPages = 3
	minRepeatedShare = 0.4 // of the pages: headers may differ between left and right pages
	marginShare      = 0.1 // of the text that may begin left of the body, or end right of it
	maxRunning       = 120 // bytes of a header with the number of its page
)

// edge is what a line at the edge of a page has in common with those of other pages. Lines with the same words at the
// same height are the same, whatever the number of the page in them.
type edge struct {
	words  string
	height int
	left   int // of a line in the margin; above and below the text, numbers are often centred
}

// numbering is a number at the edge of pages that grows with them.
type numbering struct{ offset, height int }

// edgeLine is a line at the edge of a page, with its place among the rows.
type edgeLine struct {
	edge
	numbers []numbering
	row     int
	part    int
	margin  bool // next to the text
}

// sheet is the text of a page in one direction.
type sheet struct {
	rows  [][]line
	edges []edgeLine
}

// dropRepeated removes headers and footers that many pages have. The first page that has one keeps it, except if it is
// the number of the page only, and so does a page that has nothing else. What is kept of them, and headers that differ but
// have the number of their page, is marked, because it is not a heading of what follows.
func dropRepeated(pages []page) {
	sheets := make([][]sheet, len(pages))
	count, numbered := map[edge]int{}, map[numbering]int{}
	for i, p := range pages {
		pages[i].texts = nil // the sheet has its lines: a file may have millions
		edges, numbers := map[edge]bool{}, map[numbering]bool{}
		for _, lines := range p.texts {
			s := newSheet(lines, p.number)
			sheets[i] = append(sheets[i], s)
			for _, e := range s.edges {
				edges[e.edge] = true
				for _, n := range e.numbers {
					numbers[n] = true
				}
			}
		}
		for e := range edges {
			count[e]++
		}
		for n := range numbers {
			numbered[n]++
		}
	}
	often := func(n int) bool {
		return n >= minRepeatedPages && float64(n) >= minRepeatedShare*float64(len(pages))
	}
	seen := map[edge]bool{}
	for i := range pages {
		here := map[edge]bool{}  // a page may have several lines that differ in their numbers only
		var whole, rest [][]line // without numbers, and without headers too
		for _, s := range sheets[i] {
			headers, numbers := s.mark(func(e edgeLine) bool { return often(count[e.edge]) }, func(n numbering) bool { return often(numbered[n]) }, seen, here)
			whole = appendLines(whole, s.without(numbers))
			maps.Copy(headers, numbers)
			rest = appendLines(rest, s.without(headers))
		}
		sheets[i] = nil
		if pages[i].texts = rest; len(rest) == 0 {
			pages[i].texts = whole
		}
		maps.Copy(seen, here)
	}
}

func appendLines(texts [][]line, lines []line) [][]line {
	if len(lines) == 0 {
		return texts
	}
	return append(texts, lines)
}

// newSheet returns the rows of lines with those at the edge of the page.
func newSheet(lines []line, number int) sheet {
	s := sheet{rows: rows(lines)}
	left, right := body(lines)
	for r, row := range s.rows {
		fromEdge := min(r, len(s.rows)-1-r)
		if fromEdge >= marginRows {
			continue
		}
		for p, l := range row {
			e := edgeLine{edge: edge{words: pattern(l.text), height: int(math.Round(l.middle() / 4))}, row: r, part: p}
			if e.margin = l.right < left || l.left > right; e.margin {
				e.left = int(math.Round(l.left/4)) + 1
			} else if fromEdge >= edgeRows {
				continue
			}
			e.numbers = numbersOf(l.text, number, e.height)
			s.edges = append(s.edges, e)
		}
	}
	return s
}

// rowPart is that of a line among the rows.
type rowPart struct{ row, part int }

// mark marks headers and footers, and adds them to here. It returns those that repeat and were seen on a page before, and the numbers of
// the page.
func (s *sheet) mark(repeats func(edgeLine) bool, grows func(numbering) bool, seen, here map[edge]bool) (headers, numbers map[rowPart]bool) {
	headers, numbers = map[rowPart]bool{}, map[rowPart]bool{}
	// Parts and bytes that repeat, parts with the page's number, and bytes of the row.
	type state struct{ known, text, numbered, length int }
	states := map[int]*state{}
	of := func(row int) *state {
		if states[row] == nil {
			states[row] = &state{length: len(joined(s.rows[row]).text)}
		}
		return states[row]
	}
	for _, e := range s.edges {
		isNumber := slices.ContainsFunc(e.numbers, grows)
		if repeats(e) || isNumber && e.words == "#" {
			of(e.row).known++
			of(e.row).text += len(s.rows[e.row][e.part].text)
		}
		if isNumber && !e.margin {
			of(e.row).numbered++
		}
	}
	for _, e := range s.edges {
		row, st := s.rows[e.row], of(e.row)
		known := repeats(e) || e.words == "#" && slices.ContainsFunc(e.numbers, grows)
		switch {
		case known && (e.margin || st.known == len(row)): // else a cell of a table at the edge
			if e.words == "#" {
				numbers[rowPart{e.row, e.part}] = true
			} else if seen[e.edge] {
				headers[rowPart{e.row, e.part}] = true
			}
			here[e.edge] = true
			row[e.part].running = true
		case st.length <= maxRunning && (st.numbered > 0 || !e.margin && len(row) == 2 && 2*st.text >= st.length):
			row[e.part].running = true
		}
	}
	return headers, numbers
}

// without returns the lines that are not left out.
func (s *sheet) without(leftOut map[rowPart]bool) []line {
	var kept []line
	for r, row := range s.rows {
		for p, l := range row {
			if !leftOut[rowPart{r, p}] {
				kept = append(kept, l)
			}
		}
	}
	return kept
}

// body returns the left and right edge of most text.
func body(lines []line) (left, right float64) {
	total := 0
	for _, l := range lines {
		total += len(l.text)
	}
	find := func(by func(a, b line) int, of func(line) float64) float64 {
		sorted := slices.SortedFunc(slices.Values(lines), by)
		sum := 0
		for _, l := range sorted {
			if sum += len(l.text); float64(sum) > marginShare*float64(total) {
				return of(l)
			}
		}
		return 0
	}
	left = find(func(a, b line) int { return cmp.Compare(a.left, b.left) }, func(l line) float64 { return l.left })
	right = find(func(a, b line) int { return cmp.Compare(b.right, a.right) }, func(l line) float64 { return l.right })
	return left, right
}

var (
	wholeNumber = regexp.MustCompile(`\d+`)
	romanNumber = regexp.MustCompile(`^[ivxlc]+$`)
)

// numbersOf returns the numbers in text by how far they are from that of the page.
func numbersOf(text string, page, height int) []numbering {
	var all []numbering
	for _, digits := range wholeNumber.FindAllString(text[:min(len(text), maxRunning)], -1) {
		if n, err := strconv.Atoi(digits); err == nil && len(digits) < 6 {
			all = append(all, numbering{n - page, height})
		}
	}
	return all
}

// pattern returns text with its numbers replaced.
func pattern(text string) string {
	if romanNumber.MatchString(text) {
		return "#"
	}
	var b strings.Builder
	digits := false
	for _, r := range text {
		if unicode.IsDigit(r) {
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		}
		digits = false
		if !unicode.IsSpace(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}
