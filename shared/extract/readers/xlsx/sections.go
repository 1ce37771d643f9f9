package xlsx

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"docent/shared/extract/readers/symbols"
)

// cellFormat is a format's code: how cells show their values. The zero value is General.
type cellFormat struct {
	numbers []section
	text    *textFormat // nil: a text is shown as it is
	font    string      // if it is one of symbols
	struck  bool        // the values are struck through
}

// section is a section of a code for numbers.
type section struct {
	format
	condition
	negative bool // it is for negative numbers only, and shows their sign itself
}

// condition says which numbers a section is for: those that an operator compares with a limit. Without one it is for all.
type condition struct {
	operator string
	limit    float64
}

// textFormat is the section of a code for texts.
type textFormat struct {
	prefix, suffix string
	without        bool // it does not show the text itself
}

// maxSections of a code: for positive numbers, negative ones, zero, and texts.
const maxSections = 4

// parseCode reads a format's code.
func parseCode(code string) cellFormat {
	var c cellFormat
	parts := sectionsOf(code)
	if last := len(parts) - 1; last == maxSections-1 || isOfText(parts[last]) {
		f := parseFormat(parts[last])
		c.text = &textFormat{f.prefix, f.suffix, !isOfText(parts[last])}
		parts = parts[:last]
	}
	for i, part := range parts {
		s := section{format: parseFormat(part), condition: conditionOf(part)}
		switch {
		case part == "" && len(parts) > 1:
			s.kind = literal // it shows nothing
		case s.kind == literal && s.prefix+s.suffix == "" && len(parts) == 1:
			s.kind = general // a damaged code hides no number
		}
		switch first := append(c.numbers, s)[0].condition; {
		case s.operator != "":
			s.negative = s.isBelowZero() && strings.ContainsAny(s.prefix, "(-−") // else Excel adds the sign
		case i == 0 && len(parts) > 1:
			s.condition = condition{map[bool]string{true: ">=", false: ">"}[len(parts) == 2], 0}
		case i == 1 && (first == condition{">=", 0} || first == condition{">", 0}):
			s.condition, s.negative = condition{"<", 0}, true
		}
		if !s.negative { // else brackets are its sign
			s.prefix, s.suffix = strings.TrimLeft(s.prefix, " ("), strings.TrimRight(s.suffix, " )")
		}
		c.numbers = append(c.numbers, s)
	}
	return c
}

// sectionsOf returns the sections of a code, one at least.
func sectionsOf(code string) []string {
	var parts []string
	from, inText, inBrackets := 0, false, false
	for i := 0; i < len(code) && len(parts) < maxSections-1; i++ {
		switch c := code[i]; {
		case c == '"' && !inBrackets:
			inText = !inText
		case inText:
		case c == '[' || c == ']':
			inBrackets = c == '['
		case inBrackets:
		case c == '\\' || c == '_' || c == '*':
			i++
		case c == ';':
			parts, from = append(parts, code[from:i]), i+1
		}
	}
	return append(parts, code[from:])
}

// isOfText reports whether a section is for texts.
func isOfText(part string) bool {
	return strings.Contains(part, "@") && !strings.ContainsAny(part, "0#?")
}

// conditionOf returns the condition that a section begins with, such as [>=1000], or none.
func conditionOf(part string) condition {
	for from := strings.IndexByte(part, '['); from >= 0; from = strings.IndexByte(part, '[') {
		var inside string
		inside, part, _ = strings.Cut(part[from+1:], "]")
		number := strings.TrimLeft(inside, "<>=")
		limit, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if operator := inside[:len(inside)-len(number)]; err == nil && operator != "" {
			return condition{operator, limit}
		}
	}
	return condition{}
}

func (c condition) isBelowZero() bool {
	return c.operator == "<" && c.limit <= 0 || c.operator == "<=" && c.limit < 0
}

func (c condition) holds(n float64) bool {
	switch c.operator {
	case "<":
		return n < c.limit
	case "<=":
		return n <= c.limit
	case ">":
		return n > c.limit
	case ">=":
		return n >= c.limit
	case "=":
		return n == c.limit
	case "<>":
		return n != c.limit
	}
	return true
}

// number returns how the cell shows n. A negative number keeps its sign where the format distinguishes it by a color only.
func (c cellFormat) number(n float64, is1904 bool) string {
	i := 0
	for i < len(c.numbers) && !c.numbers[i].holds(n) {
		i++
	}
	if i == len(c.numbers) {
		return format{}.text(n, is1904)
	}
	s := c.numbers[i]
	if !s.negative || !s.isFramed() {
		return s.format.text(n, is1904)
	}
	text := s.format.text(-n, is1904)
	if first := c.numbers[0]; text != "" && i > 0 && s.prefix == first.prefix && s.suffix == first.suffix {
		return "-" + text
	}
	return text
}

// isFramed reports whether a number, if it is shown at all, has the texts of f around it.
func (f format) isFramed() bool {
	return f.kind == decimal || f.kind == percent || f.kind == worded || f.kind == masked || f.kind == literal || f.kind == fractional
}

// string returns how the cell shows a text. In a longer text some letters may have a font of their own.
func (c cellFormat) string(text string) string {
	if utf8.RuneCountInString(text) == 1 {
		text = symbols.Text(text, c.font, false)
	}
	switch {
	case c.text == nil || text == "":
		return text
	case c.text.without:
		text = ""
	}
	return c.text.prefix + text + c.text.suffix
}
