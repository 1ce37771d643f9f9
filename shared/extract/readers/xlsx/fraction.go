package xlsx

import (
	"math"
	"strconv"
	"strings"
)

// maxDenominator bounds the work for a cell. Formats with more digits, which Excel does not offer, show decimals.
const maxDenominator = 999

// fraction is how a format such as # ?/? shows numbers. The zero value is none.
type fraction struct {
	denominator int  // the largest, or the only one
	fixed       bool // it is the only one
	mixed       bool // a whole number stands before it
}

// fractionOf reads a pattern without its literal texts.
func fractionOf(pattern string) (fraction, bool) {
	above, below, ok := strings.Cut(pattern, "/")
	above, below = strings.TrimRight(above, ` "`), strings.TrimLeft(below, ` "`)
	whole := strings.TrimRight(above, "0#?")
	if !ok || whole == above || strings.Contains(below, "/") {
		return fraction{}, false
	}
	f := fraction{mixed: strings.ContainsAny(whole, "0#?")}
	digits := len(below) - len(strings.TrimLeft(below, "0123456789#?"))
	if n, err := strconv.Atoi(below[:digits]); err == nil && n > 0 {
		f.denominator, f.fixed = n, true
	} else if places := len(below) - len(strings.TrimLeft(below, "0#?")); places == digits && digits > 0 && digits <= 3 {
		f.denominator = int(math.Pow10(digits)) - 1
	}
	return f, f.denominator > 0 && f.denominator <= maxDenominator
}

// text returns the fraction that shows n.
func (f fraction) text(n float64) string {
	whole, rest := math.Modf(math.Abs(n))
	if whole >= 1e9 {
		return short(n)
	}
	below := float64(f.denominator)
	above := math.Round(rest * below)
	if !f.fixed {
		above, below = convergent(rest, below)
	}
	switch {
	case !f.mixed:
		above, whole = above+whole*below, 0
	case above == below:
		above, whole = 0, whole+1
	}
	text := strconv.Itoa(int(whole))
	if above > 0 {
		part := strconv.Itoa(int(above)) + "/" + strconv.Itoa(int(below))
		if text += " " + part; whole == 0 {
			text = part
		}
	}
	if n < 0 && text != "0" {
		text = "-" + text
	}
	return text
}

// convergent returns the last convergent of n, from 0 to 1, whose denominator is at most most. Excel takes it, also where another
// fraction is nearer: 22/7 for pi with two digits.
func convergent(n, most float64) (above, below float64) {
	before, beforeBelow := 1.0, 0.0
	for below = 1.0; n > 5e-8; {
		n = 1 / n
		next := math.Floor(n)
		p, q := next*above+before, next*below+beforeBelow
		if q > most {
			break
		}
		before, beforeBelow, above, below, n = above, below, p, q, n-next
	}
	return above, below
}
