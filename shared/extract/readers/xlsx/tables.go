package xlsx

import (
	"math/bits"
	"slices"

	"docent/shared/extract/readers/markdown"
)

// write writes the rows as tables. An empty row ends a table, except if the rows after it are more of the same: in the
// same columns, and not begun by a head. A row of one cell above a table is its title.
func (g *grid) write(out *markdown.Writer) error {
	for from := 0; from < len(g.rows); {
		to := from + 1
		var columns columnSet
		columns.add(g.rows[from])
		for ; to < len(g.rows); to++ {
			r := g.rows[to]
			if gap := r.number - g.rows[to-1].number; gap > 1 && (gap > 3 || !isMore(r, &columns)) {
				break
			}
			columns.add(r)
		}
		if err := g.table(out, g.rows[from:to]); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// columnSet is a set of columns.
type columnSet [maxColumn/64 + 1]uint64

func (s *columnSet) has(column int) bool { return s[column/64]>>(column%64)&1 != 0 }

func (s *columnSet) set(column int) { s[column/64] |= 1 << (column % 64) }

// add adds the columns of a row.
func (s *columnSet) add(r row) {
	for _, c := range r.cells {
		s.set(c.column)
	}
}

// sorted returns the columns in their order.
func (s *columnSet) sorted() []int {
	var columns []int
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			columns = append(columns, 64*i+bits.TrailingZeros64(word))
		}
	}
	return columns
}

// isMore reports whether a row continues the table of these columns.
func isMore(r row, columns *columnSet) bool {
	numbers := 0
	for _, c := range r.cells {
		if !columns.has(c.column) {
			return false
		}
		if c.isNumber {
			numbers++
		}
	}
	return numbers > 0 && len(r.cells) > 1
}

// table writes rows without an empty one between them.
func (g *grid) table(out *markdown.Writer, rows []row) error {
	for len(rows) > 1 && len(rows[0].cells) == 1 && len(rows[1].cells) > 0 {
		if err := out.Paragraph(rows[0].cells[0].text); err != nil {
			return err
		}
		rows = rows[1:]
	}
	var set columnSet
	for _, r := range rows {
		set.add(r)
	}
	columns := set.sorted()
	// A few cells far apart would make a table of many empty ones.
	if err := g.checkSize(len(rows) * len(columns)); err != nil {
		return err
	}
	table := make([][]string, len(rows))
	for i, r := range rows {
		table[i] = make([]string, len(columns))
		for _, c := range r.cells {
			at, _ := slices.BinarySearch(columns, c.column)
			table[i][at] = c.text
		}
	}
	return out.Table(table)
}

// checkSize returns an error if that many cells, each with the two characters of an empty one, do not fit.
func (g *grid) checkSize(cells int) error {
	if 2*cells > g.budget.Left {
		return g.budget.Spend(2 * cells)
	}
	return nil
}
