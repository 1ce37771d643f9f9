package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"docent/shared/search/segment"
	"docent/shared/search/text"
	"docent/shared/table"
)

// Publish makes docs findable by their words. It stores one segment for each source and space, and then their
// records in one Write, which also applies done. If it returns an error, no document is findable
// and done is not applied; a *table.ConditionFailed has the key of the failed operation of done.
// Segments and done together may have at most table.MaxOps operations. If docs contains a
// document twice, the later version counts.
func (ix *Index) Publish(ctx context.Context, teamID string, docs []Document, done []table.Op) error {
	return ix.publish(ctx, teamID, docs, done, false)
}

// PublishMeaning makes docs findable by their meaning. It is Publish for segments of
// vectors, which the embedder makes. The index must have an embedder.
func (ix *Index) PublishMeaning(ctx context.Context, teamID string, docs []Document, done []table.Op) error {
	return ix.publish(ctx, teamID, docs, done, true)
}

func (ix *Index) publish(ctx context.Context, teamID string, docs []Document, done []table.Op, meaning bool) error {
	families := map[family][]Document{}
	var order []family
	for _, d := range latest(docs) {
		f := family{d.Source, d.Space, meaning}
		if err := f.check(); err != nil {
			return err
		}
		if families[f] == nil {
			order = append(order, f)
		}
		families[f] = append(families[f], d)
	}
	if n := len(order) + len(done); n == 0 || n > table.MaxOps {
		if n == 0 {
			return nil
		}
		return fmt.Errorf("publish: %d operations in one write: %w", n, table.ErrInvalid)
	}
	ops := append([]table.Op{}, done...)
	var records []record
	for _, f := range order {
		b, err := ix.build(ctx, f, families[f])
		if err != nil {
			return fmt.Errorf("build a segment of %s: %w", f.source, err)
		}
		r, op, err := ix.store(ctx, teamID, f, 0, b)
		if err != nil {
			ix.discard(ctx, errNotWritten, records)
			return err
		}
		records, ops = append(records, r), append(ops, op)
	}
	if err := ix.Table.Write(ctx, ops...); err != nil {
		ix.withdraw(ctx, teamID, err, records)
		return fmt.Errorf("publish %d segments: %w", len(records), err)
	}
	return nil
}

// latest returns the highest version of each document, in the order of docs.
func latest(docs []Document) []Document {
	at := map[[16]byte]int{}
	kept := make([]Document, 0, len(docs))
	for _, d := range docs {
		if i, ok := at[d.ID]; ok {
			if d.Version > kept[i].Version {
				kept[i] = d
			}
			continue
		}
		at[d.ID] = len(kept)
		kept = append(kept, d)
	}
	return kept
}

// store writes a segment's blob. It returns the segment's record and the operation that
// publishes it.
func (ix *Index) store(ctx context.Context, teamID string, f family, level int, b segment.File) (record, table.Put, error) {
	id := ix.NewID()
	r := record{source: f.source, space: f.space, meaning: f.meaning, level: level, id: id, blob: f.blobName(teamID, id), content: recordContent{
		Bytes: len(b.Data), Passages: b.Passages, Documents: b.Documents,
		Lengths: b.SumLengths, Analysis: text.AnalysisVersion, Format: int(b.Format),
	}}
	if f.meaning {
		r.content.Model, r.content.Numbers = ix.model(), b.Numbers
	}
	op, err := r.put(teamID)
	if err != nil {
		return r, op, err
	}
	if err := ix.Blobs.Put(ctx, r.blob, b.Data); err != nil {
		return r, op, fmt.Errorf("store segment %s: %w", id, err)
	}
	return r, op, nil
}

// errNotWritten is the cause if nothing was written.
var errNotWritten = errors.New("not written")

// withdraw is discard for records that one Write was to publish. That the disk is full may show before or after it has happened: if none
// of the records is there, it was not written.
func (ix *Index) withdraw(ctx context.Context, teamID string, cause error, records []record) {
	missing := func(r record) bool { // a merge may have replaced some of those that were written
		_, err := ix.Table.Get(ctx, r.key(teamID))
		return errors.Is(err, table.ErrNotFound)
	}
	if table.IsFull(cause) && !slices.ContainsFunc(records, func(r record) bool { return !missing(r) }) {
		cause = errNotWritten
	}
	ix.discard(ctx, cause, records)
}

// discard removes the blobs of records that were not published because of cause. If the Write
// may have happened anyway, the blobs stay; Clean removes them after a day if no record names
// them.
func (ix *Index) discard(ctx context.Context, cause error, records []record) {
	if table.AsConditionFailed(cause) == nil && !slices.ContainsFunc([]error{errNotWritten, table.ErrConflict, table.ErrThrottled, table.ErrFull},
		func(before error) bool { return errors.Is(cause, before) }) {
		return
	}
	for _, r := range records {
		if err := ix.Blobs.Delete(ctx, r.blob); err != nil {
			ix.fault(ctx, fmt.Errorf("remove the blob of an unpublished segment: %w", err))
		}
	}
}
