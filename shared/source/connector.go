package source

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Connector reads the content of the data sources of one provider.
type Connector interface {
	// Parts are what a source is read in, part by part, each from its own place on;
	// what keeps one from being read does not keep the others.
	Parts(s Settings) []string
	// Read yields what there is of a part from place on: all of it for nil, else what
	// has changed since. It stops at the first error, which is a *SyncError where
	// something can be said about it.
	Read(ctx context.Context, a Access, part string, place []byte) iter.Seq2[SyncPage, error]
	// PartContains tells whether the item of uri belongs to a part.
	PartContains(s Settings, part, uri string) bool
	// IsDeleted tells whether the provider has no item of uri in the part any more. It is
	// asked of what a walk of everything did not come by.
	IsDeleted(ctx context.Context, a Access, part, uri string) (bool, error)
}

// Access is what a connector reads a source with.
type Access struct {
	Settings Settings
	Secrets  Secrets
}

// SyncPage is a step of a walk.
type SyncPage struct {
	Items   []Item
	Unread  []string      // uris of what is there still and was not read now
	Removed []string      // uris of what is gone
	Skipped []SkippedItem // what is not taken, and why
	// Notice is what the team's admins should know of a part that was read all the
	// same; nil: nothing. Of a sync the first one shows on the source.
	Notice *SyncError
	// Last tells that this is the last page. Exact, on the last page of a walk of
	// everything, that nothing is in the part but what came: the rest is gone without
	// asking.
	Last, Exact bool
	// Checkpoint is where to go on after this page, and after the last one where the next
	// sync begins; it belongs to the connector. At most MaxCheckpoint bytes.
	Checkpoint []byte
}

// SkippedItem is an item that was left out, and why in words for the team's admins.
type SkippedItem struct{ URI, Why string }

// MaxCheckpoint bounds a place of a connector in bytes, so that saving it costs little.
const MaxCheckpoint = 64 << 10

// The codes of a SyncError.
const (
	RateLimited  = "rate-limited"     // the provider wants fewer requests; goes on at RetryAt
	Unauthorized = "unauthorized"     // the provider refuses the access token
	NotThere     = "not-found"        // the provider knows no such repository or page, or does not show it
	Unreadable   = "provider-failed"  // the provider failed or answered nonsense; tried again soon
	ItemRejected = "item-rejected"    // an item was left out
	NoConnector  = "not-connected"    // nothing here reads this provider
	Blocked      = "address-refused"  // the address is not public
	TooLarge     = "too-large"        // more than is read of one part
	Disallowed   = "robots-disallows" // the site does not want to be read
	Renamed      = "renamed"          // what is read has another name now
)

// SyncError is why a data source, or a part of it, could not be read.
type SyncError struct {
	Code     string
	Detail   string    // a sentence for the team's admins, without secrets
	RetryAt  time.Time // when to try again; zero: as usual
	AllParts bool      // it would be the same for every other part
	Cause    error     // for the log
}

func (e *SyncError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Detail, e.Cause)
	}
	return e.Code + ": " + e.Detail
}

// Unwrap returns the cause.
func (e *SyncError) Unwrap() error { return e.Cause }

// ErrFullScanNeeded is a connector's word that what has changed since a place can not be
// told any more: everything is walked.
var ErrFullScanNeeded = errors.New("everything is to be walked")

// Connection is a connector and how often its sources are read.
type Connection struct {
	Connector     Connector
	SyncEvery     time.Duration // between the end of a sync and the next one
	FullScanEvery time.Duration // between walks of everything, which notice what is gone
}
