package document

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"docent/shared/blob"
	"docent/shared/memory"
	"docent/shared/table"
	"docent/shared/usage"
)

// stays reports whether old, which in does not change, stays as it is. If not, because it was not indexed or is damaged, the
// caller stores it again. stays returns an error for the caller if in has no content to store. It compares content that in
// keeps only if in.CheckKept is set, because that reads all of it.
func (s *Service) stays(ctx context.Context, teamID string, in Input, old current, entry Entry) (bool, error) {
	failure, err := s.failure(ctx, teamID, old.record)
	switch {
	case err != nil:
		return false, err
	case in.KeepContent && old.extracting && failure != codeInternal:
		return true, nil // reading the same file again would fail as it did
	case failure != "" && in.KeepContent && old.extracting:
		kept, err := s.hasOriginal(ctx, old.Original)
		if err == nil && !kept {
			err = Damaged(errors.New("the file to keep is lost")) // the caller gets it again, or it would fail at each put
		}
		return false, err
	case failure != "":
		return false, nil
	}
	checked := !in.KeepContent || in.CheckKept
	if checked && old.same(entry, in) { // what is older than the document does not mend it
		intact, err := s.isIntact(ctx, teamID, old.record)
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

// isIntact reports whether the body of r, and its file if that is needed, are stored as they were written. It returns errRaced if r is
// not current any more.
func (s *Service) isIntact(ctx context.Context, teamID string, r record) (bool, error) {
	if !s.Fallible {
		return true, nil
	}
	file := r.neededFile()
	if r.chunks > 0 && r.bytes > longBody || file != nil && file.Bytes > longBody {
		if err := memory.WaitTurn(ctx); err != nil {
			return false, err
		}
	}
	intact, err := s.hasBody(ctx, teamID, r)
	if err == nil && intact {
		intact, err = s.hasOriginal(ctx, file)
	}
	if err != nil || intact {
		return intact, err
	}
	if err := s.stillCurrent(ctx, teamID, r); err != nil {
		return false, err
	}
	s.damaged(ctx, &table.DamagedError{Keys: []table.Key{recordKey(teamID, r.ID)}})
	return false, nil
}

// stillCurrent returns errRaced if r is not current any more: then what it needs was removed, and is not lost.
func (s *Service) stillCurrent(ctx context.Context, teamID string, r record) error {
	now, err := s.Table.Get(ctx, recordKey(teamID, r.ID))
	switch {
	case errors.Is(err, table.ErrNotFound) || err == nil && now.Version != r.version:
		return errRaced
	case err != nil:
		return fmt.Errorf("read document: %w", err)
	}
	return nil
}

// neededFile returns the original file of r that is still to be read or can be downloaded; nil: none. Nobody downloads that of an item.
func (r record) neededFile() *Original {
	if r.Facts != nil && !r.extracting {
		return nil
	}
	return r.Original
}

// comparedAtOnce bounds the chunks that hasBody has in memory.
const comparedAtOnce = 32

// hasBody reports whether the chunks of r are as they were written.
func (s *Service) hasBody(ctx context.Context, teamID string, r record) (bool, error) {
	if r.chunks == 0 {
		return true, nil
	}
	if err := memory.Reserve(ctx, int64(r.bytes)); err != nil { // nothing says when a chunk that was compared is freed
		return false, err
	}
	defer memory.Return(ctx, int64(r.bytes))
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
			if _, err := wholePassages(item); err != nil {
				return false, nil //nolint:nilerr // it says that it is damaged
			}
			_, _ = sum.Write(item.Body) // it never fails
		}
	}
	return encodeHash(sum.Sum(nil)) == r.hash, nil
}

// hasOriginal reports whether the file o is kept as it was put. Without a file it reports true.
func (s *Service) hasOriginal(ctx context.Context, o *Original) (bool, error) {
	if o == nil {
		return true, nil
	}
	switch _, err := s.Blobs.GetRange(ctx, o.Blob, o.Bytes, 1); {
	case err == nil, errors.Is(err, blob.ErrNotFound): // it is longer, or lost
		return false, nil
	case !errors.Is(err, blob.ErrInvalid):
		return false, fmt.Errorf("compare the size of a file: %w", err)
	}
	sum := sha256.New()
	for at := int64(0); at < o.Bytes; at += blockBytes {
		block, err := s.Blobs.GetRange(ctx, o.Blob, at, min(blockBytes, o.Bytes-at))
		switch {
		case errors.Is(err, blob.ErrNotFound), errors.Is(err, blob.ErrInvalid):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("compare a file: %w", err)
		}
		_, _ = sum.Write(block) // it never fails
	}
	return encodeHash(sum.Sum(nil)) == o.Hash, nil
}

// failure returns the code of why the version of r was not indexed; empty: it was, or will be.
func (s *Service) failure(ctx context.Context, teamID string, r record) (code string, err error) {
	item, err := s.Table.Get(ctx, failureKey(teamID, r.ID))
	if errors.Is(err, table.ErrNotFound) {
		return "", nil
	}
	if d := table.AsDamaged(err); d != nil {
		s.damaged(ctx, d)
		return codeInternal, nil
	}
	if err != nil {
		return "", fmt.Errorf("read document: %w", err)
	}
	if item.Version != r.version {
		return "", nil
	}
	return item.Strings["code"], nil
}
