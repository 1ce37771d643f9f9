package markup

import (
	"slices"
	"strconv"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of the tables of a page. All but the first are for the tables together.
const (
	maxColumns = 500
	maxSpan    = 200     // rows or columns that a cell may span
	maxCells   = 200_000 // with those that fill up rows, and those of spans
	maxBytes   = 8 << 20 // with what is repeated, and with the padding
)

// boundTables makes the tables of a page fit: of one that does not, the spans are removed, and if it still does not, it becomes
// paragraphs. A table around another one is left alone, because the library does not write it as a table.
func (b Bounds) boundTables(doc *html.Node) {
	left := extent{cells: maxCells, bytes: maxBytes}
	for n := range doc.Descendants() {
		if n.Data != "table" || n.Type != html.ElementNode || has(n, "table") {
			continue
		}
		if left.take(b.measure(n)) {
			continue
		}
		eachCell(n, removeSpans)
		if !left.take(b.measure(n)) {
			flatten(n)
		}
	}
}

// extent is how large a table becomes, or how large tables may become.
type extent struct{ columns, cells, bytes int }

// take subtracts e if it fits.
func (left *extent) take(e extent) bool {
	if e.columns > maxColumns || e.cells > left.cells || e.bytes > left.bytes {
		return false
	}
	left.cells, left.bytes = left.cells-e.cells, left.bytes-e.bytes
	return true
}

// tooLarge does not fit into anything.
var tooLarge = extent{columns: maxColumns + 1}

// measure returns how large a table becomes.
func (b Bounds) measure(table *html.Node) extent {
	var widths []int  // of each row, with the cells of rows above that span it
	var largest []int // bytes of a cell, by its column without spans of rows
	rows, text, spans := 0, 0, false
	for row := range table.Descendants() {
		if row.Data != "tr" {
			continue
		}
		column := 0
		for cell := range row.Descendants() {
			if !isCell(cell) {
				continue
			}
			wide, high := span(cell, "colspan"), span(cell, "rowspan")
			if wide > maxSpan || high > maxSpan || column > maxColumns {
				return tooLarge
			}
			spans = spans || wide > 1 || high > 1
			for len(widths) < rows+high {
				widths = append(widths, 0)
			}
			for y := rows; y < rows+high; y++ {
				widths[y] += wide
			}
			size := sizeOf(cell)
			text += size * wide * high
			for len(largest) <= column+wide-1 {
				largest = append(largest, 0)
			}
			largest[column] = max(largest[column], size)
			column += wide
		}
		rows++
	}
	e := extent{}
	for _, width := range widths {
		e.columns = max(e.columns, width)
	}
	rows = max(rows, len(widths))
	e.cells = rows * e.columns
	switch {
	case !b.Padded:
		e.bytes = text
	case spans: // a cell may come to be in any column
		e.bytes = e.cells * slices.Max(append(largest, 0))
	default:
		for _, size := range largest {
			e.bytes += rows * size
		}
	}
	e.bytes += cellCost * e.cells
	return e
}

// What a cell and an element in it add to the text at most.
const (
	cellCost    = 4
	elementCost = 12
)

// sizeOf returns about how many bytes of Markdown a cell has.
func sizeOf(cell *html.Node) int {
	size := 0
	for n := range cell.Descendants() {
		if n.Type == html.TextNode {
			size += len(n.Data)
			continue
		}
		size += elementCost
		for _, a := range n.Attr {
			size += len(a.Val)
		}
	}
	return size
}

// span returns how many rows or columns a cell spans, as the library reads it.
func span(cell *html.Node, key string) int {
	for _, a := range cell.Attr {
		if a.Key == key {
			if n, err := strconv.Atoi(a.Val); err == nil && n > 0 {
				return n
			}
			return 1
		}
	}
	return 1
}

func removeSpans(cell *html.Node) {
	cell.Attr = slices.DeleteFunc(cell.Attr, func(a html.Attribute) bool { return a.Key == "colspan" || a.Key == "rowspan" })
}

// flatten makes paragraphs of the cells of a table.
func flatten(table *html.Node) {
	eachCell(table, func(cell *html.Node) { rename(cell, atom.P) })
	for n := range table.Descendants() {
		switch n.Data {
		case "thead", "tbody", "tfoot", "tr":
			rename(n, atom.Div)
		case "caption":
			rename(n, atom.P)
		}
	}
	rename(table, atom.Div)
}

func isCell(n *html.Node) bool { return n.Data == "td" || n.Data == "th" }

func eachCell(table *html.Node, do func(cell *html.Node)) {
	for n := range table.Descendants() {
		if isCell(n) {
			do(n)
		}
	}
}

// has reports whether an element of that name is below n.
func has(n *html.Node, name string) bool {
	for c := range n.Descendants() {
		if c.Data == name && c.Type == html.ElementNode {
			return true
		}
	}
	return false
}
