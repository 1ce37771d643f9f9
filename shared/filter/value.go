package filter

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"docent/shared/jsoninput"
)

// Value is what a document has under one name of its metadata: a string, a number, a boolean or a list of
// strings. A string that is an RFC 3339 date or time can be compared as a time. The zero Value is none of them:
// it equals nothing.
type Value struct{ of any } // string, float64, bool or []string; nil: the zero Value

// Text returns a string as a Value.
func Text(s string) Value { return Value{s} }

// Number returns a number as a Value. It must be finite.
func Number(n float64) Value {
	if n == 0 {
		n = 0 // not -0, which has another text
	}
	return Value{n}
}

// Bool returns a boolean as a Value.
func Bool(b bool) Value { return Value{b} }

// List returns a list of strings as a Value. It keeps a copy.
func List(texts ...string) Value { return Value{append(make([]string, 0, len(texts)), texts...)} }

// Time returns a time as a Value: its RFC 3339 text in UTC.
func Time(t time.Time) Value { return Value{t.UTC().Format(time.RFC3339Nano)} }

// IsZero reports whether v is the zero Value.
func (v Value) IsZero() bool { return v.of == nil }

// Equal reports whether v and w are the same value: of the same kind, and equal byte for byte.
func (v Value) Equal(w Value) bool {
	list, isList := v.of.([]string)
	other, otherIsList := w.of.([]string)
	if isList || otherIsList {
		return isList && otherIsList && slices.Equal(list, other)
	}
	return v.of == w.of
}

// String returns v as people write it: a string without quotes, a list with commas.
func (v Value) String() string {
	switch of := v.of.(type) {
	case nil:
		return ""
	case string:
		return of
	case []string:
		return strings.Join(of, ", ")
	default:
		return encode(of)
	}
}

// MarshalJSON returns the JSON form of v; null for the zero Value.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(encode(v.of)), nil }

// UnmarshalJSON reads a string, a finite number, a boolean, a list of strings, or null as the zero Value. It does
// not bound their lengths; see Metadata.Check.
func (v *Value) UnmarshalJSON(text []byte) error {
	var decoded any
	if err := json.Unmarshal(text, &decoded); err != nil {
		return err
	}
	read, err := valueOf(decoded)
	if err != nil {
		return err
	}
	*v = read
	return nil
}

var errKind = errors.New("must be a string, a number, a boolean or a list of strings")

// valueOf returns decoded JSON as a Value. The text of its error is fit for clients.
func valueOf(decoded any) (Value, error) {
	switch of := decoded.(type) {
	case nil:
		return Value{}, nil
	case string:
		return Text(of), nil
	case float64:
		return Number(of), nil
	case bool:
		return Bool(of), nil
	case []any:
		list := make([]string, len(of))
		for i, one := range of {
			text, ok := one.(string)
			if !ok {
				return Value{}, errKind
			}
			list[i] = text
		}
		return Value{list}, nil
	default:
		return Value{}, errKind
	}
}

// check returns an error if v is too long or too large. Its text is fit for clients.
func (v Value) check() error {
	switch of := v.of.(type) {
	case string:
		return checkText(of)
	case float64:
		if math.Abs(of) > MaxNumber {
			return fmt.Errorf("must be between -%d and %d; send a larger number as a string", MaxNumber, MaxNumber)
		}
	case []string:
		if len(of) > MaxList {
			return fmt.Errorf("must have at most %d strings", MaxList)
		}
		for _, text := range of {
			if err := checkText(text); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkText(text string) error {
	if utf8.RuneCountInString(text) > MaxText {
		return fmt.Errorf("must have strings of at most %d characters", MaxText)
	}
	return nil
}

// contains reports whether v is one, or a list that has it. Two dates or times are the same if they are the same
// moment.
func (v Value) contains(one Value) bool {
	if list, ok := v.of.([]string); ok {
		text, isText := one.of.(string)
		return isText && slices.ContainsFunc(list, func(s string) bool { return sameText(s, text) })
	}
	text, isText := v.of.(string)
	other, otherIsText := one.of.(string)
	if isText && otherIsText {
		return sameText(text, other)
	}
	return !isText && !otherIsText && v.of != nil && v.Equal(one)
}

func sameText(a, b string) bool {
	if a == b {
		return true
	}
	at, ok := timeOf(a)
	if !ok {
		return false
	}
	bt, ok := timeOf(b)
	return ok && at.Equal(bt)
}

// compare compares v with a bound as numbers or as times; ok is false if they are neither both numbers nor both
// times.
func (v Value) compare(bound Value) (order int, ok bool) {
	switch of := v.of.(type) {
	case float64:
		limit, isNumber := bound.of.(float64)
		switch {
		case !isNumber:
			return 0, false
		case of < limit:
			return -1, true
		case of > limit:
			return 1, true
		}
		return 0, true
	case string:
		limit, isText := bound.of.(string)
		if !isText {
			return 0, false
		}
		at, isTime := timeOf(of)
		end, boundIsTime := timeOf(limit)
		return at.Compare(end), isTime && boundIsTime
	}
	return 0, false
}

// timeOf returns the time that an RFC 3339 text means. A date alone is its midnight in UTC.
func timeOf(text string) (time.Time, bool) {
	if len(text) < len(time.DateOnly) || text[4] != '-' || text[7] != '-' {
		return time.Time{}, false // most texts, without the cost of an error
	}
	if len(text) == len(time.DateOnly) {
		t, err := time.Parse(time.DateOnly, text)
		return t, err == nil
	}
	t, err := jsoninput.ParseTime(text)
	return t, err == nil
}
