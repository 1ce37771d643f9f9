package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of tables whose cells have lines between them.
const (
	maxRules      = 2000 // lines of a page, after those that continue each other are one
	maxRuledRows  = 400
	maxRuledText  = 1200 // bytes of a cell; what has more is a page with a frame rather than a table
	minRuledText  = 2    // bytes of a cell, on average; less is a diagram
	minRuledShare = 0.4  // of the cells have text; lines of a chart have little between them
)

// ruled takes the words between the lines of tables out of all, and returns a line for each table, in whose grid they are, and the rest.
func ruled(all []line, rules []box) (tables, rest []line) {
	across, down := straight(rules)
	if len(across) < 2 || len(down) < 1 || len(across)+len(down) > maxRules {
		return nil, all
	}
	rest = all
	for _, c := range connected(across, down) {
		g := newRuledGrid(c.across, c.down)
		if g == nil {
			continue
		}
		var inside, outside []line
		for _, w := range rest {
			if _, ok := g.cell(w); ok {
				inside = append(inside, w)
			} else {
				outside = append(outside, w)
			}
		}
		if table, ok := g.table(inside); ok {
			tables, rest = append(tables, table), outside
		}
	}
	return tables, rest
}

// straight returns the horizontal and the vertical lines of rules. Those that continue each other are one.
func straight(rules []box) (across, down []ruleLine) {
	for _, b := range rules {
		if b.right-b.left > b.top-b.bottom {
			across = append(across, ruleLine{(b.top + b.bottom) / 2, b.left, b.right})
		} else {
			down = append(down, ruleLine{(b.left + b.right) / 2, b.bottom, b.top})
		}
	}
	return continued(across), continued(down)
}

func continued(lines []ruleLine) []ruleLine {
	slices.SortFunc(lines, func(a, b ruleLine) int { return cmp.Compare(a.at, b.at) })
	var all []ruleLine
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && isNear(lines[to].at, lines[from].at) {
			to++
		}
		same := lines[from:to]
		slices.SortFunc(same, func(a, b ruleLine) int { return cmp.Compare(a.from, b.from) })
		for i, l := range same {
			if last := len(all) - 1; i > 0 && l.from <= all[last].to+touching {
				all[last].to = max(all[last].to, l.to)
				continue
			}
			l.at = same[0].at
			all = append(all, l)
		}
		from = to
	}
	return slices.DeleteFunc(all, func(l ruleLine) bool { return l.to-l.from < minRule })
}

// ruleSet is lines that meet each other.
type ruleSet struct{ across, down []ruleLine }

// connected returns the sets of lines that meet, from the top of the page.
func connected(across, down []ruleLine) []ruleSet {
	parent := make([]int, len(across)+len(down))
	for i := range parent {
		parent[i] = i
	}
	for i, h := range across {
		for j, v := range down {
			if h.reaches(v.at) && v.reaches(h.at) {
				parent[root(parent, len(across)+j)] = root(parent, i)
			}
		}
	}
	sets := map[int]*ruleSet{}
	set := func(i int) *ruleSet {
		r := root(parent, i)
		if sets[r] == nil {
			sets[r] = &ruleSet{}
		}
		return sets[r]
	}
	for i, h := range across {
		s := set(i)
		s.across = append(s.across, h)
	}
	for j, v := range down {
		s := set(len(across) + j)
		s.down = append(s.down, v)
	}
	var all []ruleSet
	for _, s := range sets {
		if len(s.across) > 1 && len(s.down) > 0 {
			all = append(all, *s)
		}
	}
	slices.SortFunc(all, func(a, b ruleSet) int {
		return cmp.Or(cmp.Compare(b.across[len(b.across)-1].at, a.across[len(a.across)-1].at), cmp.Compare(a.down[0].at, b.down[0].at))
	})
	return all
}

// root returns what stands for the set that i is in.
func root(parent []int, i int) int {
	for parent[i] != i {
		parent[i] = parent[parent[i]]
		i = parent[i]
	}
	return i
}

// ruledGrid is the cells between lines. Cells without a line between them are one.
type ruledGrid struct {
	xs, ys []float64 // of the lines: from left to right, and from top to bottom
	whole  []int     // for each cell, row by row, one that stands for all that are one with it
}

// newRuledGrid returns the grid of lines that meet, or nil if they have no two rows and columns between them.
func newRuledGrid(across, down []ruleLine) *ruledGrid {
	g := &ruledGrid{}
	for _, h := range across {
		g.ys, g.xs = append(g.ys, h.at), append(g.xs, h.from, h.to) // the sides may have no line
	}
	for _, v := range down {
		g.xs, g.ys = append(g.xs, v.at), append(g.ys, v.from, v.to)
	}
	g.xs, g.ys = linePlaces(g.xs), linePlaces(g.ys)
	slices.Reverse(g.ys)
	rows, columns := len(g.ys)-1, len(g.xs)-1
	if rows < 2 || columns < 2 || rows > maxRuledRows || columns > maxCells {
		return nil
	}
	between := func(lines []ruleLine, at, place float64) bool {
		return slices.ContainsFunc(lines, func(l ruleLine) bool {
			return isNear(l.at, at) && l.from <= place && l.to >= place
		})
	}
	g.whole = make([]int, rows*columns)
	for i := range g.whole {
		g.whole[i] = i
	}
	for r := range rows {
		for c := range columns {
			at := r*columns + c
			if c > 0 && !between(down, g.xs[c], (g.ys[r]+g.ys[r+1])/2) {
				g.join(at, at-1)
			}
			if r > 0 && !between(across, g.ys[r], (g.xs[c]+g.xs[c+1])/2) {
				g.join(at, at-columns)
			}
		}
	}
	return g
}

// join makes two cells one, for which the first of them stands.
func (g *ruledGrid) join(a, b int) {
	a, b = root(g.whole, a), root(g.whole, b)
	g.whole[max(a, b)] = min(a, b)
}

// linePlaces returns the places in order, those next to each other once.
func linePlaces(all []float64) []float64 {
	slices.Sort(all)
	return slices.CompactFunc(all, func(a, b float64) bool { return math.Abs(a-b) <= touching })
}

// cell returns the cell in which a word is.
func (g *ruledGrid) cell(w line) (int, bool) {
	x, y := (w.left+w.right)/2, w.base()
	column, _ := slices.BinarySearch(g.xs, x)
	row, _ := slices.BinarySearchFunc(g.ys, y, func(at, y float64) int { return cmp.Compare(y, at) })
	if column < 1 || column >= len(g.xs) || row < 1 || row >= len(g.ys) {
		return 0, false
	}
	return root(g.whole, (row-1)*(len(g.xs)-1)+column-1), true
}

// table returns a line that stands for the table of the words, and false if they are none.
func (g *ruledGrid) table(words []line) (line, bool) {
	if len(words) == 0 {
		return line{}, false
	}
	rows, columns := len(g.ys)-1, len(g.xs)-1
	inCell := map[int][]line{}
	for _, w := range words {
		at, _ := g.cell(w)
		inCell[at] = append(inCell[at], w)
	}
	texts, lines := map[int]string{}, map[int][]line{}
	size := 0
	for at, some := range inCell {
		lines[at] = cellLines(some)
		texts[at] = flowing(lines[at])
		if size += len(texts[at]); len(texts[at]) > maxRuledText {
			return line{}, false
		}
	}
	cells, full := 0, 0 // rows with text, and those that have it in two cells
	grid := make([][]string, 0, rows)
	for r := range rows {
		row, below, used := make([]string, columns), make([][]line, columns), 0
		last, begins, spans := -1, false, false
		for c := range columns {
			at := root(g.whole, r*columns+c)
			if at == r*columns+c {
				cells++
			}
			if at == last { // the cell before reaches over this column
				continue
			}
			if last = at; texts[at] == "" {
				continue
			}
			row[c], below[c] = texts[at], lines[at]
			used++
			begins = begins || at/columns == r
			spans = spans || at/columns < r || r+1 < rows && root(g.whole, (r+1)*columns+c) == at
		}
		if !begins {
			continue
		}
		if used > 1 {
			full++
		}
		if several := stacked(below); several != nil && !spans {
			grid = append(grid, several...)
			full += len(several) - 1
		} else {
			grid = append(grid, row)
		}
	}
	if full < 2 || 2*full < len(grid) || float64(len(texts)) < minRuledShare*float64(cells) || size < minRuledText*len(texts) {
		return line{}, false
	}
	whole := line{box: box{g.xs[0], g.ys[rows], g.xs[columns], g.ys[0]}, grid: withoutEmpty(grid), size: median(words, func(l line) float64 { return l.size })}
	var all []string
	for _, row := range whole.grid {
		all = append(all, row...)
	}
	whole.text = strings.Join(strings.Fields(strings.Join(all, " ")), " ")
	return whole, true
}

// cellLines returns the words of a cell as lines.
func cellLines(words []line) []line {
	var all []line
	for _, row := range rows(fragments(words)) {
		all = append(all, joined(row))
	}
	return all
}

// flowing returns lines of a cell as one text.
func flowing(lines []line) string {
	text := lines[0].text
	for _, l := range lines[1:] {
		text = vocabulary(nil).continued(text, l.text)
	}
	return text
}

// stacked returns the rows of a table that has no lines between them, from the lines of text in each column between two lines that are
// drawn. It returns nil if there is one row, whose cells may have several lines: then few lines are next to each other, or they run on.
func stacked(columns [][]line) [][]string {
	var all []line
	used := 0
	for _, lines := range columns {
		if len(lines) == 0 {
			continue
		}
		used++
		runOn := 0
		for i, l := range lines {
			if first, _ := utf8.DecodeRuneInString(l.text); i > 0 && (hyphened(lines[i-1].text) || unicode.IsLower(first) && !ends(lines[i-1].text)) {
				runOn++
			}
		}
		if runOn > 0 && 2*runOn >= len(lines)-1 {
			return nil
		}
		all = append(all, lines...)
	}
	if used < 2 || len(all) < 4 {
		return nil
	}
	slices.SortFunc(all, func(a, b line) int { return cmp.Compare(b.base(), a.base()) })
	var bases []float64
	for _, l := range all {
		if n := len(bases); n == 0 || bases[n-1]-l.base() > 0.4*l.size {
			bases = append(bases, l.base())
		}
	}
	if len(bases) < 2 || 4*len(all) <= 3*used*len(bases) {
		return nil
	}
	several := make([][]string, len(bases))
	for n := range several {
		several[n] = make([]string, len(columns))
	}
	for c, lines := range columns {
		for _, l := range lines {
			n, _ := slices.BinarySearchFunc(bases, l.base(), func(at, base float64) int { return cmp.Compare(base, at) })
			if n == len(bases) || n > 0 && bases[n] < l.base()-0.01 {
				n--
			}
			several[n][c] = strings.TrimSpace(several[n][c] + " " + l.text)
		}
	}
	return several
}

// withoutEmpty returns the rows without the columns that have no text.
func withoutEmpty(grid [][]string) [][]string {
	for c := len(grid[0]) - 1; c >= 0; c-- {
		if !slices.ContainsFunc(grid, func(row []string) bool { return row[c] != "" }) {
			for r := range grid {
				grid[r] = slices.Delete(grid[r], c, c+1)
			}
		}
	}
	return grid
}
