package main

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// maxLife bounds a lifetime given as a duration, to catch typing errors.
const maxLife = 100 * 366 * 24 * time.Hour

// expiry is when a key expires: after a duration or at a time. The zero value is never.
type expiry struct {
	after time.Duration
	at    time.Time
}

// UnmarshalText reads 90d, a Go duration such as 12h, a date (its first moment in
// UTC) or an RFC 3339 time.
func (e *expiry) UnmarshalText(text []byte) error {
	s := string(text)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseInt(days, 10, 32); err == nil {
			return e.life(time.Duration(n) * 24 * time.Hour)
		}
	}
	if d, err := time.ParseDuration(s); err == nil {
		return e.life(d)
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, s); err == nil {
			*e = expiry{at: at}
			return nil
		}
	}
	return errors.New("must be days or hours such as 90d or 12h, a date, or an RFC 3339 time")
}

func (e *expiry) life(d time.Duration) error {
	if d <= 0 || d > maxLife {
		return errors.New("must be more than 0 and at most 100 years")
	}
	*e = expiry{after: d}
	return nil
}

// from returns the time of expiry, counted from now, and false if the key never expires.
func (e expiry) from(now time.Time) (time.Time, bool) {
	switch {
	case e.after > 0:
		return now.Add(e.after), true
	case !e.at.IsZero():
		return e.at, true
	}
	return time.Time{}, false
}
