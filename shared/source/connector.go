package source

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"docent/shared/access"
)

// Connector reads the content of the data sources of one provider.
type Connector interface {
	// Parts returns the parts of a source. Each has its own checkpoint and is read
	// even if another part fails. If the settings name none and the provider lists them, Parts returns PartList alone.
	Parts(s Settings) []string
	// Read yields the pages of a part: everything if checkpoint is nil, otherwise the
	// changes since checkpoint. It stops at the first error; a failure that the
	// team's admins should see is a *SyncError.
	Read(ctx context.Context, a Access, part string, checkpoint []byte) iter.Seq2[SyncPage, error]
	// PartContains reports whether the item of uri belongs to a part.
	PartContains(s Settings, part, uri string) bool
	// IsDeleted asks the provider whether uri no longer exists in the part. It is
	// called for items that a full scan did not list.
	IsDeleted(ctx context.Context, a Access, part, uri string) (bool, error)
}

// Retrier is a Connector that tries Access.Failed again with the changes since a checkpoint. Only what such a connector fails to read is
// left out: with others, nothing would read it again soon.
type Retrier interface{ Retries() }

// Access contains what a connector needs to read a source.
type Access struct {
	Settings Settings
	Secrets  Secrets
	// Before, in a full scan, is the checkpoint that the part had when the scan started.
	// Items that did not change since, and are stored, may be listed as Unread. nil:
	// everything must be read.
	Before []byte
	// Stored returns which of some uris are items of the source. nil: nothing is known.
	Stored func(ctx context.Context, uris []string) (map[string]bool, error)
	// Failed are the uris of what earlier syncs of the part could not read; see Try. The connector tries them again with
	// the changes since a checkpoint.
	Failed []string

	tries *tries // of the running sync; nil: nothing is remembered
}

// SyncPage is one page of a part.
type SyncPage struct {
	Items   []Item
	Unread  []string      // uris of items that still exist but were not read again
	Removed []string      // uris of deleted items
	Skipped []SkippedItem // items left out, and why
	// Failed are what could not be read again, and why. A later sync tries again, until the uri is in Items, Unread or Removed only.
	Failed []SkippedItem
	// Readers, if not nil, are who may read the items of the part from now on. All stored items get them before anything
	// else is read: a full scan would reach some of them late. The page must have no items. With Narrow, an item with
	// other readers keeps only those who are among Readers; a full scan then gives it the rest. With Marked, only items
	// with that metadata, true, get them.
	Readers *access.Names
	Narrow  bool
	Marked  string
	// Notice warns the team's admins about a part that was read anyway; nil: no
	// warning. The source shows the first one of a sync.
	Notice *SyncError
	// Parts, on the pages of the part PartList, names parts: each is read after that, in this
	// sync and the following ones, until it is gone.
	Parts []string
	// Last marks the last page. Exact, on the last page of a full scan, means that
	// the scan listed every item of the part: what it did not list is deleted
	// without asking the provider.
	Last, Exact bool
	// Checkpoint is where to resume after this page; after the last page, where the
	// next sync starts. Only the connector interprets it. At most MaxCheckpoint bytes.
	Checkpoint []byte
}

// SkippedItem is an item that was left out. Why is half a sentence for the team's
// admins.
type SkippedItem struct{ URI, Why string }

// LongPage is how long a connector reads for one page. Then it yields the items that it has, with a checkpoint from
// which it continues. Otherwise a page of a slow provider could take longer than the turn of a source, and nothing of
// it would ever be saved.
const LongPage = 30 * time.Second

// MaxCheckpoint is the most bytes of a checkpoint. It is saved with every page.
const MaxCheckpoint = 64 << 10

// MaxParts bounds the parts of one source.
const MaxParts = 10_000

// PartList is the part that lists the others, all of them in every sync. It has no items of its own; PartContains is
// true for the items of every part that it could list. A part that the settings named before keeps its checkpoint if
// PartList lists it; otherwise it is removed with its items.
const PartList = "list of parts"

// The codes of a SyncError.
const (
	RateLimited  = "rate-limited"     // the provider's rate limit is exceeded; the sync continues at RetryAt
	Unauthorized = "unauthorized"     // the provider rejects the access token
	NotThere     = "not-found"        // the repository or page does not exist or is not visible
	Unreadable   = "provider-failed"  // the provider failed or sent an invalid reply; retried soon
	ItemRejected = "item-rejected"    // an item was left out
	NoConnector  = "not-connected"    // this program has no connector for the provider
	Blocked      = "address-refused"  // the address is not public
	TooLarge     = "too-large"        // a part exceeds the limit
	Disallowed   = "robots-disallows" // robots.txt forbids reading
	Renamed      = "renamed"          // the repository has a new name
	Refused      = "provider-refused" // the provider refuses a request for another reason
	NoReaders    = "readers-unknown"  // the provider does not say who may read a part, so no person may
)

// SyncError says why a data source, or a part of it, could not be read.
type SyncError struct {
	Code     string
	Detail   string    // a sentence for the team's admins, without secrets
	RetryAt  time.Time // when to retry; zero: as usual
	AllParts bool      // every other part would fail the same way
	URI      string    // what could not be read, if it may be that alone; see Access.Try
	Cause    error     // for the log
}

// maybeOfOne reports whether e, the failure of a request about one item, may concern that item alone. A token that may
// not read one item may still read others. For a token that is rejected or lacks a scope, AllParts is set.
func (e *SyncError) maybeOfOne() bool {
	return !e.AllParts && e.RetryAt.IsZero() && slices.Contains([]string{Unreadable, Refused, TooLarge, NotThere, Unauthorized}, e.Code)
}

func (e *SyncError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Detail, e.Cause)
	}
	return e.Code + ": " + e.Detail
}

// Unwrap returns the cause.
func (e *SyncError) Unwrap() error { return e.Cause }

// ErrFullScanNeeded means that the connector cannot list the changes since the
// checkpoint. The caller starts a full scan.
var ErrFullScanNeeded = errors.New("a full scan is needed")

// ErrPartGone means that the provider no longer has a part, or that the team may not read it any more, so that nobody knows who may
// read what was read of it. The caller removes its items and the part itself. An error of a part that the settings name wraps a
// *SyncError too, which the team's admins see.
var ErrPartGone = errors.New("the part is gone")

// ErrPartHidden means that the provider does not show a part, and that its items have the readers that the provider told: nobody knows who
// they are now. It wraps a *SyncError too. If it is still so after an hour, nobody but team keys reads the items, and the part is read
// completely when it is shown again.
var ErrPartHidden = errors.New("the part is not shown")

// Connection is a connector with the intervals of its syncs.
type Connection struct {
	Connector     Connector
	SyncEvery     time.Duration // between the end of a sync and the start of the next
	FullScanEvery time.Duration // between full scans, which notice deleted items
}
