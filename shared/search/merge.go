package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"docent/shared/search/segment"
	"docent/shared/table"
)

// Bounds of merging.
const (
	mergeWidth    = 10        // segments of a level that become one of the next
	mergeBytes    = 128 << 20 // a segment over this is not merged further
	mergeMost     = 90        // segments in one Write
	staleDivisor  = 4         // the share of passages that may be stale is 1 / staleDivisor
	currentAtOnce = 1000      // documents in one request for versions
	blobGrace     = time.Hour // for queries that have listed a segment but not yet read it
)

// The partition and numbers of the items that count the stale passages of a source and space: since
// the last merge of all its postings, and of all its vectors.
const (
	stalePartition    = "/stale" // after the team
	staleField        = "n"
	staleMeaningField = "meaning"
)

// staleField returns the number that counts the stale passages of f.
func (f family) staleField() string {
	if f.meaning {
		return staleMeaningField
	}
	return staleField
}

// staleKey returns the key of the item that counts the stale passages of f.
func staleKey(teamID string, f family) table.Key {
	return table.Key{Table: table.Index, Partition: teamID + stalePartition, Sort: f.source + "#" + string(f.space)}
}

// Stale counts passages of a family that were replaced or deleted.
func (ix *Index) Stale(ctx context.Context, teamID, source string, space Space, passages int) error {
	f := family{source: source, space: space}
	if err := f.check(); err != nil || passages <= 0 {
		return err
	}
	_, err := ix.Table.Add(ctx, table.Add{Key: staleKey(teamID, f), By: map[string]int64{staleField: int64(passages), staleMeaningField: int64(passages)}})
	if err != nil {
		return fmt.Errorf("count stale passages: %w", err)
	}
	return nil
}

// Merge merges what is due in the team's families, and returns how many segments it
// replaced or removed. Ten segments of a level become one of the next, without
// documents that were deleted or replaced. A family of which more than a quarter is
// stale is merged whole.
//
// Merge leaves outdated, damaged and missing segments as they are and plans their rebuild. It
// removes segments of a source that is no longer live, which a slow publish left after
// DropSource. It skips segments that another worker merges at the same time.
func (ix *Index) Merge(ctx context.Context, teamID string) (merged int, err error) {
	// Every round replaces segments by fewer of a higher level, so the loop ends.
	for {
		due, dropped, err := ix.due(ctx, teamID)
		merged += dropped
		if err != nil || len(due) == 0 {
			return merged, err
		}
		progress := false
		for _, d := range due {
			n, marked, err := ix.mergeOne(ctx, teamID, d)
			if err != nil {
				return merged, err
			}
			merged += n
			progress = progress || n > 0 || marked
		}
		if !progress {
			return merged, nil
		}
	}
}

// dueMerge is a merge that is due.
type dueMerge struct {
	family  family
	records []record
	level   int   // of the result
	counted int64 // stale passages of the family
	stale   int64 // to subtract from the counter
}

// due finds the merges that are due, plans rebuilds, and drops sources that are no
// longer live. dropped is the number of their segments.
func (ix *Index) due(ctx context.Context, teamID string) (due []dueMerge, dropped int, err error) {
	stale := map[family]int64{}
	embedded := map[family]string{}
	segments := map[string]int{} // by source
	for item, err := range table.All(ctx, ix.Table, table.Query{Table: table.Index, Partition: teamID + stalePartition}) {
		if err != nil {
			return nil, 0, fmt.Errorf("read stale counts: %w", err)
		}
		f, err := familyNamed(item.Sort)
		if err != nil {
			return nil, 0, fmt.Errorf("stale count %q: %w", item.Sort, err)
		}
		segments[f.source] = 0
		stale[f] = item.Numbers[f.staleField()]
		f.meaning = true // the segments of vectors of the same documents, which the item counts too
		stale[f], embedded[f] = item.Numbers[f.staleField()], item.Strings[embeddedField]
	}
	records, err := ix.records(ctx, teamID, "")
	if err != nil {
		return nil, 0, err
	}
	for _, r := range records {
		segments[r.source]++
	}
	// A source is live before any of its documents is indexed, and never again after it is
	// deleted. So segments listed above whose source is not live now are leftovers.
	live, err := ix.Corpus.Sources(ctx, teamID)
	if err != nil {
		return nil, 0, fmt.Errorf("list the live sources: %w", err)
	}
	for _, source := range slices.Sorted(maps.Keys(segments)) {
		if _, ok := live[source]; ok {
			continue
		}
		if err := ix.DropSource(ctx, teamID, source); err != nil {
			return nil, dropped, err
		}
		dropped += segments[source]
	}
	records = slices.DeleteFunc(records, func(r record) bool {
		_, ok := live[r.source]
		return !ok
	})
	if err := ix.planOutdated(ctx, teamID, records); err != nil {
		return nil, dropped, err
	}
	if err := ix.planMeaning(ctx, teamID, records, embedded); err != nil {
		return nil, dropped, err
	}
	if err := ix.forgetEmbedded(ctx, teamID, embedded); err != nil {
		return nil, dropped, err
	}
	order, of := families(records)
	for _, f := range order {
		if f.meaning && ix.model() == "" {
			continue // they may be of several models
		}
		due = append(due, dueIn(f, of[f], stale[f])...)
	}
	return due, dropped, nil
}

func dueIn(f family, records []record, stale int64) []dueMerge {
	if slices.ContainsFunc(records, record.newer) {
		return nil
	}
	all := len(records)
	records = slices.DeleteFunc(records, func(r record) bool { return r.outdated() != "" })
	passages, top := int64(0), 0
	levels := map[int][]record{}
	for _, r := range records {
		passages += int64(r.content.Passages)
		top = max(top, r.level)
		levels[r.level] = append(levels[r.level], r)
	}
	slices.SortFunc(records, func(a, b record) int { return cmp.Compare(a.id, b.id) })
	// The rebuild of an outdated segment removes its stale passages and subtracts them from
	// the count.
	if stale*staleDivisor > passages && len(records) == all {
		var due []dueMerge
		for len(records) > 0 {
			n := fitting(records, mergeMost)
			due = append(due, dueMerge{family: f, records: records[:n], level: top})
			records = records[n:]
		}
		due[len(due)-1].stale = stale
		return due
	}
	for level := 0; level <= top; level++ {
		own := slices.DeleteFunc(levels[level], func(r record) bool { return r.content.Bytes > mergeBytes })
		slices.SortFunc(own, func(a, b record) int { return cmp.Compare(a.id, b.id) })
		for ; len(own) >= mergeWidth; own = own[1:] { // one that fits with none stays
			if n := fitting(own, mergeWidth); n > 1 {
				return []dueMerge{{family: f, records: own[:n], level: min(level+1, 99), counted: stale}}
			}
		}
	}
	return nil
}

// fitting returns how many of records, from one to most, make a segment within
// mergeBytes.
func fitting(records []record, most int) int {
	bytes, n := 0, 0
	for _, r := range records {
		bytes += r.content.Bytes
		if n > 0 && bytes > mergeBytes || n == most {
			break
		}
		n++
	}
	return n
}

// mergeOne makes one merge and returns how many segments it replaced, 0 if another worker was
// faster. If a segment is damaged or missing, it marks that segment and replaces none.
func (ix *Index) mergeOne(ctx context.Context, teamID string, d dueMerge) (replaced int, marked bool, err error) {
	var segments []*segment.Segment
	for _, r := range d.records {
		s, err := ix.readToMerge(ctx, r)
		if isLost(err) {
			return ix.lost(ctx, teamID, r, err)
		}
		if err != nil {
			return 0, false, err
		}
		segments = append(segments, s)
	}
	b, err := ix.combine(ctx, teamID, segments)
	if part := new(segment.PartError); isLost(err) && errors.As(err, &part) {
		return ix.lost(ctx, teamID, d.records[part.Part], part.Err)
	}
	if err != nil {
		return 0, false, fmt.Errorf("merge %d segments of %s: %w", len(segments), d.family.source, err)
	}
	if d.stale == 0 {
		d.stale = min(d.counted, int64(passagesOf(segments)-b.Passages))
	}
	var made []segment.File
	if b.Documents > 0 {
		made = append(made, b)
	}
	if ok, err := ix.replace(ctx, teamID, d, made); err != nil || !ok {
		return 0, false, err
	}
	return len(d.records), false, nil
}

// combine makes one segment of the current documents of segments.
func (ix *Index) combine(ctx context.Context, teamID string, segments []*segment.Segment) (segment.File, error) {
	current, err := ix.current(ctx, teamID, segments)
	if err != nil {
		return segment.File{}, err
	}
	return segment.Combine(segments, current)
}

// lost marks r, which could not be read, unless another worker has merged it.
func (ix *Index) lost(ctx context.Context, teamID string, r record, err error) (replaced int, marked bool, _ error) {
	if _, gone := ix.Table.Get(ctx, r.key(teamID)); errors.Is(gone, table.ErrNotFound) {
		return 0, false, nil
	}
	return 0, true, ix.markDamaged(ctx, teamID, r, err)
}

func passagesOf(segments []*segment.Segment) int {
	n := 0
	for _, s := range segments {
		n += s.Passages
	}
	return n
}

// current returns the current versions of all documents of segments. The error about one of segments is a segment.PartError.
func (ix *Index) current(ctx context.Context, teamID string, segments []*segment.Segment) (map[uuid.UUID]int64, error) {
	all := map[uuid.UUID]int64{}
	ids := make([]uuid.UUID, 0, currentAtOnce)
	read := func() error {
		current, err := ix.Corpus.Current(ctx, teamID, ids)
		if err != nil {
			return fmt.Errorf("read the current versions: %w", err)
		}
		maps.Copy(all, current)
		ids = ids[:0]
		return nil
	}
	for part, s := range segments {
		for i := range s.Documents {
			id, _, err := s.Identify(i)
			if err != nil {
				return nil, &segment.PartError{Part: part, Err: err}
			}
			if ids = append(ids, id); len(ids) < currentAtOnce {
				continue
			}
			if err := read(); err != nil {
				return nil, err
			}
		}
	}
	if len(ids) == 0 {
		return all, nil
	}
	return all, read()
}

// replace publishes made instead of d.records in one Write. If one of d.records no longer
// exists, it changes nothing and returns false.
func (ix *Index) replace(ctx context.Context, teamID string, d dueMerge, made []segment.File) (bool, error) {
	var ops []table.Op
	var blobs []string
	for _, r := range d.records {
		ops = append(ops, table.Delete{Key: r.key(teamID), If: table.Exists()})
		blobs = append(blobs, r.blob)
	}
	var stored []record
	for _, b := range made {
		r, op, err := ix.store(ctx, teamID, d.family, d.level, b)
		if err != nil {
			ix.discard(ctx, errNotWritten, stored)
			return false, err
		}
		stored, ops = append(stored, r), append(ops, op)
	}
	if len(blobs) > 0 {
		op, err := ix.cleanup(ix.Now().Add(blobGrace), blobs)
		if err != nil {
			return false, err
		}
		ops = append(ops, op)
	}
	if d.stale != 0 {
		ops = append(ops, table.Add{Key: staleKey(teamID, d.family), By: map[string]int64{d.family.staleField(): -d.stale}})
	}
	if len(ops) == 0 {
		return true, nil
	}
	err := ix.Table.Write(ctx, ops...)
	if err == nil {
		return true, nil
	}
	ix.withdraw(ctx, teamID, err, stored)
	if table.AsConditionFailed(err) != nil || errors.Is(err, table.ErrConflict) {
		return false, nil
	}
	return false, fmt.Errorf("replace %d segments: %w", len(d.records), err)
}
