package pdf

import (
	"slices"
	"strings"
	"unicode"
)

// direction is how the letters of a text run.
type direction int

const (
	neither direction = iota // marks only
	number
	ltr
	rtl
)

// directionOf returns the direction of most letters of a text.
func directionOf(text string) direction {
	left, right, digits := 0, 0, 0
	for _, r := range text {
		switch {
		case isRTL(r):
			right++
		case unicode.IsLetter(r):
			left++
		case unicode.IsDigit(r):
			digits++
		}
	}
	switch {
	case right > left:
		return rtl
	case left > 0:
		return ltr
	case digits > 0:
		return number
	}
	return neither
}

// isRTL reports whether r is a letter of Hebrew, Arabic or a script near them.
func isRTL(r rune) bool {
	return (r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff) && unicode.IsLetter(r)
}

// turned reports whether the text on a page runs from right to left: most of its letters do.
func turned(all []line) bool {
	right, letters := 0, 0
	for _, l := range all {
		for _, r := range l.text {
			switch {
			case isRTL(r):
				right++
				letters++
			case unicode.IsLetter(r):
				letters++
			}
		}
	}
	return 2*right > letters
}

// inOrder joins the parts of a line in the order of reading. They are given from left to right, and PDFium has already put the letters
// within each in order. A space separates neighbours, unless glued is true for the right one. If turned, the page runs from right to
// left, and so do its lines with letters of both directions.
func inOrder(parts []string, glued []bool, turned bool) string {
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	if directions := directionsOf(parts); directions != nil {
		if turned || !slices.Contains(directions, ltr) {
			slices.Reverse(order)
			reverseRuns(order, directions, ltr, number)
		} else {
			reverseRuns(order, directions, rtl, rtl)
		}
	}
	var text strings.Builder
	for n, i := range order {
		if n > 0 {
			next := max(i, order[n-1])
			if glued == nil || next != min(i, order[n-1])+1 || !glued[next] {
				text.WriteByte(' ')
			}
		}
		text.WriteString(parts[i])
	}
	return text.String()
}

// directionsOf returns the direction of each part, or nil if none runs from right to left.
func directionsOf(parts []string) []direction {
	if !slices.ContainsFunc(parts, func(p string) bool { return strings.ContainsFunc(p, isRTL) }) {
		return nil
	}
	all := make([]direction, len(parts))
	for i, p := range parts {
		all[i] = directionOf(p)
	}
	return all
}

// reverseRuns reverses each run of parts with the direction of. Parts without a direction of their own belong to a run if they are
// between two of its parts, and parts with the direction first if they are right before it: of "API 2" between Hebrew words, the number
// belongs to the word on its left.
func reverseRuns(order []int, directions []direction, of, first direction) {
	end := 0 // of the run before
	for n := range order {
		if n < end || directions[order[n]] != of {
			continue
		}
		from := n
		for from > end && directions[order[from-1]] == first {
			from--
		}
		end = n + 1
		for next := end; next < len(order) && directions[order[next]] != rtl+ltr-of; next++ {
			if directions[order[next]] == of {
				end = next + 1
			}
		}
		slices.Reverse(order[from:end])
	}
}
