package app

import "time"

// Bounds of a jumpWatch.
const (
	longJump   = 24 * time.Hour // of a clock, ahead
	trustAfter = 24 * time.Hour // of a process that goes on with its clock there
)

// jumpWatch notices when the clock of the machine jumps far ahead. It may be wrong then, and nothing that it says has expired should be
// removed before somebody had a day to set it right. A machine that was suspended looks the same: there, removal is late by that day.
type jumpWatch struct {
	begun   time.Time
	trusted time.Duration // how far the clock has moved besides running, without a long jump that is not trusted yet
	noticed time.Duration // when the process had run for that long; 0: there is no such jump
}

// jumped reports whether the clock, which shows wall, has jumped far ahead in the last day. running is for how long the process has
// run since w.begun, which no setting of the clock changes. first: this call is the first one that says so.
func (w *jumpWatch) jumped(wall time.Time, running time.Duration) (jumped, first bool) {
	moved := wall.Round(0).Sub(w.begun.Round(0)) - running
	switch ahead := moved - w.trusted; {
	case ahead <= -longJump: // it was set back from where it was trusted
		w.trusted, w.noticed = moved, 0
	case ahead < longJump:
		w.noticed = 0
	case w.noticed == 0:
		w.noticed = max(running, 1)
		return true, true
	case running-w.noticed < trustAfter:
		return true, false
	default:
		w.trusted, w.noticed = moved, 0
	}
	return false, false
}
