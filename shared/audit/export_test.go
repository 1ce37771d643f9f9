package audit

import "time"

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
