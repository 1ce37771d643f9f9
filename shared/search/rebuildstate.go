package search

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"docent/shared/pending"
	"docent/shared/table"
)

// A family with outdated segments has one item with the progress of its rebuild. Every
// save changes its version, so of two workers that think they hold the lease only one
// can save.

// The partitions of the states, after the team. An older program that knows no vectors
// reads only the first.
const (
	rebuildPartition        = "/rebuild"
	meaningRebuildPartition = "/rebuild-meaning"
)

func rebuildKey(teamID string, f family) table.Key {
	partition := teamID + rebuildPartition
	if f.meaning {
		partition = teamID + meaningRebuildPartition
	}
	return table.Key{Table: table.Index, Partition: partition, Sort: f.source + "#" + string(f.space)}
}

// untilField is the end of the lease in Unix milliseconds; 0 means that no worker holds
// it.
const untilField = "until"

// rebuildState is the stored state of a rebuild.
type rebuildState struct {
	version int64
	until   int64
	rebuildBody
}

// rebuildBody is the part of the state that is stored as JSON. Times are Unix milliseconds.
type rebuildBody struct {
	Began   int64         `json:"began"`             // when it was planned, as in the key of its pending work
	Saved   int64         `json:"saved,omitempty"`   // when it was saved last
	Total   int64         `json:"total"`             // documents to read
	Done    int64         `json:"done"`              // documents read; it never decreases
	Ended   int64         `json:"ended,omitempty"`   // documents of finished scans and passes
	Asked   bool          `json:"asked,omitempty"`   // a rebuild of the whole family was requested
	Missing bool          `json:"missing,omitempty"` // a full scan for documents in no segment is needed
	Walked  string        `json:"walked,omitempty"`  // the model of the last finished full scan, in a family of vectors
	Walk    *rebuildWalk  `json:"walk,omitempty"`
	Pass    *rebuildPass  `json:"pass,omitempty"`
	Error   *RebuildError `json:"error,omitempty"`
}

// rebuildPass is the rebuild of some segments from the documents that they name.
type rebuildPass struct {
	Segments []segmentName   `json:"segments"`
	Next     int             `json:"next,omitempty"` // documents read, in the order of Segments
	Of       int             `json:"of"`             // documents of Segments
	Passages int             `json:"passages,omitempty"`
	Staged   []stagedSegment `json:"staged,omitempty"`
}

// rebuildWalk is a full scan of a family for documents that no segment contains.
type rebuildWalk struct {
	Instead []segmentName `json:"instead,omitempty"` // unreadable segments that it replaces
	After   string        `json:"after,omitempty"`   // place of the last scanned document
	Next    int           `json:"next,omitempty"`    // number of scanned documents
	Of      int           `json:"of"`                // about the number of all documents
}

// segmentName names a segment within its family.
type segmentName struct {
	Level int    `json:"level"`
	ID    string `json:"id"`
}

// stagedSegment is a new segment that no search sees yet.
type stagedSegment struct {
	segmentName
	Content recordContent `json:"content"`
}

func (n segmentName) record(teamID string, f family) record {
	return record{source: f.source, space: f.space, meaning: f.meaning, level: n.Level, id: n.ID, blob: f.blobName(teamID, n.ID)}
}

func (s stagedSegment) record(teamID string, f family) record {
	r := s.segmentName.record(teamID, f)
	r.content = s.Content
	return r
}

func namesOf(records []record) []segmentName {
	names := make([]segmentName, len(records))
	for i, r := range records {
		names[i] = segmentName{r.level, r.id}
	}
	return names
}

// meaningName ends the name of a family of vectors.
const meaningName = "#meaning"

// name returns the id of pending work for the family.
func (f family) name() string {
	name := f.source + "#" + string(f.space)
	if f.meaning {
		name += meaningName
	}
	return name
}

// familyNamed is the inverse of name.
func familyNamed(name string) (family, error) {
	name, meaning := strings.CutSuffix(name, meaningName)
	source, space, _ := strings.Cut(name, "#")
	f := family{source, Space(space), meaning}
	return f, f.check()
}

func (st rebuildState) work(teamID string, f family) pending.Work {
	return pending.Work{Kind: pending.RebuildIndex, TeamID: teamID, ID: f.name(), At: st.Began, Meaning: f.meaning}
}

func (st rebuildState) item(teamID string, f family) (table.Item, error) {
	body, err := json.Marshal(st.rebuildBody)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode the state of a rebuild: %w", err)
	}
	return table.Item{Key: rebuildKey(teamID, f), Version: st.version, Body: body,
		Numbers: map[string]int64{untilField: st.until}}, nil
}

func rebuildStateFrom(item table.Item) (rebuildState, error) {
	st := rebuildState{version: item.Version, until: item.Numbers[untilField]}
	if err := json.Unmarshal(item.Body, &st.rebuildBody); err != nil {
		return st, fmt.Errorf("decode the state of the rebuild %s: %w", item.Sort, err)
	}
	return st, nil
}

// stateOf reads the state of a family's rebuild. It returns table.ErrNotFound if there
// is none.
func (ix *Index) stateOf(ctx context.Context, teamID string, f family) (rebuildState, error) {
	item, err := ix.Table.Get(ctx, rebuildKey(teamID, f))
	if err != nil {
		return rebuildState{}, fmt.Errorf("read the state of a rebuild: %w", err)
	}
	return rebuildStateFrom(item)
}

// count updates Done, which never decreases and never exceeds Total.
func (st *rebuildState) count() {
	at := st.Ended
	if st.Pass != nil {
		at += int64(st.Pass.Next)
	}
	if st.Walk != nil {
		at += int64(min(st.Walk.Next, st.Walk.Of))
	}
	st.Done = max(st.Done, min(at, st.Total))
}

func (st rebuildState) left() int64 { return max(st.Total-st.Done, 0) }

// saveError stores an error in the state, for an operator to read.
func saveError(at time.Time, err error) *RebuildError {
	text := strings.ToValidUTF8(err.Error(), "?")
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + " …"
	}
	return &RebuildError{At: at.UTC(), Text: text}
}

const maxErrorText = 400
