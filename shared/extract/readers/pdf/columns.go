package pdf

import (
	"cmp"
	"slices"
)

const (
	maxColumnDepth = 4   // columns within columns
	minColumnLines = 4   // that a column of text has at least
	minColumnText  = 18  // characters of a line of a column, on average; fewer are cells of a table
	minColumnShare = 0.1 // of the text that the narrower side has at least
	maxReaching    = 20  // one of this number of lines may reach into the gap between columns
)

// columns cuts text in columns apart and returns its blocks in the order of reading. What crosses the gap between
// columns, such as a title or a wide table, ends the columns above it.
func columns(all []line, depth int) []block {
	if len(all) == 0 {
		return nil
	}
	gap, ok := gutter(all)
	if !ok || depth == maxColumnDepth {
		return tables(rows(all))
	}
	var blocks []block
	var left, right, crossing []line
	endColumns := func() {
		if all[0].turned {
			left, right = right, left
		}
		blocks = append(blocks, columns(left, depth+1)...)
		blocks = append(blocks, columns(right, depth+1)...)
		left, right = nil, nil
	}
	for _, row := range rows(all) {
		crosses := slices.ContainsFunc(row, func(l line) bool { return l.left < gap && l.right > gap })
		if crosses {
			endColumns()
			crossing = append(crossing, row...)
			continue
		}
		if len(crossing) > 0 {
			blocks = append(blocks, tables(rows(crossing))...)
			crossing = nil
		}
		for _, l := range row {
			if l.right <= gap {
				left = append(left, l)
			} else {
				right = append(right, l)
			}
		}
	}
	endColumns()
	return append(blocks, tables(rows(crossing))...)
}

// gutter returns the middle of the gap between two columns of text.
func gutter(all []line) (float64, bool) {
	if len(all) < 2*minColumnLines {
		return 0, false
	}
	edges := make([]float64, 0, 2*len(all))
	lefts, rights := make([]line, len(all)), make([]line, len(all))
	copy(lefts, all)
	copy(rights, all)
	slices.SortFunc(lefts, func(a, b line) int { return cmp.Compare(a.left, b.left) })
	slices.SortFunc(rights, func(a, b line) int { return cmp.Compare(a.right, b.right) })
	total := 0
	for _, l := range all {
		if len(l.text) > 3 { // a number of a page may be between the columns
			edges = append(edges, l.left, l.right)
		}
		total += len(l.text)
	}
	if len(edges) == 0 {
		return 0, false
	}
	slices.Sort(edges)
	size := median(all, func(l line) float64 { return l.size })
	// Between two edges, the lines that ended before are left of it, those that begin after right of it, and the others
	// cross it. The two lists count them in one pass.
	between := make([]interval, 0, len(edges)-1)
	var l, r, leftText, rightText int
	rightText = total
	for i, edge := range edges[:len(edges)-1] {
		for ; r < len(rights) && rights[r].right <= edge; r++ {
			leftText += len(rights[r].text)
		}
		for ; l < len(lefts) && lefts[l].left <= edge; l++ {
			rightText -= len(lefts[l].text)
		}
		if edges[i+1] > edge {
			between = append(between, interval{edge, edges[i+1], r, len(all) - l, leftText, rightText})
		}
	}
	gaps := newGaps(between, len(all))
	var best float64
	bestSide := 0
	for i, b := range between {
		side := min(b.leftText, b.rightText)
		crossing := b.crossing(len(all))
		switch {
		case crossing*4 > len(all), b.leftLines < minColumnLines, b.rightLines < minColumnLines,
			b.leftText < minColumnText*b.leftLines, b.rightText < minColumnText*b.rightLines,
			float64(side) < minColumnShare*float64(total), side <= bestSide, gaps.width(i) < 0.6*size:
			continue
		}
		best, bestSide = (b.from+b.to)/2, side
	}
	return best, bestSide > 0
}

// interval is a place between two columns, if they are such.
type interval struct {
	from, to              float64
	leftLines, rightLines int // that are wholly on one side of it
	leftText, rightText   int
}

func (b interval) crossing(lines int) int { return lines - b.leftLines - b.rightLines }

// median returns the median of a measure of the lines.
func median(all []line, of func(line) float64) float64 {
	if len(all) == 0 {
		return 0
	}
	values := make([]float64, len(all))
	for i, l := range all {
		values[i] = of(l)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
