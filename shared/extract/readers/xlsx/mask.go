package xlsx

import (
	"math"
	"slices"
)

// mask is a format with texts between its digits, such as that of telephone numbers. It has the bytes of the texts, and zeroDigit or
// anyDigit in the place of each digit. No text contains these bytes, because XML does not allow them.
type mask []byte

const (
	zeroDigit = 1 // a digit, or 0
	anyDigit  = 2 // a digit, or nothing
)

func isDigit(b byte) bool { return b == zeroDigit || b == anyDigit }

// isBroken reports whether there is a text between digits.
func (m mask) isBroken() bool {
	first := slices.IndexFunc(m, isDigit)
	if first < 0 {
		return false
	}
	end := slices.IndexFunc(m[first:], func(b byte) bool { return !isDigit(b) })
	return end >= 0 && slices.ContainsFunc(m[first+end:], isDigit)
}

// fill returns m with the digits of n in its places, from the last one on. Digits that are left over stand before the first place.
func (m mask) fill(n float64) string {
	digits := format{}.fixed(math.Abs(n))
	first := slices.IndexFunc(m, isDigit)
	var out []byte // from its end
	for i := len(m) - 1; i >= 0; i-- {
		switch {
		case !isDigit(m[i]):
			out = append(out, m[i])
		case digits != "" && digits != "0":
			last := len(digits) - 1
			out = append(out, digits[last])
			if digits = digits[:last]; i > first {
				continue
			}
			for ; digits != ""; digits = digits[:len(digits)-1] {
				out = append(out, digits[len(digits)-1])
			}
		case m[i] == zeroDigit:
			out = append(out, '0')
		}
	}
	if n < 0 {
		out = append(out, '-')
	}
	slices.Reverse(out)
	return string(out)
}
