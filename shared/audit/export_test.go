package audit

import (
	"testing"
	"time"
)

// SetGrace shortens how long l leaves an empty number to its writer.
func SetGrace(l *Log, d time.Duration) { l.grace = d }

// BucketSize and MaxNumbers are bounds at whose edges tests look.
const (
	BucketSize = bucketSize
	MaxNumbers = maxNumbers
	SlotLife   = slotLife
)

// The names of places that tests write to or look at.
var (
	HeadKey = headKey
	SlotKey = slotKey
	EventID = eventID
)

// NumberOf waits for the first number of a claim.
func NumberOf(c *Claim) int64 {
	<-c.ready
	return c.numbers[0]
}

// SealPlace is the cursor that the key of l gives a place, one of this feed or not.
func SealPlace(t *testing.T, l *Log, teamID string, at, end, low, made int64, flags byte) string {
	t.Helper()
	key, err := l.cursorKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := cursorState{at: at, end: end, low: low, made: made, bounded: flags&1 != 0, down: flags&2 != 0, filter: filter{}.sum()}
	return p.sealed(key, teamID)
}
