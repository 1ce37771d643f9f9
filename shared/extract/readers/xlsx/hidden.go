package xlsx

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strconv"

	"docent/shared/extract/readers/ooxml"
)

// hidden has the rows and columns of a sheet that somebody has hidden by hand. What a filter or a folded group hides does not count,
// because it is out of view only for the moment.
type hidden struct {
	columns  columnSet
	any      bool     // there is a hidden column or row
	passed   int      // the last column that was read
	filtered bool     // a filter hides rows
	tables   []string // relations of the sheet
	leftOut  bool     // hidden rows or columns had text
}

// readColumn reads a range of columns. Ranges are in their order.
func (h *hidden) readColumn(e xml.StartElement) {
	from, err1 := strconv.Atoi(ooxml.Attr(e, "min"))
	to, err2 := strconv.Atoi(ooxml.Attr(e, "max"))
	if err1 != nil || err2 != nil || to > maxColumn {
		return
	}
	for c := max(from, h.passed+1); c <= to; c++ {
		if h.passed = c; isHidden(e) {
			h.columns.set(c)
			h.any = true
		}
	}
}

// isHidden reports whether a row or a range of columns is hidden by hand.
func isHidden(e xml.StartElement) bool {
	level := ooxml.Attr(e, "outlineLevel")
	v := ooxml.Attr(e, "hidden")
	return v != "" && ooxml.On(v) && (level == "" || level == "0")
}

// readFilter reads a filter, which is the current element.
func (h *hidden) readFilter(d *ooxml.Decoder) error {
	return d.Each(func(e xml.StartElement) error {
		h.filtered = h.filtered || e.Name.Local == "filterColumn"
		return nil
	})
}

// maxTables is the number of tables of a sheet that are read.
const maxTables = 1000

// readTables looks for filters in the tables of a sheet.
func (g *grid) readTables(name string) error {
	if len(g.hidden.tables) == 0 || !g.hidden.any {
		return nil
	}
	relations, err := g.pkg.Relations(name)
	if err != nil {
		return err
	}
	for _, id := range g.hidden.tables {
		r := relations[id]
		if r.Type != "table" || r.External || !g.pkg.Has(r.Target) || g.hidden.filtered {
			continue
		}
		d, err := g.pkg.Decoder(r.Target)
		if err != nil {
			return err
		}
		err = d.Each(func(xml.StartElement) error {
			return d.Each(func(e xml.StartElement) error {
				if e.Name.Local == "autoFilter" {
					return g.hidden.readFilter(d)
				}
				return nil
			})
		})
		if err := cmp.Or(err, d.Close()); err != nil {
			return err
		}
	}
	return nil
}

// showMerged moves the text of merged cells that begin in a hidden column to the next column that is shown.
func (g *grid) showMerged() {
	if !g.hidden.any {
		return
	}
	next := make([]int, maxColumn+2)
	next[maxColumn+1] = maxColumn + 1
	for c := maxColumn; c > 0; c-- {
		if next[c] = c; g.hidden.columns.has(c) {
			next[c] = next[c+1]
		}
	}
	for n := range g.merged {
		a := &g.merged[n]
		if a.firstColumn < 1 || a.firstColumn > maxColumn || next[a.firstColumn] == a.firstColumn || next[a.firstColumn] > a.lastColumn {
			continue
		}
		if i, found := slices.BinarySearchFunc(g.rows, a.firstRow, func(r row, number int) int { return r.number - number }); found {
			if at, found := g.rows[i].find(a.firstColumn); found {
				g.rows[i].cells[at].column = next[a.firstColumn]
			}
		}
		a.firstColumn = next[a.firstColumn]
	}
}

// dropHidden removes the hidden rows and columns.
func (g *grid) dropHidden() {
	if !g.hidden.any {
		return
	}
	g.rows = slices.DeleteFunc(g.rows, func(r row) bool {
		isHidden := r.hidden && !g.hidden.filtered
		g.hidden.leftOut = g.hidden.leftOut || isHidden
		return isHidden
	})
	for n := range g.rows {
		r := &g.rows[n]
		all := len(r.cells)
		r.cells = slices.DeleteFunc(r.cells, func(c cell) bool { return g.hidden.columns.has(c.column) })
		g.hidden.leftOut = g.hidden.leftOut || len(r.cells) < all
	}
	g.rows = slices.DeleteFunc(g.rows, func(r row) bool { return len(r.cells) == 0 })
}
