package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// toRebuild returns how many documents the rebuild of a family with these segments
// reads: those of its outdated segments, or all of them for a full scan.
func toRebuild(records []record, missing bool) (documents int64) {
	all := int64(0)
	for _, r := range records {
		all += int64(r.content.Documents)
		switch why := r.outdated(); {
		case why == "":
		case why.namesDocuments():
			documents += int64(r.content.Documents)
		default:
			missing = true
		}
	}
	if missing {
		documents += all
	}
	return documents
}

// families groups the segments of a team by family, in the order of records.
func families(records []record) (order []family, of map[family][]record) {
	of = map[family][]record{}
	for _, r := range records {
		f := r.family()
		if of[f] == nil {
			order = append(order, f)
		}
		of[f] = append(of[f], r)
	}
	return order, of
}

// isOutdated reports whether a family has a segment to rebuild and none of a newer
// program. Otherwise it is left to that program.
func isOutdated(records []record) bool {
	return slices.ContainsFunc(records, func(r record) bool { return r.outdated() != "" }) &&
		!slices.ContainsFunc(records, record.newer)
}

// PlanRebuilds plans the rebuild of each family of the team that has an outdated segment, or
// documents without vectors, and no planned rebuild. It is for teams whose documents do not change; Merge does the same for the
// others.
func (ix *Index) PlanRebuilds(ctx context.Context, teamID string) error {
	records, err := ix.records(ctx, teamID, "")
	if err != nil {
		return err
	}
	embedded, err := ix.embedded(ctx, teamID)
	if err != nil || !slices.ContainsFunc(records, func(r record) bool { return r.outdated() != "" || ix.lacksMeaning(r.family(), embedded) }) {
		return err
	}
	live, err := ix.Corpus.Sources(ctx, teamID)
	if err != nil {
		return fmt.Errorf("list the live sources: %w", err)
	}
	records = slices.DeleteFunc(records, func(r record) bool {
		_, ok := live[r.source]
		return !ok
	})
	if err := ix.planOutdated(ctx, teamID, records); err != nil {
		return err
	}
	return ix.planMeaning(ctx, teamID, records, embedded)
}

// planOutdated plans the rebuilds of the families among records, which are all segments
// of the team's live sources.
func (ix *Index) planOutdated(ctx context.Context, teamID string, records []record) error {
	order, of := families(records)
	order = slices.DeleteFunc(order, func(f family) bool { return !isOutdated(of[f]) })
	if len(order) == 0 {
		return nil
	}
	planned, err := ix.rebuilds(ctx, teamID)
	if err != nil {
		return err
	}
	for _, f := range order {
		if _, ok := planned[f]; ok {
			continue
		}
		if _, err := ix.plan(ctx, teamID, f, rebuildBody{Total: toRebuild(of[f], false)}); err != nil {
			return err
		}
	}
	return nil
}

// rebuilds returns the states of a team's rebuilds.
func (ix *Index) rebuilds(ctx context.Context, teamID string) (map[family]rebuildState, error) {
	states := map[family]rebuildState{}
	for _, meaning := range []bool{false, true} {
		q := table.Query{Table: table.Index, Partition: rebuildKey(teamID, family{meaning: meaning}).Partition}
		for item, err := range table.All(ctx, ix.Table, q) {
			if err != nil {
				return nil, fmt.Errorf("list rebuilds: %w", err)
			}
			f, err := familyNamed(item.Sort)
			if err != nil {
				return nil, fmt.Errorf("rebuild %q: %w", item.Sort, err)
			}
			f.meaning = meaning
			if states[f], err = rebuildStateFrom(item); err != nil {
				return nil, err
			}
		}
	}
	return states, nil
}

// PendingRebuilds returns the work of a team's rebuilds, in the order of their starts.
func (ix *Index) PendingRebuilds(ctx context.Context, teamID string) ([]pending.Work, error) {
	states, err := ix.rebuilds(ctx, teamID)
	if err != nil {
		return nil, err
	}
	works := make([]pending.Work, 0, len(states))
	for f, st := range states {
		works = append(works, st.work(teamID, f))
	}
	slices.SortFunc(works, func(a, b pending.Work) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID))
	})
	return works, nil
}

// plan makes a rebuild pending, in one Write, and sends it. It returns false if there
// already is one.
func (ix *Index) plan(ctx context.Context, teamID string, f family, body rebuildBody) (bool, error) {
	body.Began = ix.Now().UnixMilli()
	st := rebuildState{version: 1, rebuildBody: body}
	item, err := st.item(teamID, f)
	if err != nil {
		return false, err
	}
	work := st.work(teamID, f)
	err = ix.Table.Write(ctx, table.Put{Item: item, If: table.Absent()}, work.PromiseLeft(st.left()))
	if table.AsConditionFailed(err) != nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("plan the rebuild of %s: %w", f.source, err)
	}
	ix.send(ctx, work)
	return true, nil
}

// send sends the message of pending work.
func (ix *Index) send(ctx context.Context, work pending.Work) {
	to := ix.Rebuilds
	if work.Meaning {
		to = ix.Embeddings
	}
	if to == nil {
		return
	}
	if err := to.Send(context.WithoutCancel(ctx), work.Outgoing(0)); err != nil && ix.Warn != nil {
		ix.Warn(work, err)
	}
}

// AskRebuild plans the rebuild of all segments of a source and space, and of documents that are in
// none, even if no segment is outdated. It returns false if there is nothing to rebuild or a newer
// program wrote a segment. The work is pending when it returns. If such a rebuild is already in
// progress, it continues unchanged.
func (ix *Index) AskRebuild(ctx context.Context, teamID, source string, space Space) (bool, error) {
	f := family{source: source, space: space}
	if err := f.check(); err != nil {
		return false, err
	}
	asked, err := ix.askRebuildOf(ctx, teamID, f)
	if err != nil || !asked || ix.model() == "" {
		return asked, err
	}
	f.meaning = true
	_, err = ix.askRebuildOf(ctx, teamID, f)
	return true, err
}

func (ix *Index) askRebuildOf(ctx context.Context, teamID string, f family) (bool, error) {
	switch st, err := ix.stateOf(ctx, teamID, f); {
	case err == nil && st.Asked:
		return true, nil
	case err != nil && !errors.Is(err, table.ErrNotFound):
		return false, err
	}
	for {
		records, err := ix.recordsOf(ctx, teamID, f)
		if err != nil || slices.ContainsFunc(records, record.newer) {
			return false, err
		}
		if len(records) == 0 {
			listed, err := ix.Corpus.List(ctx, teamID, f.source, f.space, "", 1)
			if err != nil || len(listed) == 0 {
				return false, err
			}
		}
		marked, err := ix.markAsked(ctx, teamID, records)
		if err != nil {
			return false, err
		}
		if marked {
			return true, ix.planMissing(ctx, teamID, f, toRebuild(records, true))
		}
	}
}

// markAsked marks the records that are not outdated yet. It returns false if a merge has
// replaced one in the meantime.
func (ix *Index) markAsked(ctx context.Context, teamID string, records []record) (bool, error) {
	for i, r := range records {
		if r.outdated() != "" {
			continue
		}
		op, err := r.mark(teamID, reasonAsked)
		if err == nil {
			err = ix.Table.Write(ctx, op)
		}
		if table.AsConditionFailed(err) != nil {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("mark a segment to be rebuilt: %w", err)
		}
		records[i].content.Mark = reasonAsked
	}
	return true, nil
}

// planMissing plans a rebuild that also looks for documents in no segment. If a rebuild
// is planned, it adds that to it.
func (ix *Index) planMissing(ctx context.Context, teamID string, f family, total int64) error {
	for {
		if planned, err := ix.plan(ctx, teamID, f, rebuildBody{Total: total, Asked: true, Missing: true}); err != nil || planned {
			return err
		}
		st, err := ix.stateOf(ctx, teamID, f)
		if errors.Is(err, table.ErrNotFound) {
			continue // it has just ended
		}
		if err != nil || st.Asked {
			return err
		}
		next := st
		next.version, next.until, next.Total = st.version+1, 0, st.Total+total
		next.Asked, next.Missing = true, true
		item, err := next.item(teamID, f)
		if err != nil {
			return err
		}
		work := next.work(teamID, f)
		err = ix.Table.Write(ctx, table.Put{Item: item, If: table.VersionIs(st.version)}, work.Extend(next.left(), ix.Now()))
		if table.AsConditionFailed(err) != nil {
			continue // its worker has saved it in the meantime
		}
		if err != nil {
			return fmt.Errorf("extend the rebuild of %s: %w", f.source, err)
		}
		ix.send(ctx, work)
		return nil
	}
}

// saveError stores an error in the state, for an operator to read.
func saveError(at time.Time, err error) *RebuildError {
	text := strings.ToValidUTF8(err.Error(), "?")
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + " …"
	}
	return &RebuildError{At: at.UTC(), Text: text}
}

const maxErrorText = 400
