package pdf

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	minTableRows  = 3
	maxTableRows  = 150 // of one table; a longer one becomes several
	maxCells      = 40  // of a row
	maxSpans      = 400 // columns of rows that may become a table; where their parts are far apart they have many at first
	maxTableGap   = 3.5 // heights of a line between the rows of a table
	maxCellLength = 120
	minProseText  = 25 // characters of a line of text between columns of text, on average
)

// tables returns rows as blocks: tables where several rows have cells below each other, and lines of text.
func tables(all [][]line) []block {
	var blocks []block
	var text []line
	for len(all) > 0 {
		if grids, rest := apart(all[0]); len(grids) > 0 {
			if len(text) > 0 {
				blocks, text = append(blocks, block{lines: text}), nil
			}
			blocks = append(blocks, grids...)
			if all = all[1:]; len(rest) > 0 {
				text = append(text, joined(rest))
			}
			continue
		}
		n, spans := table(all)
		if spans == nil {
			for _, row := range all[:n] {
				text = append(text, joined(row))
			}
			all = all[n:]
			continue
		}
		if len(text) > 0 {
			blocks, text = append(blocks, block{lines: text}), nil
		}
		below := byColumn(all[:n], spans)
		if slices.ContainsFunc(below, func(c []line) bool { return !isProse(c, n) }) {
			blocks = append(blocks, block{table: cells(all[:n], spans)})
		} else { // a few lines of text in columns
			for i, c := range below {
				blocks = append(blocks, block{lines: c, apart: i > 0})
			}
		}
		all = all[n:]
	}
	if len(text) > 0 {
		blocks = append(blocks, block{lines: text})
	}
	return blocks
}

// byColumn returns the parts of rows in each of their columns.
func byColumn(all [][]line, spans []span) [][]line {
	columns := make([][]line, len(spans))
	for _, row := range all {
		for _, l := range row {
			at := l.column(spans)
			columns[at] = append(columns[at], l)
		}
	}
	return columns
}

// isProse reports whether the parts of a column, in a table of this number of rows, are lines of sentences that run
// on from one to the next.
func isProse(column []line, rows int) bool {
	letters, runOn := 0, 0
	for i, l := range column {
		letters += len(l.text)
		if first, _ := utf8.DecodeRuneInString(l.text); i > 0 && (hyphened(column[i-1].text) || unicode.IsLower(first) && !ends(column[i-1].text)) {
			runOn++
		}
	}
	return rows > minTableRows && 5*len(column) >= 4*rows && letters >= minProseText*len(column) && 2*runOn >= len(column)
}

// cells returns the texts of the rows of a table in its columns.
func cells(all [][]line, spans []span) [][]string {
	cells := make([][]string, len(all))
	for i, row := range all {
		cells[i] = make([]string, len(spans))
		for _, l := range row {
			cells[i][l.column(spans)] = l.text
		}
	}
	return cells
}

// joined returns the parts of a row as one line.
func joined(row []line) line {
	whole := row[0]
	texts := make([]string, len(row))
	for i, l := range row {
		texts[i] = l.text
		whole.box, whole.size, whole.bold = whole.join(l.box), max(whole.size, l.size), whole.bold && l.bold
		whole.running = whole.running || l.running
	}
	whole.text = inOrder(texts, nil, whole.turned)
	return whole
}

// table returns how many of the first rows belong together, one at least, and their columns if they are a table. They are
// if each has at least two parts, and the parts of all rows form columns with empty space between them.
func table(all [][]line) (int, []span) {
	n := 0
	var spans []span
	for n < min(len(all), maxTableRows) && isRow(all[n]) && (n == 0 || near(all[n-1], all[n])) {
		more := joinSpans(spans, all[n])
		if len(more) > maxSpans || !separate(all[:n+1], more) {
			break
		}
		spans = more
		n++
	}
	if n < minTableRows {
		return max(n, 1), nil
	}
	if full(all[:n], spans) {
		return n, spans
	}
	return n, nil
}

// isRow reports whether the parts of a row can be cells.
func isRow(row []line) bool {
	return len(row) > 1 && len(row) <= maxCells && !slices.ContainsFunc(row, func(l line) bool { return l.grid != nil || len(l.text) > maxCellLength })
}

func near(above, below []line) bool {
	a, b := joined(above), joined(below)
	return a.bottom-b.top < maxTableGap*max(a.size, b.size)
}

type span struct{ left, right float64 }

// joinSpans returns spans with those of the parts of a row, joined where they overlap.
func joinSpans(spans []span, row []line) []span {
	all := slices.Clone(spans)
	for _, l := range row {
		all = append(all, span{l.left, l.right})
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.left, b.left) })
	merged := all[:1]
	for _, s := range all[1:] {
		if last := &merged[len(merged)-1]; s.left <= last.right {
			last.right = max(last.right, s.right)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// column returns in which of the spans l is, or -1.
func (l line) column(spans []span) int {
	i, found := slices.BinarySearchFunc(spans, l.left, func(s span, left float64) int { return cmp.Compare(s.left, left) })
	if !found {
		i--
	}
	if i < 0 || l.right > spans[i].right {
		return -1
	}
	return i
}

// separate reports whether the rows, whose parts are in spans, form at least two columns, and no row has two parts in one.
func separate(all [][]line, spans []span) bool {
	for _, row := range all {
		last := -1
		for _, l := range row {
			at := l.column(spans)
			if at == last {
				return false
			}
			last = at
		}
	}
	return len(spans) > 1
}

// full reports whether most cells of the columns have text.
func full(all [][]line, spans []span) bool {
	used := 0
	for _, row := range all {
		used += len(row)
	}
	return 10*used >= 6*len(all)*len(spans)
}
