package document

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"docent/shared/blob"
	"docent/shared/table"
	"docent/shared/usage"
)

// stays reports whether old, which in does not change, stays as it is. Otherwise it was not indexed, or is damaged, and is stored
// again. stays returns an error for the caller if in has no content to store.
func (s *Service) stays(ctx context.Context, teamID string, in Input, old current, entry Entry) (bool, error) {
	failure, err := s.failure(ctx, teamID, old.record)
	switch {
	case err != nil:
		return false, err
	case in.KeepContent && old.extracting && failure != codeInternal:
		return true, nil // reading the same file again would fail as it did
	case failure != "":
		return false, nil
	}
	if old.same(entry, in) { // what is older than the document does not mend it
		intact, err := s.isIntact(ctx, teamID, old.record, !in.KeepContent) // a sync asks about many files that it keeps
		if err == nil && !intact && in.KeepContent {
			err = Damaged(errors.New("the content to keep is damaged"))
		}
		if err != nil || !intact {
			return false, err
		}
	}
	if err := s.dropUpload(ctx, teamID, in.uploaded); err != nil {
		return false, err
	}
	usage.Note(ctx, usage.Unchanged, 1)
	return true, nil
}

// isIntact reports whether the body of r and its file are stored as they were written; of the file only whether it is there, unless
// wholeFile is set. It returns errRaced if r is not current any more.
func (s *Service) isIntact(ctx context.Context, teamID string, r record, wholeFile bool) (bool, error) {
	if !s.Fallible {
		return true, nil
	}
	intact, err := s.hasBody(ctx, teamID, r)
	if err == nil && intact {
		intact, err = s.hasOriginal(ctx, r.Original, wholeFile)
	}
	if err != nil || intact {
		return intact, err
	}
	// If r was replaced, what it needs was removed.
	now, err := s.Table.Get(ctx, recordKey(teamID, r.ID))
	switch {
	case errors.Is(err, table.ErrNotFound) || err == nil && now.Version != r.version:
		return false, errRaced
	case err != nil:
		return false, fmt.Errorf("read document: %w", err)
	}
	s.damaged(ctx, &table.DamagedError{Keys: []table.Key{recordKey(teamID, r.ID)}})
	return false, nil
}

// comparedAtOnce bounds the chunks that hasBody has in memory.
const comparedAtOnce = 32

// hasBody reports whether the chunks of r are as they were written.
func (s *Service) hasBody(ctx context.Context, teamID string, r record) (bool, error) {
	if r.chunks == 0 {
		return true, nil
	}
	sum := sha256.New()
	for keys := range slices.Chunk(chunkKeys(teamID, r.ID, r.version, r.chunks), comparedAtOnce) {
		items, err := s.Table.BatchGet(ctx, keys)
		if damaged := table.AsDamaged(err); damaged != nil {
			s.damaged(ctx, damaged)
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("compare chunks: %w", err)
		}
		for _, item := range items {
			if _, _, err := wholeChunk(item); err != nil {
				return false, nil //nolint:nilerr // it says that it is damaged
			}
			_, _ = sum.Write(item.Body) // it never fails
		}
	}
	return encodeHash(sum.Sum(nil)) == r.hash, nil
}

// hasOriginal reports whether the file o is kept with its size, and if whole is set, as it was put. Without a file it reports true.
func (s *Service) hasOriginal(ctx context.Context, o *Original, whole bool) (bool, error) {
	if o == nil {
		return true, nil
	}
	first := int64(0)
	if !whole {
		first = max(o.Bytes-1, 0)
	}
	sum := sha256.New()
	for at := first; at < o.Bytes; at += blockBytes {
		block, err := s.Blobs.GetRange(ctx, o.Blob, at, min(blockBytes, o.Bytes-at))
		switch {
		case errors.Is(err, blob.ErrNotFound), errors.Is(err, blob.ErrInvalid):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("compare a file: %w", err)
		}
		_, _ = sum.Write(block) // it never fails
	}
	return !whole || encodeHash(sum.Sum(nil)) == o.Hash, nil
}
