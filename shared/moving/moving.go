// Package moving copies a whole installation from one home to another, such as from a folder to
// DynamoDB and S3. It copies every table and every object, whatever is in them, so that it needs
// no change for a new kind of record. Running it again copies only what has changed.
//
// Until Finish, the new home has none of the records by which an installation comes to life:
// see stageOf. So it serves nobody and does no work while records are still missing.
package moving

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"docent/shared/blob"
	"docent/shared/pending"
	"docent/shared/table"
)

// Rows is a storage engine that can be copied as a whole.
type Rows interface {
	table.Store
	// Scan yields all live items of a table.
	Scan(ctx context.Context, tableName string) iter.Seq2[table.Item, error]
	// PutAll stores items, and DeleteAll removes them, not all or nothing.
	PutAll(ctx context.Context, items []table.Item) error
	DeleteAll(ctx context.Context, keys []table.Key) error
}

// Home is where an installation is stored.
type Home struct {
	Rows  Rows
	Blobs blob.Store
	// Seal encrypts secrets with the key of this home, Open decrypts them; both bind them to
	// about.
	Seal, Open func(ctx context.Context, text []byte, about string) ([]byte, error)
}

// Secret is the encrypted part of an item. Each home has its own key, so that it is encrypted
// again on its way, in memory.
type Secret struct {
	Sealed []byte
	About  string // the text that it is bound to
	// With returns the item with another encrypted part. It always returns the same for the
	// same part, whatever the former one was.
	With func(sealed []byte) (table.Item, error)
}

// SecretOf returns the encrypted part of an item, or nil.
type SecretOf func(table.Item) (*Secret, error)

// Progress is reported while a Move runs.
type Progress struct {
	Stage  string // such as "documents" or "objects"
	Looked int64  // items and objects that were compared
	Copied int64
}

// Report counts what a Move has done.
type Report struct {
	Items   int64 `json:"items"`   // in the old home
	Objects int64 `json:"objects"` // in the old home
	Copied  int64 `json:"copied"`  // items and objects that were missing or differed
	Removed int64 `json:"removed"` // items and objects that the old home no longer has
}

// ErrDiffers means that the two homes do not hold the same.
var ErrDiffers = errors.New("the new home differs from the old one; if something still writes to the old one, stop it, and run this again")

// Move copies From to To. It is not safe for concurrent use.
type Move struct {
	From, To Home
	Secrets  []SecretOf
	Now      time.Time      // items that expire within an hour of it are not compared
	Tell     func(Progress) // called often; nil: nothing is reported
	// Note stores durably how far Finish is, before Finish continues. nil: the new home does not
	// live before the end of Finish, and a repeated Finish starts from the beginning.
	Note func(Milestone) error
	// Reached is what Note stored last, in an earlier Finish of the same homes.
	Reached Milestone

	report   Report
	progress Progress
}

// Milestone is a point of Finish after which the new home may live. From then on it is not made
// equal to the old one: it keeps what it has changed.
type Milestone string

// The milestones, in their order. Before, it is empty.
const (
	Entering Milestone = "entering" // everything else agrees, and the records of access are being copied
	Entered  Milestone = "entered"  // those are copied, and pending work is being copied
)

// stage says when an item is copied.
type stage int

const (
	never stage = iota // it belongs to its home
	early              // by Copy
	// By Finish, in this order:
	access  // the records by which requests and workers enter
	work    // pending work, which workers take at once
	arrival // the list of teams, by which a home is known to be in use
)

// Copy makes the new home equal to the old one, except for what brings it to life. The old home
// may serve at the same time. What changes in the meantime is copied by the next Copy.
func (m *Move) Copy(ctx context.Context) (Report, error) {
	m.report = Report{}
	if err := m.copyBlobs(ctx); err != nil {
		return m.report, err
	}
	if err := m.removeStage(ctx, early); err != nil {
		return m.report, err
	}
	err := m.copyStage(ctx, early)
	return m.report, err
}

// Finish does the same as Copy, compares all counts and digests, and then brings the new home to
// life. Nothing may write to the old home any more: if something did, Finish returns
// ErrDiffers, and the new home stays lifeless unless only records of access differ. If it is
// interrupted, it can be repeated. It continues after the milestone that it reached.
func (m *Move) Finish(ctx context.Context) (Report, error) {
	m.report = Report{}
	first := m.Reached == ""
	if first {
		if err := m.finishLifeless(ctx); err != nil {
			return m.report, err
		}
	}
	// Pending work that waited in the old home is not late in the new one: patience begins there with the next sweep.
	if err := m.To.Rows.DeleteAll(ctx, []table.Key{pending.SweepsKey}); err != nil {
		return m.report, fmt.Errorf("make the sweeps patient: %w", err)
	}
	if m.Reached != Entered {
		if err := m.enter(ctx, first); err != nil {
			return m.report, err
		}
	}
	for _, s := range later[1:] {
		if err := m.copyStage(ctx, s); err != nil {
			return m.report, err
		}
	}
	return m.report, nil
}

// later are the stages that bring the new home to life.
var later = []stage{access, work, arrival}

// finishLifeless makes the new home equal to the old one, as far as it stays lifeless. What an
// interrupted Finish has left of the later stages is removed if the old home no longer has it:
// afterwards, the new home adds its own.
func (m *Move) finishLifeless(ctx context.Context) error {
	if _, err := m.Copy(ctx); err != nil {
		return err
	}
	if err := m.compareBlobs(ctx); err != nil {
		return err
	}
	if err := m.compareRows(ctx, early); err != nil {
		return err
	}
	for _, s := range later {
		if err := m.removeStage(ctx, s); err != nil {
			return err
		}
	}
	return m.reach(Entering)
}

// enter copies the records by which requests and workers enter. It compares them only the first time: later, the new home
// may have changed them.
func (m *Move) enter(ctx context.Context, first bool) error {
	if err := m.copyStage(ctx, access); err != nil {
		return err
	}
	if first {
		if err := m.compareRows(ctx, access); err != nil {
			return err
		}
	}
	return m.reach(Entered)
}

// reach notes a milestone.
func (m *Move) reach(at Milestone) error {
	if m.Note == nil {
		return nil
	}
	if err := m.Note(at); err != nil {
		return err
	}
	m.Reached = at
	return nil
}

func (m *Move) removeStage(ctx context.Context, s stage) error {
	for _, name := range tablesOf(s) {
		if err := m.removeGone(ctx, name, s); err != nil {
			return fmt.Errorf("remove from the table %s: %w", name, err)
		}
	}
	return nil
}

func (m *Move) copyStage(ctx context.Context, s stage) error {
	for _, name := range tablesOf(s) {
		if err := m.copyTable(ctx, name, s); err != nil {
			return fmt.Errorf("copy the table %s: %w", name, err)
		}
	}
	return nil
}

func (m *Move) begin(stage string) { m.progress = Progress{Stage: stage} }

func (m *Move) tell(looked, copied int64) {
	m.progress.Looked += looked
	m.progress.Copied += copied
	m.report.Copied += copied
	if m.Tell != nil {
		m.Tell(m.progress)
	}
}
