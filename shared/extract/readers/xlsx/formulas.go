package xlsx

import (
	"slices"
	"strconv"
	"strings"
)

// calculation is what is known of the formulas of a sheet. A program that writes a workbook without calculating it leaves their values
// out, or writes 0 for each, and has Excel calculate them when it opens the file.
type calculation struct {
	done    bool // a formula has a value that nobody writes without calculating
	lacking bool // one has none
}

// add notes a formula whose cell has this value and the attribute t, and reports whether the value may be one that was never calculated.
func (c *calculation) add(kind, value string, onOpening bool) (doubtful bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	switch {
	case value == "" && kind != "str": // an empty text is one of those
		c.lacking = true
	case onOpening && (kind == "" || kind == "n") && err == nil && n == 0:
		return true
	default:
		c.done = true
	}
	return false
}

// dropDoubtful removes the zeros of formulas of a sheet on which no formula has another value.
func (g *grid) dropDoubtful() {
	if g.calculation.done {
		return
	}
	for n := range g.rows {
		r := &g.rows[n]
		all := len(r.cells)
		r.cells = slices.DeleteFunc(r.cells, func(c cell) bool { return c.doubtful })
		g.calculation.lacking = g.calculation.lacking || len(r.cells) < all
	}
	g.rows = slices.DeleteFunc(g.rows, func(r row) bool { return len(r.cells) == 0 })
}
