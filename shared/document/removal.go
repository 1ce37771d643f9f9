package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"docent/shared/access"
	"docent/shared/pending"
	"docent/shared/search"
	"docent/shared/table"
)

// removeOld removes the content of the version that work replaced or removed, and
// marks its passages as stale in the index.
func (w *Worker) removeOld(ctx context.Context, work pending.Work) error {
	if work.Old == nil {
		return nil
	}
	if err := w.deleteContent(ctx, work.TeamID, work.ID, *work.Old); err != nil {
		return err
	}
	if work.Old.Collection == "" {
		return nil // it never became current, so the index does not have it: see removeUnused
	}
	// The index of a deleted collection is dropped as a whole, counts included.
	if _, live, err := w.live(ctx, work.TeamID, work.Old.Collection); err != nil || !live {
		return err
	}
	space := cmp.Or(search.Space(work.Old.Space), search.Documentation)
	return w.Index.Stale(ctx, work.TeamID, work.Old.Collection, space, work.Old.Passages)
}

// finishRemoval removes the rest of a deleted document.
func (w *Worker) finishRemoval(ctx context.Context, work pending.Work) error {
	if err := w.removeOld(ctx, work); err != nil {
		return err
	}
	return w.Table.Write(ctx, table.Delete{Key: work.Key()})
}

// removeUnused removes the content of a version that did not become current. It first
// deletes the intent, so that the version can no longer become current.
func (w *Worker) removeUnused(ctx context.Context, work pending.Work) error {
	removal := work
	removal.Kind = pending.RemoveDocument
	err := w.Table.Write(ctx, work.Complete(), removal.Promise())
	if table.AsConditionFailed(err) != nil {
		return nil // the version became current, or another worker is removing it
	}
	if err != nil {
		return fmt.Errorf("take over unused chunks: %w", err)
	}
	if err := w.deleteContent(ctx, work.TeamID, work.ID, *work.Old); err != nil {
		return err
	}
	return w.Table.Write(ctx, table.Delete{Key: removal.Key()})
}

// deleteContent removes the chunks and the original of a version.
func (w *Worker) deleteContent(ctx context.Context, teamID, id string, old pending.Version) error {
	if err := w.deleteOriginal(ctx, old); err != nil {
		return err
	}
	return forEach(ctx, chunkKeys(teamID, id, old.Version, old.Chunks), func(ctx context.Context, k table.Key) error {
		return w.Table.Write(ctx, table.Delete{Key: k})
	})
}

// documentsPerMessage bounds the documents of a collection that one delivery removes,
// so that it fits the worker's timeout.
const documentsPerMessage = 2000

// removeCollection removes documentsPerMessage documents of a deleted collection and
// sends itself the next message; after the last document it drops the index.
func (w *Worker) removeCollection(ctx context.Context, work pending.Work) error {
	byDefault, err := w.keptRule(ctx, work.TeamID, work.ID)
	if err != nil {
		return err
	}
	var entries []Entry
	q := table.Query{Table: table.Documents, Partition: collectionList(work.TeamID, work.ID)}
	for item, err := range table.All(ctx, w.Table, q) {
		if damaged := table.AsDamaged(err); damaged != nil {
			if err := w.dropListed(ctx, work, damaged.Keys, byDefault); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		if entries = append(entries, entryFrom(item)); len(entries) == documentsPerMessage {
			break
		}
	}
	err = forEach(ctx, entries, func(ctx context.Context, e Entry) error {
		return w.removeFrom(ctx, work, e, byDefault)
	})
	if err != nil {
		return err
	}
	if len(entries) == documentsPerMessage {
		return w.Work.Send(ctx, work.Outgoing(0))
	}
	if err := w.Index.DropSource(ctx, work.TeamID, work.ID); err != nil {
		return fmt.Errorf("drop source: %w", err)
	}
	return w.Table.Write(ctx, table.Delete{Key: work.Key()})
}

// removeFrom removes one document of a deleted collection with the default rule byDefault, unless it was moved to
// another one in the meantime.
func (w *Worker) removeFrom(ctx context.Context, work pending.Work, e Entry, byDefault *access.Rule) error {
	leftover := table.Delete{Key: sourceKey(work.TeamID, e)}
	item, err := w.Table.Get(ctx, recordKey(work.TeamID, e.ID))
	if errors.Is(err, table.ErrNotFound) {
		return w.Table.Write(ctx, leftover)
	}
	if table.AsDamaged(err) != nil {
		ops := append([]table.Op{table.Delete{Key: recordKey(work.TeamID, e.ID)}, table.Delete{Key: failureKey(work.TeamID, e.ID)}},
			listDeletes(work.TeamID, e)...)
		kept, err := w.keepRule(ctx, work.TeamID, e.ID, cmp.Or(e.Access, byDefault), w.deletedNow(0), "")
		if err != nil {
			return err
		}
		return w.Table.Write(ctx, append(ops, kept...)...)
	}
	if err != nil {
		return fmt.Errorf("read document: %w", err)
	}
	r := recordFrom(item)
	if r.CollectionID != work.ID {
		return w.Table.Write(ctx, leftover)
	}
	if err := w.deleteContent(ctx, work.TeamID, r.ID, *r.asVersion()); err != nil {
		return err
	}
	ops := append([]table.Op{
		table.Delete{Key: recordKey(work.TeamID, r.ID), If: table.VersionIs(r.version)},
		table.Delete{Key: failureKey(work.TeamID, r.ID)},
		table.Delete{Key: indexing(work.TeamID, r.ID, r.version).Key()},
		table.Delete{Key: extraction(work.TeamID, r.ID, r.version).Key()},
	}, listDeletes(work.TeamID, r.Entry)...)
	kept, err := w.keepRule(ctx, work.TeamID, r.ID, cmp.Or(r.Access, byDefault), w.deletedNow(r.version), "")
	if err != nil {
		return err
	}
	ops = append(ops, kept...)
	if err := w.Table.Write(ctx, ops...); table.AsConditionFailed(err) == nil {
		return err
	}
	return nil // put again in the meantime, which also replaced the list entries
}

// forEach calls do for all items, parallelChunks at a time, until one call fails.
func forEach[T any](ctx context.Context, items []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelChunks)
	for _, item := range items {
		group.Go(func() error { return do(ctx, item) })
	}
	return group.Wait()
}
