package jsoninput

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// ParseInt returns the integer in text as JSON Schema means it: 1.0 and 1e2 are
// integers too (2020-12, section 4.2.2). It returns strconv.ErrSyntax for anything
// else, and strconv.ErrRange with the nearest value for one that does not fit.
func ParseInt(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) || strings.Trim(text, "0123456789+-.eE") != "" {
		return n, err
	}
	f, parsed := strconv.ParseFloat(text, 64)
	switch {
	case parsed != nil && !errors.Is(parsed, strconv.ErrRange), f != math.Trunc(f):
		return 0, err
	case f >= math.MaxInt64:
		return math.MaxInt64, strconv.ErrRange
	case f <= math.MinInt64:
		return math.MinInt64, strconv.ErrRange
	default:
		return int64(f), nil
	}
}
