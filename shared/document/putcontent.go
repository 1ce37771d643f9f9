package document

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"docent/shared/memory"
	"docent/shared/pending"
	"docent/shared/search/text"
	"docent/shared/table"
)

// parallelChunks bounds the parallel chunk writes and deletes of one document.
const parallelChunks = 32

// longBody is the size in bytes above which a body waits for memory.WaitWrites.
const longBody = 1 << 20

// putContent stores what the record of a version will refer to, and returns the record and the intent to remove the
// content if that version never becomes current; nil: the record has it all.
func (s *Service) putContent(ctx context.Context, teamID string, e Entry, version int64, in Input, old record) (record, *pending.Work, error) {
	if in.KeepContent {
		return s.keepContent(ctx, teamID, e, version, old)
	}
	if in.uploaded != nil {
		return record{Entry: e, version: version, extracting: true}, nil, nil
	}
	if e.Original != nil {
		e.Original.Blob = originalName(teamID, e.ID, version)
		next := record{Entry: e, version: version, extracting: true}
		intent, err := s.putOriginal(ctx, teamID, next, in.File)
		return next, intent, err
	}
	chunks := text.Cut(in.Body)
	next := newRecord(e, version, in.Body, chunks)
	intent, err := s.putChunks(ctx, teamID, next, in.Body, chunks)
	return next, intent, err
}

// putChunks writes the chunks of a long body before a record refers to them, and returns their intent.
func (s *Service) putChunks(ctx context.Context, teamID string, r record, body string, chunks []text.Chunk) (*pending.Work, error) {
	if r.chunks == 0 {
		return nil, nil
	}
	intent, err := s.intendChunks(ctx, teamID, r)
	if err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelChunks)
	for n, c := range chunks {
		group.Go(func() error {
			item, err := chunkItem(teamID, r.ID, r.version, n, body, c)
			if err != nil {
				return err
			}
			return s.Table.Write(ctx, table.Put{Item: item})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("write chunks: %w", err)
	}
	return intent, nil
}

// intendChunks stores the pending intent to write the chunks of r, and returns it. The intent removes them if this version
// never becomes current; the Write that makes it current deletes the intent. A long body waits for its turn first.
func (s *Service) intendChunks(ctx context.Context, teamID string, r record) (*pending.Work, error) {
	if r.bytes > longBody {
		if err := memory.WaitWrites(ctx); err != nil {
			return nil, err
		}
	}
	intent := &pending.Work{Kind: pending.RemoveChunks, TeamID: teamID, ID: r.ID, Version: r.version,
		Old: &pending.Version{Version: r.version, Chunks: r.chunks}, At: millisOf(r.version)}
	if err := s.Table.Write(ctx, intent.Promise()); err != nil {
		return nil, fmt.Errorf("store the intent to write chunks: %w", err)
	}
	return intent, nil
}
