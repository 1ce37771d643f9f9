package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"docent/shared/access"
	"docent/shared/collection"
	"docent/shared/pending"
	"docent/shared/table"
)

// A synced source stores, next to its settings, one item with the sync state, one
// per part with its checkpoint and, during a full scan, one per page with the ids
// on it. The next sync is pending work at its due time.

func syncKey(teamID, id string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/source/" + id, Sort: "sync"}
}

// anotherSyncKey returns the key of the request for another sync after the running
// one.
func anotherSyncKey(teamID, id string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/source/" + id, Sort: "sync-asked"}
}

func partKey(teamID, id, part string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/source/" + id, Sort: "part#" + part}
}

func scanMarkPrefix(part string, started int64) string {
	return fmt.Sprintf("seen#%s#%013d#", part, started)
}

func scanMarkKey(teamID, id, part string, started int64, page int) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/source/" + id, Sort: scanMarkPrefix(part, started) + fmt.Sprintf("%08d", page)}
}

// scanMarkLife is how long the marks of an unfinished full scan are kept.
const scanMarkLife = 30 * 24 * time.Hour

// The states of a sync.
const (
	SyncWaiting  = "waiting"  // for its due time
	SyncReading  = "reading"  // the parts, one after the other
	SyncRemoving = "removing" // deleted items
)

// Progress describes the running sync of a data source, or the last one.
type Progress struct {
	State    string    `json:"state" enum:"waiting,reading,removing"`
	Part     string    `json:"part,omitempty" doc:"What is being read."`
	Read     int       `json:"read" doc:"Items read by this sync, or by the last one."`
	Removed  int       `json:"removed" doc:"Items removed because the provider no longer has them."`
	Rejected int       `json:"rejected" doc:"Items left out because they are out of bounds, or because the provider fails to return them."`
	Began    time.Time `json:"began,omitzero"`
	Next     time.Time `json:"next,omitzero" doc:"When the next sync is due."`
}

// syncState is the stored state of a sync. Each save raises the item's version: of
// two processes that think they hold the lease, only one can save.
type syncState struct {
	version    int64
	due        int64 // Unix milliseconds in the key of the pending work
	leaseUntil int64 // Unix milliseconds at which the lease ends; 0: no lease
	syncBody
}

type syncBody struct {
	Began     int64  `json:"began,omitempty"` // start of the running sync; 0: none runs
	LastBegan int64  `json:"lastBegan,omitempty"`
	State     string `json:"state,omitempty"`
	Part      string `json:"part,omitempty"`
	Read      int    `json:"read,omitempty"`
	Removed   int    `json:"removed,omitempty"`
	Rejected  int    `json:"rejected,omitempty"`
	Rejection string `json:"rejection,omitempty"` // why the first one was
	Finished  int    `json:"finished,omitempty"`  // parts
	Code      string `json:"code,omitempty"`      // of the first failure
	Detail    string `json:"detail,omitempty"`
	Notice    string `json:"notice,omitempty"`    // detail of the first notice
	NoticeOf  string `json:"noticeOf,omitempty"`  // its code
	Failures  int    `json:"failures,omitempty"`  // consecutive failed syncs
	NotBefore int64  `json:"notBefore,omitempty"` // when the provider may be asked again: at the time that it named, or later; see limitedFor
	Limited   int    `json:"limited,omitempty"`   // consecutive runs that ended with a rate limit and read nothing; see limitedFor
	Paused    bool   `json:"paused,omitempty"`
	Changed   bool   `json:"changed,omitempty"` // settings were changed; see replacedSettings
}

const (
	dueField   = "due"
	untilField = "until"
)

func (st syncState) item(teamID, id string) (table.Item, error) {
	body, err := json.Marshal(st.syncBody)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode the state of the sync: %w", err)
	}
	return table.Item{Key: syncKey(teamID, id), Version: st.version, Body: body,
		Numbers: map[string]int64{dueField: st.due, untilField: st.leaseUntil}}, nil
}

// leased reports whether a process holds the lease at now. A lease cannot end later than 2*leaseTime from now, unless the
// clock that set it was ahead. Such a lease does not count: if its process still works, only one of the two can save.
func (st syncState) leased(now time.Time) bool {
	left := millisToTime(st.leaseUntil).Sub(now)
	return left > 0 && left <= 2*leaseTime
}

// limited reports whether the provider may not be asked at now.
func (st syncState) limited(now time.Time) bool {
	return st.NotBefore > now.UnixMilli() && !isTooLate(st.NotBefore, now)
}

// isTooLate reports whether a time in Unix milliseconds is later than a next sync can be. A clock that was ahead made it.
func isTooLate(at int64, now time.Time) bool {
	return millisToTime(at).Sub(now) > 2*longestWait
}

func syncStateFrom(item table.Item) (syncState, error) {
	st := syncState{version: item.Version, due: item.Numbers[dueField], leaseUntil: item.Numbers[untilField]}
	if err := json.Unmarshal(item.Body, &st.syncBody); err != nil {
		return st, fmt.Errorf("decode the state of the sync: %w", err)
	}
	return st, nil
}

func (st syncState) progress() Progress {
	p := Progress{State: st.State, Part: st.Part, Read: st.Read, Removed: st.Removed, Rejected: st.Rejected}
	if began := max(st.Began, st.LastBegan); began > 0 {
		p.Began = time.UnixMilli(began).UTC()
	}
	if st.State == SyncWaiting || st.State == "" {
		p.State, p.Part, p.Next = SyncWaiting, "", time.UnixMilli(st.due).UTC()
	}
	if st.Paused {
		p.State, p.Next = SyncWaiting, time.Time{}
	}
	return p
}

// work returns the pending work of the next sync.
func (st syncState) work(teamID, id string) pending.Work {
	return pending.Work{Kind: pending.SyncSource, TeamID: teamID, ID: id, At: st.due}
}

// partState is the stored state of a part.
type partState struct {
	version int64
	partBody
}

type partBody struct {
	Checkpoint      []byte `json:"place,omitempty"`
	Before          []byte `json:"before,omitempty"`      // the checkpoint when the running full scan started; empty: everything is read
	ScanStarted     int64  `json:"walk,omitempty"`        // when the running full scan started; 0: none runs
	ScanRead        bool   `json:"walked,omitempty"`      // the scan has read everything; deleted items are still to be removed
	AskedInVain     int64  `json:"askedInVain,omitempty"` // when the provider first failed to say whether an item of the scan is deleted
	Exact           bool   `json:"exact,omitempty"`       // SyncPage.Exact of the scan
	Pages           int    `json:"pages,omitempty"`       // of the scan
	LastScanStarted int64  `json:"lastWalk,omitempty"`    // when the last finished full scan started
	LastReadBy      int64  `json:"readUntil,omitempty"`   // start time of the sync that last read it
	PassedBy        int64  `json:"passedBy,omitempty"`    // start time of the sync that last went on without it; see endTurn
	Listed          bool   `json:"listed,omitempty"`      // PartList named it
	Trail           *trail `json:"trail,omitempty"`       // of the pages of the running reading
	// Failed are the uris of what could not be read, the latest last; see Access.Try.
	Failed []string `json:"failed,omitempty"`
	// FailedBy is the start of the first sync that found new ones, if none has read the part to its end since.
	FailedBy int64 `json:"failedBy,omitempty"`
	// Unsaid are the uris of items of which the provider did not say whether they are deleted, the latest last: the others are asked about first.
	Unsaid []string `json:"unsaid,omitempty"`
	// HiddenSince is when the provider first did not show the part, 0 if it does, and Hidden whether the items are hidden for that; see ErrPartHidden.
	HiddenSince int64 `json:"hiddenSince,omitempty"`
	Hidden      bool  `json:"hidden,omitempty"`
	// Readers are those that not all stored items have got yet; see SyncPage.Readers.
	Readers *access.Names `json:"readers,omitempty"`
	Narrow  bool          `json:"narrow,omitempty"`
	Marked  string        `json:"marked,omitempty"`
}

func (p partState) item(teamID, id, part string) (table.Item, error) {
	body, err := json.Marshal(p.partBody)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode the state of %s: %w", part, err)
	}
	return table.Item{Key: partKey(teamID, id, part), Version: p.version, Body: body}, nil
}

func partStateFrom(item table.Item) (partState, error) {
	p := partState{version: item.Version}
	if err := json.Unmarshal(item.Body, &p.partBody); err != nil {
		return p, fmt.Errorf("decode the state of %s: %w", strings.TrimPrefix(item.Sort, "part#"), err)
	}
	return p, nil
}

// firstSync returns the operations that schedule the first sync of a new source,
// and its work; nil if no connector reads it.
func (s *Service) firstSync(teamID string, d DataSource, secrets Secrets) ([]table.Op, *pending.Work, error) {
	if p, _ := s.provider(d.Provider); s.Syncs == nil || !p.IsSynced(d.Settings, secrets) {
		return nil, nil, nil
	}
	st := syncState{version: 1, due: d.CreatedAt.UnixMilli()}
	item, err := st.item(teamID, d.ID)
	if err != nil {
		return nil, nil, err
	}
	work := st.work(teamID, d.ID)
	return []table.Op{table.Put{Item: item, If: table.Absent()}, work.Promise()}, &work, nil
}

// PlanMissing schedules the first sync of each of a team's sources that has none
// because it was created when no connector ran, and the next one of each that a clock that
// was ahead planned for a time that is far away. The sweeper sends the message of a first one. A
// repeated call changes nothing. It opens no secrets: a source that only they connect is
// scheduled when they are set.
func (s *Service) PlanMissing(ctx context.Context, teamID string) error {
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Collections, Partition: teamID}) {
		if err != nil {
			return fmt.Errorf("list data sources: %w", err)
		}
		if !collection.IsConnected(item) {
			continue
		}
		d := sourceFrom(item)
		if p, _ := s.provider(d.Provider); p.Connected != nil {
			item, err := s.Table.Get(ctx, settingsKey(teamID, d.ID))
			if errors.Is(err, table.ErrNotFound) {
				continue // deleted in the meantime
			}
			if err != nil {
				return fmt.Errorf("read settings: %w", err)
			}
			if d.Settings, err = settingsFrom(item); err != nil {
				return err
			}
		}
		ops, work, err := s.firstSync(teamID, d, nil)
		if err != nil {
			return err
		}
		if work == nil {
			continue
		}
		item, err := s.Table.Get(ctx, syncKey(teamID, d.ID))
		if err == nil {
			if isTooLate(item.Numbers[dueField], s.now()) {
				err = s.SyncSoon(ctx, teamID, d.ID)
			}
			if err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, table.ErrNotFound) {
			return fmt.Errorf("read the state of the sync: %w", err)
		}
		if err := s.Table.Write(ctx, ops...); err != nil && table.AsConditionFailed(err) == nil { // failed: another process was first
			return fmt.Errorf("schedule the first sync: %w", err)
		}
	}
	return nil
}
