package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"docent/shared/collection"
	"docent/shared/pending"
	"docent/shared/table"
)

// A source that a connector reads has, beside its settings, an item with the state
// of its sync, one a part with the place up to which it is read, and while
// everything is walked one a page with the ids of what the page held. Its next sync
// is pending work of the time when it is due.

func syncKey(teamID, id string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/source/" + id, Sort: "sync"}
}

// anotherSyncKey stands beside a sync under way when another one was asked for.
func anotherSyncKey(teamID, id string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/source/" + id, Sort: "sync-asked"}
}

func partKey(teamID, id, part string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/source/" + id, Sort: "part#" + part}
}

func scanMarkPrefix(part string, walk int64) string { return fmt.Sprintf("seen#%s#%013d#", part, walk) }

func scanMarkKey(teamID, id, part string, walk int64, page int) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/source/" + id, Sort: scanMarkPrefix(part, walk) + fmt.Sprintf("%08d", page)}
}

// scanMarkLife is how long the marks of a walk are kept that was never finished.
const scanMarkLife = 30 * 24 * time.Hour

// The states of a sync.
const (
	SyncWaiting  = "waiting"  // for its time
	SyncReading  = "reading"  // what there is, part by part
	SyncRemoving = "removing" // what is gone
)

// Progress is how far the sync of a data source is, or how the last one went.
type Progress struct {
	State    string    `json:"state" enum:"waiting,reading,removing"`
	Part     string    `json:"part,omitempty" doc:"What is being read."`
	Read     int       `json:"read" doc:"Items read by this sync, or by the last one."`
	Removed  int       `json:"removed" doc:"Items removed because the provider no longer has them."`
	Rejected int       `json:"rejected" doc:"Items left out because they are out of bounds."`
	Began    time.Time `json:"began,omitzero"`
	Next     time.Time `json:"next,omitzero" doc:"When the next sync is due."`
}

// syncState is the stored state of a sync. The version of its item changes with
// each save, so that of two who believe to be at it only one goes on.
type syncState struct {
	version    int64
	due        int64 // Unix milliseconds in the key of the pending work
	leaseUntil int64 // Unix milliseconds until which somebody is at it; 0: nobody
	syncBody
}

type syncBody struct {
	Began     int64  `json:"began,omitempty"` // of the sync under way; 0: there is none
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
	Failures  int    `json:"failures,omitempty"`  // syncs in a row
	NotBefore int64  `json:"notBefore,omitempty"` // the provider wants to be left alone until then
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
	return p
}

// work is the pending work of the next sync.
func (st syncState) work(teamID, id string) pending.Work {
	return pending.Work{Kind: pending.SyncSource, TeamID: teamID, ID: id, At: st.due}
}

// partState is how far a part is read.
type partState struct {
	version int64
	partBody
}

type partBody struct {
	Checkpoint      []byte `json:"place,omitempty"`
	ScanStarted     int64  `json:"walk,omitempty"`      // when the walk of everything began that is under way; 0: there is none
	ScanRead        bool   `json:"walked,omitempty"`    // it has come to its end, and what is gone is to be removed
	Exact           bool   `json:"exact,omitempty"`     // it was exact
	Pages           int    `json:"pages,omitempty"`     // of it
	LastScanStarted int64  `json:"lastWalk,omitempty"`  // when the last finished walk of everything began
	LastReadBy      int64  `json:"readUntil,omitempty"` // the sync that has read it last
}

func (p partState) item(teamID, id, part string) (table.Item, error) {
	body, err := json.Marshal(p.partBody)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode the place in %s: %w", part, err)
	}
	return table.Item{Key: partKey(teamID, id, part), Version: p.version, Body: body}, nil
}

func partStateFrom(item table.Item) (partState, error) {
	p := partState{version: item.Version}
	if err := json.Unmarshal(item.Body, &p.partBody); err != nil {
		return p, fmt.Errorf("decode the place in %s: %w", strings.TrimPrefix(item.Sort, "part#"), err)
	}
	return p, nil
}

// firstSync are the operations that make the first sync of a new source due.
func (s *Service) firstSync(teamID string, d DataSource) ([]table.Op, *pending.Work, error) {
	if s.Syncs == nil || !s.isSynced(d.Provider) {
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

// PlanMissing makes the first sync due of a team's sources that have none: they were
// made where no connector ran. The sweeper sends it. Doing it again changes nothing.
func (s *Service) PlanMissing(ctx context.Context, teamID string) error {
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Collections, Partition: teamID}) {
		if err != nil {
			return fmt.Errorf("list data sources: %w", err)
		}
		if !collection.IsConnected(item) {
			continue
		}
		d := sourceFrom(item)
		ops, work, err := s.firstSync(teamID, d)
		if err != nil {
			return err
		}
		if work == nil {
			continue
		}
		if _, err := s.Table.Get(ctx, syncKey(teamID, d.ID)); err == nil {
			continue
		} else if !errors.Is(err, table.ErrNotFound) {
			return fmt.Errorf("read the state of the sync: %w", err)
		}
		if err := s.Table.Write(ctx, ops...); err != nil && table.AsConditionFailed(err) == nil { // failed: somebody else was first
			return fmt.Errorf("make the first sync due: %w", err)
		}
	}
	return nil
}
