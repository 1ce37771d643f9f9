package rst

import (
	"regexp"
	"slices"
	"strings"
)

var (
	gridBorder   = regexp.MustCompile(`^\+(?:[-=]+\+)+$`)
	simpleBorder = regexp.MustCompile(`^=+(?: +=+)+$`)
	columnSpans  = regexp.MustCompile(`^-+(?: +-+)*$`)
)

// maxColumns is how many columns a table may have that is not drawn with lines around its cells.
const maxColumns = 100

// row is a row of a table: the lines of each cell. Cells without text at its end may be left out.
type row [][]string

// add adds lines to a cell.
func (r *row) add(cell int, lines ...string) {
	if len(lines) == 0 {
		return
	}
	for len(*r) <= cell {
		*r = append(*r, nil)
	}
	(*r)[cell] = append((*r)[cell], lines...)
}

// gridLength returns the number of lines of the table at the beginning that is drawn with lines around its cells, or 0.
func gridLength(lines []string) int {
	if !gridBorder.MatchString(lines[0]) {
		return 0
	}
	n := 1
	for n < len(lines) && lines[n] != "" && strings.ContainsRune("+|", rune(lines[n][0])) {
		n++
	}
	if n < 3 {
		return 0
	}
	return n
}

// simpleLength returns the number of lines of the table at the beginning that has lines above and below only, or 0.
func simpleLength(lines []string) int {
	for n := 1; n < len(lines); n++ {
		if simpleBorder.MatchString(lines[n]) && (n+1 == len(lines) || lines[n+1] == "") {
			return n + 1
		}
	}
	return 0
}

// table converts a table that is drawn. One with cells over several columns or rows stays as it is drawn.
func (d *document) table(lines []string, depth int) block {
	if lines[0][0] == '=' {
		rows, header := simpleRows(lines)
		return d.markdownTable(rows, header, depth)
	}
	rows, header, plain := gridRows(lines)
	if !plain {
		return fenced("", lines)
	}
	return d.markdownTable(rows, header, depth)
}

// gridRows returns the rows of a table with lines around its cells, and reports whether the first row is its head and whether
// no cell is in several columns or rows.
func gridRows(lines []string) (rows []row, header, plain bool) {
	var at []int // the columns of the lines
	for i, c := range lines[0] {
		if c == '+' {
			at = append(at, i)
		}
	}
	var open row
	for _, line := range lines {
		text := []rune(line)
		border := gridBorder.MatchString(line)
		if len(text) != at[len(at)-1]+1 {
			return nil, false, false
		}
		if border && open != nil {
			rows = append(rows, open)
			header = header || strings.Contains(line, "=") && len(rows) == 1
		}
		if border {
			open = make(row, len(at)-1)
		}
		for i, column := range at {
			if border && text[column] != '+' || !border && text[column] != '|' {
				return nil, false, false
			}
			if !border && i > 0 {
				open[i-1] = append(open[i-1], string(text[at[i-1]+1:column]))
			}
		}
	}
	return rows, header, true
}

// simpleRows returns the rows of a table with lines above and below only, and reports whether the first row is its head.
// A row without text in its first column continues the one above.
func simpleRows(lines []string) (rows []row, header bool) {
	var starts []int
	for i := range lines[0] {
		if lines[0][i] == '=' && (i == 0 || lines[0][i-1] == ' ') {
			starts = append(starts, i)
		}
	}
	borders, first := 0, true // whether the next row is the first below a border
	for _, line := range lines {
		if simpleBorder.MatchString(line) {
			borders++
			header = header || borders == 3
			first = true
			continue
		}
		if line == "" || columnSpans.MatchString(line) {
			continue
		}
		text := []rune(line)
		continues := strings.TrimSpace(string(text[:min(len(text), starts[1])])) == ""
		if !continues || first {
			rows, first = append(rows, row{}), false
		}
		for i, start := range starts {
			end := len(text)
			if i+1 < len(starts) {
				end = min(end, starts[i+1])
			}
			if start >= end {
				break
			}
			rows[len(rows)-1].add(i, string(text[start:end]))
		}
	}
	return rows, header
}

// markdownTable converts rows. Without a header the head of the table is empty.
func (d *document) markdownTable(rows []row, header bool, depth int) block {
	if !header {
		rows = slices.Insert(rows, 0, row{})
	}
	columns := 0
	for _, cells := range rows {
		columns = max(columns, len(cells))
	}
	var b strings.Builder
	for i, cells := range rows {
		for _, cell := range cells {
			b.WriteString("| " + d.cell(cell, depth) + " ")
		}
		if i == 0 {
			b.WriteString(strings.Repeat("| ", columns-len(cells)) + "|\n" + strings.Repeat("| --- ", columns))
		}
		b.WriteString("|\n")
	}
	return block{text: strings.TrimSuffix(b.String(), "\n")}
}

// cell converts the lines of a cell to one line.
func (d *document) cell(lines []string, depth int) string {
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	text := strings.Join(strings.Fields(join(d.blocks(dedent(lines), depth+1))), " ")
	return strings.ReplaceAll(text, "|", `\|`)
}
