package jsoninput

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// errTime is the error for a text that is not a time.
var errTime = errors.New("not an RFC 3339 time of the years 0 to 9999")

// strictTime leaves out what time.Parse takes for a time beyond RFC 3339: fractions after a comma, hours of one digit,
// and offsets of a day or more.
var strictTime = regexp.MustCompile(`^.{10}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// ParseTime returns the time in text as RFC 3339 means it, where t and z are T and Z (section 5.6). It returns an
// error for anything else, for a leap second, which no time.Time can be, and for a time whose year in UTC has not
// four digits: RFC 3339 could not write it.
func ParseTime(text string) (time.Time, error) {
	upper := strings.ToUpper(text)
	t, err := time.Parse(time.RFC3339, upper)
	if err != nil || !strictTime.MatchString(upper) {
		return time.Time{}, errTime
	}
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return time.Time{}, errTime
	}
	return t, nil
}

// ParseQueryTime is ParseTime for the value of a query parameter. Many programs write the plus of an offset into an address
// as it is, where it means a space.
func ParseQueryTime(text string) (time.Time, error) {
	if sign := len(text) - len("+00:00"); sign > 0 && text[sign] == ' ' {
		text = text[:sign] + "+" + text[sign+1:]
	}
	return ParseTime(text)
}
