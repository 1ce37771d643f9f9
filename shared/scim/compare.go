package scim

import (
	"strings"
	"time"
)

// comparison returns the test of one value of a against a literal. What cannot be
// compared is invalidFilter.
func comparison(a *attribute, op operator, l literal) (func(value any) bool, error) {
	if l.isNull() {
		return nil, bad(invalidFilter, "null can be compared with eq and ne only.")
	}
	switch a.Kind {
	case booleanKind:
		return booleanComparison(a, op, l)
	case dateTimeKind:
		if op != opCo && op != opSw && op != opEw {
			return timeComparison(a, op, l)
		}
	case binaryKind:
		if op == opGt || op == opGe || op == opLt || op == opLe {
			return nil, bad(invalidFilter, "%s has no order.", a.Name)
		}
	}
	return textComparison(a, op, l), nil
}

func booleanComparison(a *attribute, op operator, l literal) (func(any) bool, error) {
	want, ok := parseBoolean(l.text)
	if !ok || op != opEq && op != opNe {
		return nil, bad(invalidFilter, "%s compares by eq and ne with true and false.", a.Name)
	}
	return func(value any) bool {
		is, ok := value.(bool)
		return ok && (is == want) == (op == opEq)
	}, nil
}

// parseBoolean reads true and false in any case.
func parseBoolean(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "true":
		return true, true
	case "false":
		return false, true
	default:
		return false, false
	}
}

func timeComparison(a *attribute, op operator, l literal) (func(any) bool, error) {
	want, ok := parseTime(l.text)
	if !ok {
		return nil, bad(invalidFilter, "%s compares with a time such as 2026-11-21T15:04:05Z.", a.Name)
	}
	return func(value any) bool {
		text, _ := value.(string)
		is, ok := parseTime(text)
		return ok && ordered(op, is.Compare(want))
	}, nil
}

// parseTime reads an xsd:dateTime: any number of decimals; UTC without an offset.
// The plus of an offset may have become a space on its way through a URL.
func parseTime(text string) (time.Time, bool) {
	text = strings.Replace(text, " ", "+", 1)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func textComparison(a *attribute, op operator, l literal) func(any) bool {
	want := a.comparable(l.text)
	return func(value any) bool {
		text, ok := value.(string)
		if !ok {
			return false
		}
		is := a.comparable(text)
		switch op {
		case opCo:
			return strings.Contains(is, want)
		case opSw:
			return strings.HasPrefix(is, want)
		case opEw:
			return strings.HasSuffix(is, want)
		default:
			return ordered(op, strings.Compare(is, want))
		}
	}
}

// ordered tells whether op holds of the order of two values.
func ordered(op operator, order int) bool {
	switch op {
	case opEq:
		return order == 0
	case opNe:
		return order != 0
	case opGt:
		return order > 0
	case opGe:
		return order >= 0
	case opLt:
		return order < 0
	default:
		return order <= 0
	}
}
