package markdown

import "strings"

// Table writes rows as a table whose first row is the head. Columns and rows without text are left out. A table of one
// column becomes paragraphs.
func (w *Writer) Table(rows [][]string) error {
	rows = compact(rows)
	if len(rows) == 0 {
		return nil
	}
	if len(rows[0]) == 1 {
		for _, row := range rows {
			if err := w.Paragraph(row[0]); err != nil {
				return err
			}
		}
		return nil
	}
	var text strings.Builder
	for i, row := range rows {
		if i > 0 {
			text.WriteByte('\n')
		}
		line(&text, row)
		if i == 0 {
			text.WriteString("\n|" + strings.Repeat(" --- |", len(row)))
		}
		if text.Len() > w.Budget.Left {
			return w.Budget.Spend(text.Len())
		}
	}
	return w.write(block, text.String())
}

func line(text *strings.Builder, row []string) {
	text.WriteByte('|')
	for _, cell := range row {
		text.WriteByte(' ')
		if cell != "" {
			text.WriteString(strings.ReplaceAll(cell, "|", `\|`))
			text.WriteByte(' ')
		}
		text.WriteByte('|')
	}
}

// compact returns the rows with cells of one line, all of the same length, without empty rows and columns.
func compact(rows [][]string) [][]string {
	var used []bool
	kept := make([][]string, 0, len(rows))
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
	for r, row := range kept {
		short := make([]string, 0, len(used))
		for i, u := range used {
			switch {
			case u && i < len(row):
				short = append(short, row[i])
			case u:
				short = append(short, "")
			}
		}
		kept[r] = short
	}
	return kept
}
