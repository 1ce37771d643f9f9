package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/blob"
	"docent/shared/pause"
	"docent/shared/table"
)

// The times of removing blobs without a record.
const (
	orphanAge   = 24 * time.Hour
	orphanEvery = 24 * time.Hour
)

// Clean removes blobs that no record names any more: those whose removal is due and, once per
// day, those that a crash left without a record. It returns how many it removed. Running it
// twice in parallel is harmless.
//
// A search that ctx ends keeps its place, and the next call continues it.
func (ix *Index) Clean(ctx context.Context) (removed int, err error) {
	ctx = table.Freeing(ctx)
	due := table.Query{Table: table.Index, Partition: cleanupPartition, To: table.Padded(ix.Now().UnixMilli()) + "#~"}
	var count atomic.Int64
	work, wctx := errgroup.WithContext(ctx)
	work.SetLimit(max(ix.Parallel, 1))
	for item, err := range table.All(wctx, ix.Table, due) {
		if err != nil {
			return int(count.Load()), errors.Join(work.Wait(), fmt.Errorf("read due clean-ups: %w", err))
		}
		work.Go(func() error {
			n, err := ix.cleanUp(wctx, item)
			count.Add(int64(n))
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return int(count.Load()), err
	}
	n, err := ix.cleanOrphans(ctx)
	return int(count.Load()) + n, err
}

// cleanUp removes the blobs of a due clean-up, and returns how many there were.
func (ix *Index) cleanUp(ctx context.Context, item table.Item) (int, error) {
	var blobs []string
	if err := json.Unmarshal(item.Body, &blobs); err != nil {
		return 0, fmt.Errorf("clean-up %s: %w", item.Sort, err)
	}
	if err := ix.Blobs.Delete(ctx, blobs...); err != nil {
		return 0, fmt.Errorf("remove blobs: %w", err)
	}
	if err := ix.Table.Write(ctx, table.Delete{Key: item.Key}); err != nil {
		return 0, fmt.Errorf("end a clean-up: %w", err)
	}
	return len(blobs), nil
}

// afterField is the name of the last blob that an unfinished search has looked at.
const afterField = "after"

// saveFor bounds saving the place of a search after its time is over.
const saveFor = time.Second

// cleanOrphans removes blobs without a record if that is due, and continues a search that is not
// finished. It claims a new search first. Of two that continue one, both do the same.
func (ix *Index) cleanOrphans(ctx context.Context) (removed int, err error) {
	key := table.Key{Table: table.Index, Partition: cleanupPartition, Sort: orphansSort}
	last, err := ix.Table.Get(ctx, key)
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return 0, fmt.Errorf("read the last search for blobs without a record: %w", err)
	}
	search := table.Put{Item: table.Item{Key: key, Version: last.Version}, If: table.VersionIs(last.Version)}
	place := last.Strings[afterField]
	if place == "" {
		since := ix.Now().Sub(time.UnixMilli(last.Version)) // below 0: the clock was ahead then
		if err == nil && since >= 0 && since < orphanEvery {
			return 0, nil
		}
		if err != nil {
			search.If = table.Absent()
		}
		search.Item.Version = ix.Now().UnixMilli()
		if err := ix.Table.Write(ctx, search); err != nil {
			if table.AsConditionFailed(err) != nil {
				return 0, nil
			}
			return 0, fmt.Errorf("claim the search for blobs without a record: %w", err)
		}
		search.If = table.VersionIs(search.Item.Version)
	}
	waiting, err := ix.waiting(ctx)
	if err != nil {
		return 0, err
	}
	var failed []error
	after := place
	for _, prefix := range []string{blobPrefix, vectorPrefix} {
		if after > prefix && !strings.HasPrefix(after, prefix) {
			continue // it is done
		}
		var n int
		n, after, err = ix.cleanPrefix(ctx, prefix, after, waiting)
		removed += n
		failed = append(failed, err)
		if ctx.Err() != nil {
			search.Item.Strings = map[string]string{afterField: max(after, prefix)}
			break
		}
	}
	if search.Item.Strings[afterField] == "" && place == "" {
		return removed, errors.Join(failed...) // it began and ended here
	}
	ctx, cancel := pause.WithGrace(ctx, saveFor)
	defer cancel()
	if err := ix.Table.Write(ctx, search); err != nil && table.AsConditionFailed(err) == nil {
		failed = append(failed, fmt.Errorf("save the place of the search for blobs without a record: %w", err))
	}
	return removed, errors.Join(failed...)
}

// teamBlobs are blobs of a team that are old enough to have a record.
type teamBlobs struct {
	team  string
	blobs []blob.Info
}

// teamsAtOnce is how many teams cleanPrefix looks at between two places.
const teamsAtOnce = 64

// cleanPrefix removes old blobs without a record whose names start with prefix and a team, from the
// name after on. It returns the place up to which it is done. It continues after failures with a
// team, which are for the next search, and returns them joined.
func (ix *Index) cleanPrefix(ctx context.Context, prefix, after string, waiting map[string]bool) (removed int, place string, err error) {
	place = after
	var failed []error
	var teams []teamBlobs
	flush := func(to string) {
		n, err := ix.removeAllUnnamed(ctx, teams)
		removed, teams = removed+n, teams[:0]
		if ctx.Err() == nil {
			place = to
		}
		failed = append(failed, err)
	}
	last := after
	for b, err := range ix.Blobs.ListAfter(ctx, prefix, after) {
		if err != nil {
			return removed, place, errors.Join(append(failed, fmt.Errorf("list blobs: %w", err))...)
		}
		of, _, _ := strings.Cut(strings.TrimPrefix(b.Name, prefix), "/")
		if n := len(teams); n == teamsAtOnce && teams[n-1].team != of {
			flush(last)
		}
		last = b.Name
		if ix.Now().Sub(b.Modified) < orphanAge || waiting[b.Name] {
			continue
		}
		if n := len(teams); n == 0 || teams[n-1].team != of {
			teams = append(teams, teamBlobs{team: of})
		}
		t := &teams[len(teams)-1]
		t.blobs = append(t.blobs, b)
	}
	flush(last)
	return removed, place, errors.Join(failed...)
}

// removeAllUnnamed is removeUnnamed for several teams.
func (ix *Index) removeAllUnnamed(ctx context.Context, teams []teamBlobs) (int, error) {
	var removed atomic.Int64
	failed := make([]error, len(teams))
	var work errgroup.Group
	work.SetLimit(max(ix.Parallel, 1))
	for i, t := range teams {
		work.Go(func() error {
			n, err := ix.removeUnnamed(ctx, t.team, t.blobs)
			removed.Add(int64(n))
			failed[i] = err
			return nil
		})
	}
	_ = work.Wait() // failed has the errors
	return int(removed.Load()), errors.Join(failed...)
}

// waiting returns the blobs whose removal is not due yet.
func (ix *Index) waiting(ctx context.Context) (map[string]bool, error) {
	names := map[string]bool{}
	for item, err := range table.All(ctx, ix.Table, table.Query{Table: table.Index, Partition: cleanupPartition, To: "9~"}) {
		if err != nil {
			return nil, fmt.Errorf("read clean-ups: %w", err)
		}
		var blobs []string
		if err := json.Unmarshal(item.Body, &blobs); err != nil {
			return nil, fmt.Errorf("clean-up %s: %w", item.Sort, err)
		}
		for _, b := range blobs {
			names[b] = true
		}
	}
	return names, nil
}

// removeUnnamed removes the blobs of a team that neither a segment record nor a rebuild
// names.
func (ix *Index) removeUnnamed(ctx context.Context, teamID string, blobs []blob.Info) (int, error) {
	if len(blobs) == 0 {
		return 0, nil
	}
	// A rebuild names its segments until it publishes them. So what it publishes in the meantime is in one of the two.
	rebuilds, err := ix.rebuilds(ctx, teamID)
	if err != nil {
		return 0, err
	}
	records, err := ix.records(ctx, teamID, "")
	if err != nil {
		return 0, err
	}
	named := map[string]bool{}
	for f, st := range rebuilds {
		if st.Pass != nil {
			for _, s := range st.Pass.Staged {
				named[f.blobName(teamID, s.ID)] = true
			}
		}
	}
	for _, r := range records {
		named[r.blob] = true
	}
	var names []string
	for _, b := range blobs {
		if !named[b.Name] {
			names = append(names, b.Name)
		}
	}
	if err := ix.Blobs.Delete(ctx, names...); err != nil {
		return 0, fmt.Errorf("remove blobs without a record: %w", err)
	}
	return len(names), nil
}

// DropSource removes the segment records, counters and rebuilds of a source that is no
// longer live. Their blobs are removed in an hour, those of a rebuild in a day.
// Repeating it is harmless.
func (ix *Index) DropSource(ctx context.Context, teamID, source string) error {
	if err := (family{source: source, space: Documentation}).check(); err != nil {
		return err
	}
	records, err := ix.records(ctx, teamID, source+"#")
	if err != nil {
		return err
	}
	for some := range slices.Chunk(records, mergeMost) {
		var ops []table.Op
		var blobs []string
		for _, r := range some {
			ops = append(ops, table.Delete{Key: r.key(teamID)})
			blobs = append(blobs, r.blob)
		}
		op, err := ix.cleanup(ix.Now().Add(blobGrace), blobs)
		if err != nil {
			return err
		}
		if err := ix.Table.Write(ctx, append(ops, op)...); err != nil {
			return fmt.Errorf("remove the segments of a source: %w", err)
		}
	}
	var counters []table.Op
	for _, space := range Spaces {
		f := family{source: source, space: space}
		counters = append(counters, table.Delete{Key: staleKey(teamID, f)}, table.Delete{Key: rebuildKey(teamID, f)})
		f.meaning = true
		counters = append(counters, table.Delete{Key: rebuildKey(teamID, f)})
	}
	if err := ix.Table.Write(ctx, counters...); err != nil {
		return fmt.Errorf("remove the counters and rebuilds of a source: %w", err)
	}
	return nil
}
