package main

import (
	"regexp"
	"strings"
)

const (
	runningLines = 12 // at the top and at the bottom of a page that can be parts of headers and footers
	numberLines  = 3  // the same, of lines that are a number or long
	longLine     = 45
	runningShare = 0.4 // of the pages that have them
	runningPages = 3   // at least
)

var digits = regexp.MustCompile(`\d+`)

// withoutRunning removes from pdftotext's text the headers and footers that many pages have, after the first, and the
// numbers of pages: extract leaves them out, and they do not count as missed words.
func withoutRunning(text string) string {
	var pages [][]string
	count := map[string]int{}
	for page := range strings.SplitSeq(text, "\f") {
		lines := strings.Split(page, "\n")
		pages = append(pages, lines)
		seen := map[string]bool{}
		for _, i := range edgeLines(lines) {
			seen[runningPattern(lines[i])] = true
		}
		for p := range seen {
			count[p]++
		}
	}
	kept := map[string]bool{}
	for n, lines := range pages {
		drop := map[int]bool{}
		for _, i := range edgeLines(lines) {
			p := runningPattern(lines[i])
			if count[p] >= runningPages && float64(count[p]) >= runningShare*float64(len(pages)-1) {
				drop[i] = kept[p] || p == "#"
				kept[p] = true
			}
		}
		var left []string
		for i, l := range lines {
			if !drop[i] {
				left = append(left, l)
			}
		}
		pages[n] = left
	}
	joined := make([]string, len(pages))
	for n, lines := range pages {
		joined[n] = strings.Join(lines, "\n")
	}
	return strings.Join(joined, "\f")
}

// edgeLines returns the first and the last lines that are not blank.
func edgeLines(lines []string) []int {
	var all []int
	for i, l := range lines {
		if strings.TrimSpace(l) != "" {
			all = append(all, i)
		}
	}
	var edges []int
	for n, i := range all {
		fromEdge := min(n, len(all)-1-n)
		if fromEdge < numberLines || fromEdge < runningLines && runningPattern(lines[i]) != "#" && len(lines[i]) < longLine {
			edges = append(edges, i)
		}
	}
	return edges
}

// runningPattern returns a line with its numbers replaced and without spaces.
func runningPattern(line string) string {
	return strings.ToLower(strings.Join(strings.Fields(digits.ReplaceAllString(line, "#")), ""))
}
