// Package quota counts daily allowances: how many questions a team may ask and
// how many calls a personal key may make in one day of Pacific time.
//
// The day is the calendar day of America/Los_Angeles with its daylight saving,
// because the allowances are documented as reset at midnight Pacific time; twice
// a year a day is 23 or 25 hours long, which a fixed offset would get wrong. The
// zone data is compiled in, since a function's runtime image may have none.
package quota

import (
	"fmt"
	"time"
	_ "time/tzdata" // Day must work where the system has no zone files
)

// Window is one Pacific day. An instant t is in it when Start <= t < Reset.
type Window struct {
	Date         string    // 2006-01-02, in Pacific time; empty for a window that is not a day
	Start, Reset time.Time // UTC
}

var pacific = func() *time.Location {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		panic(fmt.Sprintf("embedded zone data: %v", err))
	}
	return zone
}()

// Zone returns the time zone of the quota day.
func Zone() *time.Location { return pacific }

// Day returns the Pacific day that contains t. A request takes its day once, when it arrives,
// so that it is not counted in two.
func Day(t time.Time) Window {
	l := t.In(pacific)
	y, m, d := l.Date()
	return Window{
		Date:  l.Format(time.DateOnly),
		Start: time.Date(y, m, d, 0, 0, 0, 0, pacific).UTC(),
		Reset: time.Date(y, m, d+1, 0, 0, 0, 0, pacific).UTC(), // not Start + 24 h
	}
}

// Seconds returns the length of the window: 86400, or 82800 or 90000 when daylight saving
// begins or ends.
func (w Window) Seconds() int64 { return int64(w.Reset.Sub(w.Start) / time.Second) }
