package audit

import (
	"testing"
	"time"
)

// SetGrace shortens how long l leaves an empty number to its writer.
func SetGrace(l *Log, d time.Duration) { l.grace = d }

// BucketSize and MaxNumbers are limits that tests exceed.
const (
	BucketSize = bucketSize
	MaxNumbers = maxNumbers
	SlotLife   = slotLife
)

// Keys that tests read and write.
var (
	HeadKey = headKey
	SlotKey = slotKey
	EventID = eventID
)

// Notices exports notices.
var Notices = notices

// NumberOf waits for a claim and returns its first number.
func NumberOf(c *Claim) int64 {
	<-c.ready
	return c.numbers[0]
}

// SealPlace returns a position, valid or not, as a cursor sealed with the key of l.
func SealPlace(t *testing.T, l *Log, teamID string, at, end, low, made int64, flags byte) string {
	t.Helper()
	key, err := l.cursorKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := cursorState{at: at, end: end, low: low, made: made, bounded: flags&1 != 0, down: flags&2 != 0, filter: filter{}.sum()}
	return p.sealed(key, teamID)
}
