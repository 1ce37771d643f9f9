package pdf

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"docent/shared/growthtest"
)

// letter returns a line of a letter at a place.
func letter(x, y float64) line { return line{text: "a", box: box{x, y, x + 1, y + 1}, size: 1} }

// slowWidth is width without what was known before.
func slowWidth(between []interval, i, lines int) float64 {
	own := between[i].crossing(lines)
	most := own + max(1, lines/maxReaching)
	first, last := i, i
	for first > 0 && between[first-1].crossing(lines) <= most {
		first--
	}
	for last < len(between)-1 && between[last+1].crossing(lines) <= most {
		last++
	}
	for _, b := range between[first : last+1] {
		if other := b.crossing(lines); other < own || other == own && b.to-b.from > between[i].to-between[i].from {
			return 0
		}
	}
	return between[last].to - between[first].from
}

// places returns intervals that these numbers of lines cross, of sizes.
func places(n, lines int, crossing, size func(i int) int) []interval {
	between := make([]interval, n)
	from := 0.0
	for i := range between {
		between[i] = interval{from: from, to: from + float64(size(i)), leftLines: lines - crossing(i)}
		from = between[i].to
	}
	return between
}

func TestWidthsOfGaps(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n, lines := 1+random.IntN(40), 20+random.IntN(100)
		levels, sizes := 1+random.IntN(12), 1+random.IntN(3)
		between := places(n, lines, func(int) int { return random.IntN(levels) }, func(int) int { return 1 + random.IntN(sizes) })
		g := newGaps(between, lines)
		for i := range between {
			if random.IntN(4) == 0 {
				continue // not every place is asked for
			}
			if got, want := g.width(i), slowWidth(between, i, lines); got != want {
				t.Fatalf("place %d of %+v with %d lines: %v, want %v", i, between, lines, got, want)
			}
		}
	}
}

func TestWidthsLookAtFewPlaces(t *testing.T) {
	t.Parallel()
	const n = 1 << 14
	one := func(int) int { return 1 }
	random := rand.New(rand.NewPCG(1, 2))
	for name, tt := range map[string]struct{ crossing, size func(i int) int }{
		"all equal":          {one, one},
		"the last is wider":  {one, func(i int) int { return 1 + i/(n-1) }},
		"the first is wider": {one, func(i int) int { return 1 + (n-1-i)/(n-1) }},
		"ever wider":         {one, func(i int) int { return 1 + i }},
		"ever narrower":      {one, func(i int) int { return n - i }},
		"fewer and more":     {func(i int) int { return max(i-n/2, n/2-i) }, one},
		"more and fewer":     {func(i int) int { return min(i, n-i) }, one},
		"by turns":           {func(i int) int { return i % 2 }, one},
		"by turns of many":   {func(i int) int { return i % 100 }, func(i int) int { return 1 + i%7 }},
		"halves":             {func(i int) int { return 20 - bits.TrailingZeros(uint(i|1<<20)) }, one},
		"at random":          {func(int) int { return random.IntN(n) }, func(int) int { return 1 + random.IntN(9) }},
		"hardly different":   {func(int) int { return random.IntN(3) }, func(int) int { return 1 + random.IntN(n) }},
	} {
		g := newGaps(places(n, 100*n, tt.crossing, tt.size), 100*n)
		for i := range n {
			g.width(i)
		}
		if most := 2 * n * bits.Len(n); g.steps > most {
			t.Errorf("%s: looked %d times at %d places", name, g.steps, n)
		}
	}
}

// Whether a row is a header is asked for each of its parts.
func TestALongHeaderTakesMemoryInProportionToItsParts(t *testing.T) {
	growthtest.Linear(t, 1200, func(n int) {
		var row []line
		for i := range n {
			row = append(row, letter(float64(2*i), 0))
		}
		dropRepeated([]page{{number: 1, texts: [][]line{row}}})
	})
}

// Each further row is compared with the columns of all rows above it.
func TestRowsWithColumnsOfTheirOwnAreComparedWithFew(t *testing.T) {
	t.Parallel()
	var all [][]line
	for i := range maxTableRows {
		var row []line
		for k := range maxCells {
			row = append(row, letter(float64(k*1000+2*i), float64(-2*i)))
		}
		all = append(all, row)
	}
	if n, spans := table(all); n*maxCells > maxSpans || spans != nil {
		t.Errorf("%d rows with %d columns of their own were taken together", n, maxCells)
	}
}

func TestColumnsOfTables(t *testing.T) {
	t.Parallel()
	spans := []span{{0, 2}, {3, 5}, {8, 8}}
	for l, want := range map[box]int{{left: 0, right: 2}: 0, {left: 1, right: 1}: 0, {left: 1, right: 3}: -1, {left: 2.5, right: 2.6}: -1, {left: 3, right: 4}: 1,
		{left: 8, right: 8}: 2, {left: 9, right: 9}: -1, {left: -1, right: 0}: -1} {
		if got := (line{box: l}).column(spans); got != want {
			t.Errorf("%+v is in column %d, want %d", l, got, want)
		}
	}
	var row []line
	for i := range 5 {
		row = append(row, letter(float64(3*i), 0))
	}
	if got := fmt.Sprint(joinSpans([]span{{0.5, 3.5}, {20, 21}}, row)); got != "[{0 4} {6 7} {9 10} {12 13} {20 21}]" {
		t.Errorf("joined %s", got)
	}
}
