package jsoninput_test

import (
	"testing"
	"time"

	"docent/shared/jsoninput"
)

func TestTimesOfRFC3339(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"2026-11-21T15:04:05Z":             time.Date(2026, 11, 21, 15, 4, 5, 0, time.UTC),
		"2026-11-21t15:04:05z":             time.Date(2026, 11, 21, 15, 4, 5, 0, time.UTC),
		"2026-11-21T15:04:05.1234567z":     time.Date(2026, 11, 21, 15, 4, 5, 123456700, time.UTC),
		"2026-11-21T15:04:05+02:00":        time.Date(2026, 11, 21, 13, 4, 5, 0, time.UTC),
		"0000-01-01T00:00:00Z":             time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		"9999-12-31T23:59:59.999999999Z":   time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		"9999-12-31T23:59:59-00:01":        {},
		"0000-01-01T00:00:00+00:01":        {},
		"2026-11-21T15:04:05,5Z":           {},
		"2026-11-21T5:04:05Z":              {},
		"2026-11-21T15:04:05+24:00":        {},
		"2026-11-21T23:59:60Z":             {},
		"2026-11-21T24:00:00Z":             {},
		"2026-02-29T00:00:00Z":             {},
		"2026-11-21 15:04:05Z":             {},
		"2026-11-21T15:04:05":              {},
		"2026-11-21":                       {},
		"":                                 {},
		"2026-11-21T15:04:05Z\n":           {},
		"２026-11-21T15:04:05Z":             {},
		"2026-11-21T15:04:05.\u0661Z":      {},
		"2026-11-21T15:04:05Z and a lot 1": {},
	} {
		got, err := jsoninput.ParseTime(text)
		if want.IsZero() != (err != nil) || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}

// A program that does not encode the plus of an offset sends a space.
func TestQueryTimesMayHaveASpaceForThePlus(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"2026-11-21T15:04:05 02:00":   time.Date(2026, 11, 21, 13, 4, 5, 0, time.UTC),
		"2026-11-21T15:04:05.5 00:00": time.Date(2026, 11, 21, 15, 4, 5, 500_000_000, time.UTC),
		"2026-11-21T15:04:05+02:00":   time.Date(2026, 11, 21, 13, 4, 5, 0, time.UTC),
		"2026-11-21T15:04:05Z":        time.Date(2026, 11, 21, 15, 4, 5, 0, time.UTC),
		"2026-11-21 15:04:05 02:00":   {},
		"2026-11-21T15:04:05 24:00":   {},
		"2026-11-21T15:04:05  2:00":   {},
		"2026-11-21 15:04":            {},
		" 02:00":                      {},
		"":                            {},
	} {
		got, err := jsoninput.ParseQueryTime(text)
		if want.IsZero() != (err != nil) || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}
