package xlsx

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// format is how a section of a code shows a number. The zero value is General.
type format struct {
	kind           kind
	noZero         bool // zero has no digits
	layout         mask // of masked
	parts          fraction
	whole          int // digits before the point, with zeros in front
	decimals       int
	optional       int // of the decimals, that are not shown if they are 0
	grouped        bool
	divisor        float64 // of a format in thousands
	prefix, suffix string  // such as the sign of a currency
	date, clock    bool
	elapsed        bool // hours that continue after 24
}

type kind int

const (
	general kind = iota
	worded       // General with a text around it
	literal      // a text without the number
	masked       // digits with texts between them
	decimal
	percent
	scientific
	fractional
	moment
)

const maxDecimals = 15

// parseFormat reads a section of a format's code. Colors, which say nothing in text, are left out; days are shown as ISO 8601
// has them.
func parseFormat(code string) format {
	f := format{divisor: 1}
	var pattern, before, after strings.Builder
	var layout mask
	texts := &before // after the first digit it is after
	add := func(text string) {
		texts.WriteString(text)
		layout = append(layout, text...)
		pattern.WriteByte('"')
	}
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				end = len(code) - i - 1
			}
			add(code[i+1 : i+1+end])
			i += end + 1
		case '\\':
			if i++; i < len(code) {
				add(code[i : i+1])
			}
		case '_', '*':
			i++ // a space as wide as the next character
		case '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				end = len(code) - i - 1
			}
			inside := code[i+1 : i+max(end, 1)]
			switch lower := strings.ToLower(inside); {
			case strings.HasPrefix(inside, "$"):
				sign, _, _ := strings.Cut(inside[1:], "-")
				add(sign)
			case lower != "" && strings.Trim(lower, "hms") == "":
				f.elapsed = true
				pattern.WriteString(lower)
			}
			i += end
		case '0', '#', '?', '@':
			texts = &after
			layout = append(layout, map[bool]byte{true: zeroDigit, false: anyDigit}[c == '0'])
			pattern.WriteByte(c)
		default:
			if len(code)-i >= len(generalCode) && strings.EqualFold(code[i:i+len(generalCode)], generalCode) {
				texts = &after
				pattern.WriteString(generalCode)
				i += len(generalCode) - 1
				continue
			}
			if strings.IndexByte("$-+() ", c) >= 0 || c >= 0x80 {
				texts.WriteByte(c)
				layout = append(layout, c)
			}
			pattern.WriteByte(c)
		}
	}
	f.classify(strings.ToLower(pattern.String()))
	if f.kind == decimal && !strings.ContainsAny(pattern.String(), ".,") && layout.isBroken() {
		f.kind, f.layout = masked, layout
	}
	f.prefix, f.suffix = strings.TrimLeft(before.String(), " "), strings.TrimRight(after.String(), " ")
	return f
}

const generalCode = "general"

// classify reads a pattern without its literal texts.
func (f *format) classify(pattern string) {
	digits := strings.ContainsAny(pattern, "0#?")
	switch {
	case strings.Contains(pattern, generalCode):
		f.kind = worded
		return
	case pattern == "" || strings.Contains(pattern, "@"):
		f.kind = general
		return
	case !strings.ContainsAny(pattern, "0#?abcdefghijklmnopqrstuvwxyz"):
		f.kind = literal
		return
	case strings.Contains(pattern, "e+") || strings.Contains(pattern, "e-"):
		f.kind = scientific
	case !f.elapsed && !strings.ContainsAny(pattern, "ydhs") && !(strings.Contains(pattern, "m") && !digits):
		f.kind = decimal
	default:
		f.kind = moment
		f.clock = strings.ContainsAny(pattern, "hs") || f.elapsed
		f.date = strings.ContainsAny(pattern, "yd") || strings.Contains(pattern, "mmm") || !f.clock
		return
	}
	whole, fraction, _ := strings.Cut(pattern, ".")
	for _, c := range fraction {
		if c != '0' && c != '#' && c != '?' {
			break
		}
		f.decimals++
	}
	f.optional = f.decimals - 1 - strings.LastIndexByte(fraction[:f.decimals], '0')
	f.optional = max(0, f.optional-max(0, f.decimals-maxDecimals))
	f.decimals = min(f.decimals, maxDecimals)
	f.whole = min(strings.Count(whole, "0"), maxDecimals)
	f.noZero = !strings.Contains(pattern, "0")
	last := strings.LastIndexAny(pattern, "0#?")
	f.grouped = strings.Contains(strings.TrimRight(whole, ",% "), ",")
	for _, c := range pattern[last+1:] {
		if c != ',' || f.divisor >= 1e9 {
			break
		}
		f.divisor *= 1000
	}
	if strings.Contains(pattern, "%") && f.kind == decimal {
		f.kind = percent
	}
	if strings.Contains(pattern, "/") && digits {
		f.kind = general // unless it is a fraction that Excel offers
		if parts, ok := fractionOf(pattern); ok {
			f.kind, f.parts, f.noZero = fractional, parts, false
		}
	}
	if !digits {
		f.kind = general
	}
}

// text returns how the cell shows n.
func (f format) text(n float64, is1904 bool) string {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return ""
	}
	switch f.kind {
	case worded:
		return f.framed(n, short(n), "")
	case literal:
		return f.prefix + f.suffix
	case masked:
		return f.layout.fill(n)
	case decimal:
		return f.framed(n, f.fixed(n/f.divisor), "")
	case percent:
		return f.framed(n, f.fixed(100*n), "%")
	case scientific:
		return strconv.FormatFloat(n, 'E', f.decimals, 64)
	case fractional:
		return f.framed(n, f.parts.text(n), "")
	case moment:
		if text, ok := f.moment(n, is1904); ok {
			return text
		}
	}
	return short(n)
}

func (f format) framed(n float64, text, sign string) string {
	minus := ""
	if n < 0 && strings.HasPrefix(text, "-") {
		minus, text = "-", text[1:]
	}
	if f.noZero && strings.Trim(text, "0.,") == "" {
		minus, text = "", ""
	}
	return minus + f.prefix + text + sign + f.suffix
}

// short returns n as General shows it, with the 15 digits that Excel has.
func short(n float64) string {
	if a := math.Abs(n); a >= 1e21 || a > 0 && a < 1e-9 {
		return strconv.FormatFloat(n, 'G', 6, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64)
	if err != nil {
		rounded = n
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// fixed returns the digits of n that f shows.
func (f format) fixed(n float64) string {
	if math.Abs(n) >= 1e21 {
		return short(n)
	}
	sign, whole := "", rounded(n, f.decimals)
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	whole, fraction, _ := strings.Cut(whole, ".")
	whole = strings.Repeat("0", max(0, f.whole-len(whole))) + whole
	for i := len(whole) - 3; i > 0 && f.grouped; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	for range f.optional {
		fraction = strings.TrimSuffix(fraction, "0")
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// rounded returns n with a number of decimals, rounded as Excel does: from its 15 digits, halves away from zero.
func rounded(n float64, decimals int) string {
	scaled := math.Abs(n) * math.Pow10(decimals)
	if scaled > 1e9 || math.Abs(scaled-math.Floor(scaled)-0.5) < 1e-5 { // else it is not near a half, and the rest is slower
		if digits, ok := new(big.Rat).SetString(strconv.FormatFloat(n, 'e', 14, 64)); ok {
			return digits.FloatString(decimals)
		}
	}
	return strconv.FormatFloat(n, 'f', decimals, 64)
}

// lastDay is 9999-12-31, the last that Excel shows.
const lastDay = 2958465

// moment returns a day, a time or both.
func (f format) moment(n float64, is1904 bool) (string, bool) {
	if n < 0 || n > lastDay {
		return "", false
	}
	if f.elapsed {
		seconds := int64(math.Round(n * 86400))
		return strconv.FormatInt(seconds/3600, 10) + ":" + time.Unix(seconds%3600, 0).UTC().Format("04:05"), true
	}
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case is1904:
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case n < 60:
		first = first.AddDate(0, 0, 1) // Excel has a 29 February 1900
	}
	days, part := math.Modf(n)
	t := first.AddDate(0, 0, int(days)).Add(time.Duration(math.Round(part*86400)) * time.Second)
	clock := "15:04"
	if t.Second() != 0 {
		clock = "15:04:05"
	}
	switch {
	case f.date && f.clock:
		return t.Format("2006-01-02 " + clock), true
	case f.date:
		return t.Format("2006-01-02"), true
	}
	return t.Format(clock), true
}
