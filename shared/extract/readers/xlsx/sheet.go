package xlsx

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"docent/shared/extract"
	"docent/shared/extract/readers/markdown"
	"docent/shared/extract/readers/ooxml"
)

// Excel's own bounds.
const (
	maxRow    = 1 << 20
	maxColumn = 1 << 14
)

// cell is a cell that has text.
type cell struct {
	column   int
	text     string
	isNumber bool
	doubtful bool // a 0 of a formula, which may never have been calculated
}

// row is a row that has cells, in the order of columns.
type row struct {
	number int
	hidden bool // by hand
	cells  []cell
}

// area is a range of merged cells.
type area struct{ firstRow, firstColumn, lastRow, lastColumn int }

const (
	maxMerged     = 100_000
	maxMergeSteps = 4 << 20 // rows that merged cells are looked for in
)

// sheet returns the Markdown of a sheet.
func (b *workbook) sheet(s sheet) (string, error) {
	if s.part == "" || !b.pkg.Has(s.part) {
		return "", nil
	}
	d, err := b.pkg.Decoder(s.part)
	if err != nil {
		return "", err
	}
	defer d.Close()
	g := &grid{workbook: b, left: b.budget.Left}
	err = d.Each(func(xml.StartElement) error {
		return d.Each(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "sheetPr":
				v := ooxml.Attr(e, "filterMode")
				g.hidden.filtered = v != "" && ooxml.On(v)
			case "cols":
				return d.Each(func(e xml.StartElement) error {
					g.hidden.readColumn(e)
					return nil
				})
			case "sheetData":
				return g.rowsOf(d)
			case "autoFilter":
				return g.hidden.readFilter(d)
			case "tableParts":
				return d.Each(func(e xml.StartElement) error {
					if len(g.hidden.tables) < maxTables {
						g.hidden.tables = append(g.hidden.tables, ooxml.RelationID(e, "id"))
					}
					return nil
				})
			case "mergeCells":
				return d.Each(func(e xml.StartElement) error {
					if a, ok := parseArea(ooxml.Attr(e, "ref")); ok && len(g.merged) < maxMerged {
						g.merged = append(g.merged, a)
					}
					return nil
				})
			}
			return nil
		})
	})
	if err != nil {
		return "", err
	}
	g.dropDoubtful()
	if g.calculation.lacking {
		b.lacking = append(b.lacking, s.name)
	}
	if len(g.rows) == 0 {
		return "", nil
	}
	if err := g.readTables(s.part); err != nil {
		return "", err
	}
	g.showMerged()
	if err := g.repeatMerged(); err != nil {
		return "", err
	}
	g.dropHidden()
	if g.hidden.leftOut {
		b.partly = append(b.partly, s.name)
	}
	if len(g.rows) == 0 {
		return "", nil
	}
	out := &markdown.Writer{Budget: b.budget}
	if err := out.Heading(1, s.name); err != nil {
		return "", err
	}
	if err := g.write(out); err != nil {
		return "", err
	}
	return out.String(), nil
}

// grid is the sheet that is read.
type grid struct {
	*workbook
	rows   []row
	merged []area
	hidden hidden
	left   int // bytes that the cells may still have

	calculation calculation
}

func (g *grid) spend(text string) error {
	if g.left -= len(text) + 3; g.left < 0 {
		return extract.Errorf("The file has more than %d MB of text.", g.budget.Most>>20)
	}
	return nil
}

func (g *grid) rowsOf(d *ooxml.Decoder) error {
	number := 0
	sorted := true
	err := d.Each(func(e xml.StartElement) error {
		if e.Name.Local != "row" {
			return nil
		}
		number++
		if n, err := strconv.Atoi(ooxml.Attr(e, "r")); err == nil {
			number = n
		}
		if number < 1 || number > maxRow {
			return extract.Errorf("The sheet has a row %d; the last that Excel has is %d.", number, maxRow)
		}
		r := row{number: number, hidden: isHidden(e)}
		g.hidden.any = g.hidden.any || r.hidden
		if err := g.cellsOf(d, &r); err != nil {
			return err
		}
		if len(r.cells) > 0 {
			sorted = sorted && (len(g.rows) == 0 || g.rows[len(g.rows)-1].number < number)
			g.rows = append(g.rows, r)
		}
		return nil
	})
	if !sorted {
		slices.SortStableFunc(g.rows, func(a, b row) int { return cmp.Compare(a.number, b.number) })
	}
	return err
}

func (g *grid) cellsOf(d *ooxml.Decoder, r *row) error {
	column := 0
	sorted := true
	err := d.Each(func(e xml.StartElement) error {
		if e.Name.Local != "c" {
			return nil
		}
		column++
		if _, c, ok := parseCell(ooxml.Attr(e, "r")); ok {
			column = c
		}
		if column > maxColumn {
			return extract.Errorf("The sheet has more than %d columns.", maxColumn)
		}
		c, err := g.cell(d, e)
		if err != nil || strings.TrimSpace(c.text) == "" {
			return err
		}
		c.column = column
		sorted = sorted && (len(r.cells) == 0 || r.cells[len(r.cells)-1].column < column)
		r.cells = append(r.cells, c)
		return g.spend(c.text)
	})
	if !sorted {
		slices.SortStableFunc(r.cells, func(a, b cell) int { return cmp.Compare(a.column, b.column) })
	}
	return err
}

// cell returns the cell that is the current element, without its column.
func (g *grid) cell(d *ooxml.Decoder, e xml.StartElement) (c cell, err error) {
	var value, inline string
	isFormula := false
	err = d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "f":
			isFormula = true
		case "v":
			value, err = d.Text()
		case "is":
			inline, err = richText(d)
		}
		return err
	})
	if err != nil {
		return cell{}, err
	}
	kind := ooxml.Attr(e, "t")
	if isFormula {
		c.doubtful = g.calculation.add(kind, value, g.onOpening)
	}
	var f cellFormat
	if s, err := strconv.Atoi(ooxml.Attr(e, "s")); err == nil && s >= 0 && s < len(g.formats) {
		f = g.formats[s]
	}
	c.text, c.isNumber = g.shown(f, kind, value, inline)
	if f.struck {
		c.text = markdown.Struck(c.text)
	}
	return c, nil
}

// shown returns what a cell with format f shows. kind is its attribute t; inline is its text if that is not among the shared strings.
func (g *grid) shown(f cellFormat, kind, value, inline string) (text string, isNumber bool) {
	switch kind {
	case "s":
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n >= 0 && n < len(g.strings) {
			return f.string(g.strings[n]), false
		}
		return "", false
	case "inlineStr":
		return f.string(inline), false
	case "b":
		switch value {
		case "": // of a formula that was not calculated
			return "", false
		case "1":
			return "TRUE", false
		}
		return "FALSE", false
	case "str":
		return f.string(unescaped(value)), false
	case "e", "d":
		return value, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return value, false // a cell that is not a number shows its text
	}
	return f.number(n, g.is1904), true
}

// repeatMerged writes the value of merged cells into each row that they span and that has other cells. It goes through
// the rows once, with the areas that reach into the current one.
func (g *grid) repeatMerged() error {
	slices.SortStableFunc(g.merged, func(a, b area) int { return cmp.Compare(a.firstRow, b.firstRow) })
	type open struct {
		cell
		lastRow int
	}
	var above []open
	steps, left := 0, g.merged
	for n := range g.rows {
		r := &g.rows[n]
		above = slices.DeleteFunc(above, func(o open) bool { return o.lastRow < r.number })
		if steps += len(above); steps > maxMergeSteps {
			return nil
		}
		if len(above) > 0 {
			var taken columnSet
			taken.add(*r)
			for _, o := range above {
				if taken.has(o.column) {
					continue
				}
				taken.set(o.column)
				r.cells = append(r.cells, o.cell)
				if err := g.spend(o.text); err != nil {
					return err
				}
			}
			slices.SortStableFunc(r.cells, func(a, b cell) int { return cmp.Compare(a.column, b.column) })
		}
		for ; len(left) > 0 && left[0].firstRow <= r.number; left = left[1:] {
			if i, found := r.find(left[0].firstColumn); found && left[0].firstRow == r.number {
				above = append(above, open{r.cells[i], left[0].lastRow})
			}
		}
	}
	return nil
}

func (r row) find(column int) (int, bool) {
	return slices.BinarySearchFunc(r.cells, column, func(c cell, n int) int { return cmp.Compare(c.column, n) })
}

// parseCell returns the row and column of a name such as "AB12".
func parseCell(name string) (number, column int, ok bool) {
	i := 0
	for ; i < len(name) && i < 4 && name[i] >= 'A' && name[i] <= 'Z'; i++ {
		column = column*26 + int(name[i]-'A') + 1
	}
	number, err := strconv.Atoi(name[i:])
	return number, column, err == nil && i > 0
}

func parseArea(ref string) (area, bool) {
	from, to, ok := strings.Cut(ref, ":")
	var a area
	var ok1, ok2 bool
	a.firstRow, a.firstColumn, ok1 = parseCell(from)
	a.lastRow, a.lastColumn, ok2 = parseCell(to)
	return a, ok && ok1 && ok2
}
