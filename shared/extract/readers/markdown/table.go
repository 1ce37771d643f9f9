package markdown

import "strings"

// Table writes rows as a table whose first row is the head. Columns and rows without text are left out. A table of one
// column becomes paragraphs.
func (w *Writer) Table(rows [][]string) error {
	rows, columns := compact(rows)
	switch {
	case len(columns) == 0:
		return nil
	case len(columns) == 1:
		for _, row := range rows {
			if err := w.Paragraph(row[columns[0]]); err != nil {
				return err
			}
		}
		return nil
	}
	// Rows of few cells are filled up to the widest one.
	if least := emptyCell * len(rows) * len(columns); least > w.Budget.Left {
		return w.Budget.Spend(least)
	}
	var text strings.Builder
	for i, row := range rows {
		if i > 0 {
			text.WriteByte('\n')
		}
		line(&text, row, columns)
		if i == 0 {
			text.WriteString("\n|" + strings.Repeat(" --- |", len(columns)))
		}
		if text.Len() > w.Budget.Left {
			return w.Budget.Spend(text.Len())
		}
	}
	return w.write(block, text.String())
}

const emptyCell = len(" |") // bytes

// line writes the cells of a row in these columns.
func line(text *strings.Builder, row []string, columns []int) {
	text.WriteByte('|')
	for _, i := range columns {
		text.WriteByte(' ')
		if i < len(row) && row[i] != "" {
			text.WriteString(strings.ReplaceAll(row[i], "|", `\|`))
			text.WriteByte(' ')
		}
		text.WriteByte('|')
	}
}

// compact returns the rows that have text, with cells of one line, and the columns that have text.
func compact(rows [][]string) (kept [][]string, columns []int) {
	var used []bool
	kept = make([][]string, 0, len(rows))
	for _, row := range rows {
		empty := true
		for i, cell := range row {
			row[i] = strings.Join(strings.Fields(cell), " ")
			if row[i] == "" {
				continue
			}
			empty = false
			for len(used) <= i {
				used = append(used, false)
			}
			used[i] = true
		}
		if !empty {
			kept = append(kept, row)
		}
	}
	for i, u := range used {
		if u {
			columns = append(columns, i)
		}
	}
	return kept, columns
}
