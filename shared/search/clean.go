package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/shared/blob"
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
func (ix *Index) Clean(ctx context.Context) (removed int, err error) {
	due := table.Query{Table: table.Index, Partition: cleanupPartition, To: table.Padded(ix.Now().UnixMilli()) + "#~"}
	for item, err := range table.All(ctx, ix.Table, due) {
		if err != nil {
			return removed, fmt.Errorf("read due clean-ups: %w", err)
		}
		var blobs []string
		if err := json.Unmarshal(item.Body, &blobs); err != nil {
			return removed, fmt.Errorf("clean-up %s: %w", item.Sort, err)
		}
		if err := ix.Blobs.Delete(ctx, blobs...); err != nil {
			return removed, fmt.Errorf("remove blobs: %w", err)
		}
		if err := ix.Table.Write(ctx, table.Delete{Key: item.Key}); err != nil {
			return removed, fmt.Errorf("end a clean-up: %w", err)
		}
		removed += len(blobs)
	}
	n, err := ix.cleanOrphans(ctx)
	return removed + n, err
}

// cleanOrphans removes blobs without a record if that is due. It claims the search first.
func (ix *Index) cleanOrphans(ctx context.Context) (removed int, err error) {
	key := table.Key{Table: table.Index, Partition: cleanupPartition, Sort: orphansSort}
	claim := table.Put{Item: table.Item{Key: key, Version: ix.Now().UnixMilli()}, If: table.Absent()}
	switch last, err := ix.Table.Get(ctx, key); {
	case err == nil:
		if ix.Now().Sub(time.UnixMilli(last.Version)) < orphanEvery {
			return 0, nil
		}
		claim.If = table.VersionIs(last.Version)
	case !errors.Is(err, table.ErrNotFound):
		return 0, fmt.Errorf("read the last search for blobs without a record: %w", err)
	}
	if err := ix.Table.Write(ctx, claim); err != nil {
		if table.AsConditionFailed(err) != nil {
			return 0, nil
		}
		return 0, fmt.Errorf("claim the search for blobs without a record: %w", err)
	}
	waiting, err := ix.waiting(ctx)
	if err != nil {
		return 0, err
	}
	for _, prefix := range []string{blobPrefix, vectorPrefix} {
		n, err := ix.cleanPrefix(ctx, prefix, waiting)
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// cleanPrefix removes old blobs without a record whose names start with prefix and a team.
func (ix *Index) cleanPrefix(ctx context.Context, prefix string, waiting map[string]bool) (removed int, err error) {
	var old []blob.Info // of one team
	team := ""
	for b, err := range ix.Blobs.List(ctx, prefix) {
		if err != nil {
			return removed, fmt.Errorf("list blobs: %w", err)
		}
		of, _, _ := strings.Cut(strings.TrimPrefix(b.Name, prefix), "/")
		if of != team {
			n, err := ix.removeUnnamed(ctx, team, old)
			if removed += n; err != nil {
				return removed, err
			}
			team, old = of, old[:0]
		}
		if ix.Now().Sub(b.Modified) >= orphanAge && !waiting[b.Name] {
			old = append(old, b)
		}
	}
	n, err := ix.removeUnnamed(ctx, team, old)
	return removed + n, err
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
	records, err := ix.records(ctx, teamID, "")
	if err != nil {
		return 0, err
	}
	named := map[string]bool{}
	for _, r := range records {
		named[r.blob] = true
	}
	rebuilds, err := ix.rebuilds(ctx, teamID)
	if err != nil {
		return 0, err
	}
	for f, st := range rebuilds {
		if st.Pass != nil {
			for _, s := range st.Pass.Staged {
				named[f.blobName(teamID, s.ID)] = true
			}
		}
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
