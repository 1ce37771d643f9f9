package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	edgeLines        = 2 // lines at the top and at the bottom of a page that can be a header or footer
	minRepeatedPages = 3
	minRepeatedShare = 0.4 // of the pages: headers may differ between left and right pages
)

// edge is a line at the edge of a page. Lines with the same words at the same height are the same, whatever the number of
// the page in them.
type edge struct {
	words  string
	height int
}

// dropRepeated removes headers and footers that many pages have. The first page that has one keeps it, except if it is
// the number of the page only.
func dropRepeated(pages []page) {
	count := map[edge]int{}
	for _, p := range pages {
		for e := range edges(p) {
			count[e]++
		}
	}
	seen := map[edge]bool{}
	for i, p := range pages {
		found := edges(p)
		drop := map[[2]int]bool{}
		for e, at := range found {
			if count[e] < minRepeatedPages || float64(count[e]) < minRepeatedShare*float64(len(pages)) {
				continue
			}
			if seen[e] || e.words == "#" {
				drop[at] = true
			}
			seen[e] = true
		}
		if len(drop) == 0 {
			continue
		}
		var blocks []block
		for b, bl := range p.blocks {
			var kept []line
			for l, ln := range bl.lines {
				if !drop[[2]int{b, l}] {
					kept = append(kept, ln)
				}
			}
			if len(kept) > 0 || len(bl.table) > 0 {
				blocks = append(blocks, block{lines: kept, table: bl.table})
			}
		}
		pages[i].blocks = blocks
	}
}

// edges returns the highest and lowest lines of a page with their places in its blocks.
func edges(p page) map[edge][2]int {
	type placed struct {
		line
		at [2]int
	}
	var all []placed
	for b, bl := range p.blocks {
		for l, ln := range bl.lines {
			all = append(all, placed{ln, [2]int{b, l}})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(b.middle(), a.middle()) })
	if len(all) > 2*edgeLines {
		all = append(all[:edgeLines:edgeLines], all[len(all)-edgeLines:]...)
	}
	found := map[edge][2]int{}
	for _, l := range all {
		found[edge{words: pattern(l.text), height: int(math.Round(l.middle() / 4))}] = l.at
	}
	return found
}

// pattern returns text with its numbers replaced.
func pattern(text string) string {
	var b strings.Builder
	digits := false
	for _, r := range text {
		if unicode.IsDigit(r) {
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		}
		digits = false
		if !unicode.IsSpace(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}
