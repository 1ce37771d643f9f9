package document

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

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
		intact, err := s.isIntact(ctx, teamID, old.record)
		if err == nil && !intact && in.KeepContent {
			err = damagedDocument(errors.New("the content to keep is damaged"))
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

// comparedAtOnce bounds the chunks that isIntact has in memory.
const comparedAtOnce = 32

// isIntact reports whether the body of r is stored as it was written. It returns errRaced if r is not current any more.
func (s *Service) isIntact(ctx context.Context, teamID string, r record) (bool, error) {
	if !s.Fallible || r.chunks == 0 {
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
				s.damaged(ctx, table.AsDamaged(err))
				return false, nil
			}
			_, _ = sum.Write(item.Body) // it never fails
		}
	}
	if encodeHash(sum.Sum(nil)) == r.hash {
		return true, nil
	}
	// A part is missing or another one. It was removed, if r was replaced.
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
