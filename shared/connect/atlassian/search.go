package atlassian

import (
	"time"

	"docent/shared/source"
)

// Yield yields page with the checkpoint after it. It returns source.ErrStopped if the reader wants no more pages.
func Yield(page source.SyncPage, checkpoint any, yield func(source.SyncPage) bool) error {
	page.Checkpoint = source.EncodeCheckpoint(checkpoint)
	if !yield(page) {
		return source.ErrStopped
	}
	return nil
}

// MinutesBetween returns the fewest minutes that are more than the time from since to now. Searches ask for what changed in the last
// minutes, not since a time, because the time zone of the account decides what a time means.
func MinutesBetween(since, now time.Time) int { return int(now.Sub(since)/time.Minute) + 1 }
