package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"docent/shared/search/segment"
	"docent/shared/table"
)

// walkPage is the number of documents that a full scan compares with the segments in one step.
const walkPage = 4000

// walkSlice reads the next documents of the family and publishes a segment of those that no
// readable segment contains. After the last slice it removes the segments that the scan has
// replaced.
func (r *rebuilding) walkSlice(ctx context.Context) error {
	walk, slice := *r.state.Walk, r.newSlice()
	last := false
	for first := true; first || !slice.full(ctx, r); first = false {
		page, err := r.Corpus.List(ctx, r.teamID, r.family.source, r.family.space, walk.After, walkPage)
		if err != nil {
			return err
		}
		if last = len(page) == 0; last {
			break
		}
		n, err := r.walkOver(ctx, page, slice)
		if err != nil {
			return err
		}
		walk.After, walk.Next = page[n-1].Place, walk.Next+n
		if n < len(page) {
			break
		}
	}
	return r.saveWalk(ctx, walk, slice, last)
}

// walkOver adds the missing documents of a page to the slice until the slice is full. It returns
// the number of compared documents, at least one.
func (r *rebuilding) walkOver(ctx context.Context, page []Listed, slice *slice) (int, error) {
	missing, err := r.missing(ctx, page)
	if err != nil {
		return 0, err
	}
	all := func(yield func(wanted) bool) {
		for i, l := range page {
			if version, ok := missing[l.Document]; ok && !yield(wanted{l.Document, version, i}) {
				return
			}
		}
	}
	for found, err := range r.inOrder(ctx, all) {
		if err != nil {
			return 0, fmt.Errorf("read the documents of %s: %w", r.family.source, err)
		}
		if found.at > 0 && slice.full(ctx, r) {
			return found.at, nil
		}
		if found.document != nil {
			if err := slice.add(ctx, *found.document); err != nil {
				return 0, err
			}
		}
	}
	return len(page), nil
}

func (r *rebuilding) saveWalk(ctx context.Context, walk rebuildWalk, slice *slice, last bool) error {
	made, err := slice.finish(ctx)
	if err != nil {
		return fmt.Errorf("build a segment of %s: %w", r.family.source, err)
	}
	var ops []table.Op
	var stored []record
	if made.Documents > 0 {
		s, op, err := r.store(ctx, r.teamID, r.family, levelOf(made.Documents), made)
		if err != nil {
			return err
		}
		stored, ops = append(stored, s), append(ops, op)
	}
	next := r.state
	next.Walk = &walk
	if last {
		next.Walk, next.Ended, next.Walked = nil, next.Ended+int64(walk.Of), r.model()
		replaced, err := r.removing(ctx, walk.Instead)
		if err != nil {
			return err
		}
		ops = append(ops, replaced...)
	}
	if err := r.save(ctx, next, ops...); err != nil {
		r.unstore(ctx, err, stored)
		return err
	}
	return nil
}

// missing returns the current versions of those documents of a page that no readable
// segment contains and no other worker is about to index. It reads what is pending
// first and the list of segments after that, so a document published in the meantime is
// in one of the two.
func (r *rebuilding) missing(ctx context.Context, page []Listed) (map[uuid.UUID]int64, error) {
	missing, err := r.current(ctx, page)
	if err != nil {
		return nil, err
	}
	if err := r.removeHeld(ctx, missing); err != nil || len(missing) == 0 {
		return nil, err
	}
	for some := range slices.Chunk(slices.Collect(maps.Keys(missing)), readBatch) {
		versions := map[uuid.UUID]int64{}
		for _, id := range some {
			versions[id] = missing[id]
		}
		waiting, err := r.Corpus.Waiting(ctx, r.teamID, versions, r.family.meaning)
		if err != nil {
			return nil, err
		}
		for id := range waiting {
			delete(missing, id)
		}
	}
	return missing, r.removeHeld(ctx, missing)
}

// current returns the current versions of the documents of a page.
func (r *rebuilding) current(ctx context.Context, page []Listed) (map[uuid.UUID]int64, error) {
	all := make(map[uuid.UUID]int64, len(page))
	var mu sync.Mutex
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(readAtOnce)
	for some := range slices.Chunk(page, readBatch) {
		g.Go(func() error {
			ids := make([]uuid.UUID, len(some))
			for i, l := range some {
				ids[i] = l.Document
			}
			current, err := r.Corpus.Current(gctx, r.teamID, ids)
			if err != nil {
				return fmt.Errorf("read the current versions: %w", err)
			}
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(all, current)
			return nil
		})
	}
	return all, g.Wait()
}

// removeHeld removes from versions the documents that a readable segment contains in that
// version.
func (r *rebuilding) removeHeld(ctx context.Context, versions map[uuid.UUID]int64) error {
	if len(versions) == 0 {
		return nil
	}
	held, err := r.holdNames(ctx)
	if err != nil {
		return err
	}
	for _, names := range held {
		for i := range names.Count() {
			if id, version := names.At(i); versions[id] == version {
				delete(versions, id)
			}
		}
	}
	return nil
}

// holdNames reads the names of the documents of the family's current readable segments, each
// segment once per turn. It marks a damaged segment and leaves it out.
func (r *rebuilding) holdNames(ctx context.Context) (map[string]segment.Names, error) {
	for range readAttempts {
		records, err := r.list(ctx)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(r.held, func(id string, _ segment.Names) bool {
			return !slices.ContainsFunc(records, func(s record) bool { return s.id == id })
		})
		gone := false
		for _, s := range records {
			if _, ok := r.held[s.id]; ok || !s.readable() {
				continue
			}
			names, err := r.readNames(ctx, s)
			if isLost(err) {
				if _, missing := r.Table.Get(ctx, s.key(r.teamID)); errors.Is(missing, table.ErrNotFound) {
					gone = true // merged in the meantime: its documents are in another one
					continue
				}
				err = r.markDamaged(ctx, r.teamID, s, err)
				if err != nil {
					return nil, err
				}
				continue
			}
			if err != nil {
				return nil, err
			}
			r.held[s.id] = names
		}
		if !gone {
			return r.held, nil
		}
	}
	return nil, fmt.Errorf("read the segments of %s: they changed %d times while being read", r.family.source, readAttempts)
}

const readAttempts = 5
