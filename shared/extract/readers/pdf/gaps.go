package pdf

// gaps finds how wide the gaps between columns are. Asked for each place in their order, it looks at few places more than once.
type gaps struct {
	between []interval
	lines   int
	known   map[int]place // the last one, by how many lines cross it
	steps   int           // places that were looked at
}

// place is an interval that was asked for.
type place struct {
	last  int     // up to here no other one is the middle of its gap rather than it
	size  float64 // of the interval
	width float64 // of the gap; 0 if another interval is its middle
}

func newGaps(between []interval, lines int) *gaps {
	return &gaps{between: between, lines: lines, known: map[int]place{}}
}

func (g *gaps) crossing(i int) int { return g.between[i].crossing(g.lines) }

func (g *gaps) size(i int) float64 { return g.between[i].to - g.between[i].from }

// width returns the width of the gap whose middle an interval is: where the fewest lines cross it, and of equal places the
// widest one. Few more lines that reach into a gap, such as a header above the columns, do not make it narrower. It is 0 for
// any other interval. Intervals must be asked for in their order.
func (g *gaps) width(i int) float64 {
	crossing, size := g.crossing(i), g.size(i)
	if k, ok := g.known[crossing]; ok && i <= k.last { // in the same gap, and not rather its middle
		if size < k.size {
			return 0
		}
		return k.width
	}
	most := crossing + max(1, g.lines/maxReaching)
	reaches := func(at int) bool { return at >= 0 && at < len(g.between) && g.crossing(at) <= most }
	isMiddle := func(at int) bool { // rather than i
		g.steps++
		return g.crossing(at) < crossing || g.crossing(at) == crossing && g.size(at) > size
	}
	first, last, width := i, i, 0.0
	for {
		// From the inside out, because the next better place is often near.
		left, right := reaches(first-1), reaches(last+1)
		if !left && !right {
			width = g.between[last].to - g.between[first].from
			break
		}
		if left {
			if isMiddle(first - 1) {
				break
			}
			first--
		}
		if right {
			if isMiddle(last + 1) {
				break
			}
			last++
		}
	}
	g.known[crossing] = place{last, size, width}
	return width
}
