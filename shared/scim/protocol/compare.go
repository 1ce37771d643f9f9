package protocol

import (
	"strings"
	"time"
)

// comparison returns a test of one value of a against a literal. Its errors are invalidFilter.
func comparison(a *Attribute, op Operator, l Literal, known *forms) (func(value any) bool, error) {
	if l.IsNull() {
		return nil, Bad(InvalidFilter, "null can be compared only by eq or ne.")
	}
	switch a.Kind {
	case booleanKind:
		return booleanComparison(a, op, l)
	case dateTimeKind:
		if op != OpCo && op != OpSw && op != OpEw {
			return timeComparison(a, op, l)
		}
	case binaryKind:
		if op == OpGt || op == OpGe || op == OpLt || op == OpLe {
			return nil, Bad(InvalidFilter, "%s cannot be ordered.", a.Name)
		}
	}
	return textComparison(a, op, l, known), nil
}

func booleanComparison(a *Attribute, op Operator, l Literal) (func(any) bool, error) {
	want, ok := parseBoolean(l.Text)
	if !ok || op != OpEq && op != OpNe {
		return nil, Bad(InvalidFilter, "%s can be compared only by eq or ne with true or false.", a.Name)
	}
	return func(value any) bool {
		is, ok := value.(bool)
		return ok && (is == want) == (op == OpEq)
	}, nil
}

// parseBoolean reads true or false in any case.
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

func timeComparison(a *Attribute, op Operator, l Literal) (func(any) bool, error) {
	want, ok := parseTime(l.Text)
	if !ok {
		return nil, Bad(InvalidFilter, "%s can be compared only with a time such as 2026-11-21T15:04:05Z.", a.Name)
	}
	return func(value any) bool {
		text, _ := value.(string)
		is, ok := parseTime(text)
		return ok && ordered(op, is.Compare(want))
	}, nil
}

// parseTime reads an xsd:dateTime with any number of decimals; without an offset it is UTC. In
// a URL the plus of an offset may have become a space.
func parseTime(text string) (time.Time, bool) {
	text = strings.Replace(text, " ", "+", 1)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func textComparison(a *Attribute, op Operator, l Literal, known *forms) func(any) bool {
	want := a.comparable(l.Text)
	return func(value any) bool {
		text, ok := value.(string)
		if !ok {
			return false
		}
		is := known.of(a, text)
		switch op {
		case OpCo:
			return strings.Contains(is, want)
		case OpSw:
			return strings.HasPrefix(is, want)
		case OpEw:
			return strings.HasSuffix(is, want)
		default:
			return ordered(op, strings.Compare(is, want))
		}
	}
}

// ordered reports whether op is true of the result of a comparison.
func ordered(op Operator, order int) bool {
	switch op {
	case OpEq:
		return order == 0
	case OpNe:
		return order != 0
	case OpGt:
		return order > 0
	case OpGe:
		return order >= 0
	case OpLt:
		return order < 0
	default:
		return order <= 0
	}
}
