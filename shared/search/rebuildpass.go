package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/shared/search/segment"
	"docent/shared/table"
)

// Bounds of one slice. The first one reached ends it, but not before its first
// document.
const (
	slicePassages = 20_000
	sliceBytes    = 16 << 20 // of text
	sliceTime     = 10 * time.Second
)

// foldAtLeast is the number of staged segments of one level that are merged into one of the
// next level.
const foldAtLeast = mergeWidth

// slice collects the documents of one slice.
type slice struct {
	segmentBuilder
	bytes int
	began time.Time
}

func (r *rebuilding) newSlice() *slice {
	return &slice{segmentBuilder: r.newBuilder(r.family), began: time.Now()}
}

func (s *slice) add(ctx context.Context, d Document) error {
	s.bytes += len(d.Body)
	return s.segmentBuilder.add(ctx, d)
}

// full reports whether the slice has reached a bound.
func (s *slice) full(ctx context.Context, r *rebuilding) bool {
	return s.count() >= cmp.Or(r.slicePassages, slicePassages) || s.bytes >= sliceBytes || time.Since(s.began) >= sliceTime || r.over(ctx)
}

// passSlice reads the next documents of the pass into a new segment. It takes only documents
// whose version in the old segment is current. The others were indexed again or deleted.
func (r *rebuilding) passSlice(ctx context.Context) error {
	if err := r.loadNames(ctx); err != nil || r.state.Pass == nil {
		return err
	}
	pass, slice := *r.state.Pass, r.newSlice()
	names := func(yield func(wanted) bool) {
		for i := pass.Next; i < pass.Of; i++ {
			id, version := r.names.At(i)
			if !yield(wanted{id, version, i}) {
				return
			}
		}
	}
	next := pass.Of
	for found, err := range r.inOrder(ctx, names) {
		if err != nil {
			return fmt.Errorf("read the documents of %s: %w", r.family.source, err)
		}
		if found.at > pass.Next && slice.full(ctx, r) {
			next = found.at
			break
		}
		if found.document != nil {
			if err := slice.add(ctx, *found.document); err != nil {
				return err
			}
		}
	}
	pass.Next = next
	return r.savePass(ctx, pass, slice)
}

// savePass stages the slice. After the last one it replaces the pass's segments by all
// staged ones.
func (r *rebuilding) savePass(ctx context.Context, pass rebuildPass, slice *slice) error {
	made, err := slice.finish(ctx)
	if err != nil {
		return fmt.Errorf("build a segment of %s: %w", r.family.source, err)
	}
	var stored []record
	pass.Staged = slices.Clone(pass.Staged)
	if made.Documents > 0 {
		s, _, err := r.store(ctx, r.teamID, r.family, levelOf(made.Documents), made)
		if err != nil {
			return err
		}
		stored = append(stored, s)
		pass.Staged = append(pass.Staged, stagedSegment{segmentName{s.level, s.id}, s.content})
	}
	next := r.state
	var ops []table.Op
	if pass.Next < pass.Of {
		next.Pass = &pass
	} else {
		if ops, err = r.replacing(ctx, pass); err != nil {
			return err
		}
		next.Pass, next.Ended = nil, next.Ended+int64(pass.Of)
	}
	if err := r.save(ctx, next, ops...); err != nil {
		r.unstore(ctx, err, stored)
		return err
	}
	return nil
}

// unstore is discard for records that save did not save.
func (r *rebuilding) unstore(ctx context.Context, cause error, stored []record) {
	if errors.Is(cause, errLeaseLost) || errors.Is(cause, errChanged) {
		cause = errNotWritten
	}
	r.discard(ctx, cause, stored)
}

// removing returns the operations that remove segments. Their blobs follow in an hour.
func (r *rebuilding) removing(ctx context.Context, segments []segmentName) (ops []table.Op, err error) {
	if len(segments) == 0 {
		return nil, nil
	}
	var keys []table.Key
	var blobs []string
	for _, n := range segments {
		s := n.record(r.teamID, r.family)
		keys, blobs = append(keys, s.key(r.teamID)), append(blobs, s.blob)
	}
	_, err = r.Table.BatchGet(ctx, keys)
	damaged := table.AsDamaged(err)
	if err != nil && damaged == nil {
		return nil, fmt.Errorf("read the segments that a rebuild replaces: %w", err)
	}
	for _, k := range keys {
		remove := table.Delete{Key: k, If: table.Exists()}
		if damaged != nil && slices.Contains(damaged.Keys, k) {
			remove.If = table.Condition{} // none holds for a damaged item, which no merge replaces
		}
		ops = append(ops, remove)
	}
	op, err := r.cleanup(r.Now().Add(blobGrace), blobs)
	return append(ops, op), err
}

// replacing returns the operations that publish the staged segments in place of the
// pass's segments.
func (r *rebuilding) replacing(ctx context.Context, pass rebuildPass) ([]table.Op, error) {
	ops, err := r.removing(ctx, pass.Segments)
	if err != nil {
		return nil, err
	}
	made := 0
	for _, n := range pass.Staged {
		op, err := n.record(r.teamID, r.family).put(r.teamID)
		if err != nil {
			return nil, err
		}
		ops, made = append(ops, op), made+n.Content.Passages
	}
	key := staleKey(r.teamID, r.family)
	counts, err := r.Table.BatchGet(ctx, []table.Key{key})
	if err != nil {
		return nil, fmt.Errorf("read the stale count: %w", err)
	}
	if len(counts) > 0 {
		// If both analyses cut the same passages, the difference is the number of stale ones.
		if gone := min(counts[0].Numbers[r.family.staleField()], int64(pass.Passages-made)); gone > 0 {
			ops = append(ops, table.Add{Key: key, By: map[string]int64{r.family.staleField(): -gone}})
		}
	}
	return ops, nil
}

// levelOf returns the level of a segment of this many documents: 0 up to 10, 1 up to
// 100, and so on.
func levelOf(documents int) (level int) {
	for n := 10; n < documents; n *= 10 {
		level++
	}
	return level
}

// loadNames reads the names of the documents of the pass's segments. If a segment is damaged, it
// marks the segment and gives up the pass, so that State.Pass is nil.
func (r *rebuilding) loadNames(ctx context.Context) error {
	if r.names != nil {
		return nil
	}
	records, err := r.list(ctx)
	if err != nil {
		return err
	}
	names := segment.Names{}
	passages := 0
	for _, n := range r.state.Pass.Segments {
		at := slices.IndexFunc(records, func(s record) bool { return s.id == n.ID && s.level == n.Level })
		if at < 0 {
			return r.abandon(ctx)
		}
		section, err := r.readNames(ctx, records[at])
		if isLost(err) {
			if err := r.markDamaged(ctx, r.teamID, records[at], err); err != nil {
				return err
			}
			return r.abandon(ctx)
		}
		if err != nil {
			return err
		}
		names = append(names, section...)
		passages += records[at].content.Passages
	}
	r.names, r.state.Pass.Of, r.state.Pass.Passages = names, names.Count(), passages
	return nil
}

// readNames reads the names of the documents of a segment.
func (ix *Index) readNames(ctx context.Context, r record) (segment.Names, error) {
	names, err := segment.ReadNames(ctx, ix.Blobs, r.blob, int64(r.content.Bytes))
	if err == nil && names.Count() != r.content.Documents {
		err = segment.Damaged("%d documents", names.Count())
	}
	if err != nil {
		return nil, fmt.Errorf("read the documents of segment %s: %w", r.id, err)
	}
	return names, nil
}

// foldable returns staged segments of one level that can become one, or nil.
func foldable(staged []stagedSegment) []stagedSegment {
	levels := map[int][]stagedSegment{}
	for _, s := range staged {
		levels[s.Level] = append(levels[s.Level], s)
		if own := levels[s.Level]; len(own) == foldAtLeast {
			records := make([]record, len(own))
			for i, o := range own {
				records[i].content = o.Content
			}
			if n := fitting(records, foldAtLeast); n > 1 {
				return own[:n]
			}
			levels[s.Level] = own[1:] // the first fits with none
		}
	}
	return nil
}

// fold merges staged segments into one. This keeps the Write that publishes them small and saves
// later merges.
func (r *rebuilding) fold(ctx context.Context) error {
	folded := foldable(r.state.Pass.Staged)
	var segments []*segment.Segment
	for _, n := range folded {
		s, err := r.readToMerge(ctx, n.record(r.teamID, r.family))
		if isLost(err) {
			r.fault(ctx, err)
			return r.abandon(ctx)
		}
		if err != nil {
			return err
		}
		segments = append(segments, s)
	}
	made, err := segment.Combine(segments, nil)
	if isLost(err) {
		r.fault(ctx, err)
		return r.abandon(ctx)
	}
	if err != nil {
		return fmt.Errorf("fold %d segments of %s: %w", len(segments), r.family.source, err)
	}
	s, _, err := r.store(ctx, r.teamID, r.family, folded[0].Level+1, made)
	if err != nil {
		return err
	}
	next, pass := r.state, *r.state.Pass
	pass.Staged = slices.DeleteFunc(slices.Clone(pass.Staged), func(n stagedSegment) bool { return slices.Contains(folded, n) })
	pass.Staged = append(pass.Staged, stagedSegment{segmentName{s.level, s.id}, s.content})
	next.Pass = &pass
	if err := r.save(ctx, next); err != nil {
		r.unstore(ctx, err, []record{s})
		return err
	}
	r.removeStaged(ctx, folded)
	return nil
}
