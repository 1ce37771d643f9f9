package pdf

import (
	"cmp"
	"slices"
	"strings"
)

const (
	minTableRows  = 3
	maxTableRows  = 150 // of one table; a longer one becomes several
	maxCells      = 40  // of a row
	maxTableGap   = 3.5 // heights of a line between the rows of a table
	maxCellLength = 120
)

// tables returns rows as blocks: tables where several rows have cells below each other, and lines of text.
func tables(all [][]line) []block {
	var blocks []block
	var text []line
	for len(all) > 0 {
		n, cells := table(all)
		if cells == nil {
			for _, row := range all[:n] {
				text = append(text, joined(row))
			}
		} else {
			if len(text) > 0 {
				blocks, text = append(blocks, block{lines: text}), nil
			}
			blocks = append(blocks, block{table: cells})
		}
		all = all[n:]
	}
	if len(text) > 0 {
		blocks = append(blocks, block{lines: text})
	}
	return blocks
}

// joined returns the parts of a row as one line.
func joined(row []line) line {
	whole := row[0]
	texts := make([]string, len(row))
	for i, l := range row {
		texts[i] = l.text
		whole.box, whole.size, whole.bold = whole.join(l.box), max(whole.size, l.size), whole.bold && l.bold
	}
	whole.text = strings.Join(texts, " ")
	return whole
}

// table returns how many of the first rows belong together, one at least, and their cells if they are a table. They are
// if each has at least two parts, and the parts of all rows form columns with empty space between them.
func table(all [][]line) (int, [][]string) {
	n := 0
	for n < min(len(all), maxTableRows) && isRow(all[n]) && (n == 0 || near(all[n-1], all[n])) && separate(all[:n+1]) {
		n++
	}
	if n < minTableRows {
		return max(n, 1), nil
	}
	spans := columnSpans(all[:n])
	if !full(all[:n], spans) {
		return n, nil
	}
	cells := make([][]string, n)
	for i, row := range all[:n] {
		cells[i] = make([]string, len(spans))
		for _, l := range row {
			cells[i][l.column(spans)] = l.text
		}
	}
	return n, cells
}

// isRow reports whether the parts of a row can be cells.
func isRow(row []line) bool {
	return len(row) > 1 && len(row) <= maxCells && !slices.ContainsFunc(row, func(l line) bool { return len(l.text) > maxCellLength })
}

func near(above, below []line) bool {
	a, b := joined(above), joined(below)
	return a.bottom-b.top < maxTableGap*max(a.size, b.size)
}

type span struct{ left, right float64 }

// columnSpans returns where the parts of the rows are, joined where they overlap.
func columnSpans(all [][]line) []span {
	var spans []span
	for _, row := range all {
		for _, l := range row {
			spans = append(spans, span{l.left, l.right})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.left, b.left) })
	merged := spans[:1]
	for _, s := range spans[1:] {
		if last := &merged[len(merged)-1]; s.left <= last.right {
			last.right = max(last.right, s.right)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// column returns in which of the spans l is.
func (l line) column(spans []span) int {
	return slices.IndexFunc(spans, func(s span) bool { return l.left >= s.left && l.right <= s.right })
}

// separate reports whether the rows form at least two columns, and no row has two parts in one.
func separate(all [][]line) bool {
	spans := columnSpans(all)
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
