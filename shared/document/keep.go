package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"docent/shared/pending"
	"docent/shared/table"
)

// keepContent is putContent for a version with the content of old. Chunks belong to one version, so they are copied; the
// original file is shared with old.
func (s *Service) keepContent(ctx context.Context, teamID string, e Entry, version int64, old record) (record, *pending.Work, error) {
	next := old
	next.Entry, next.version, next.accepted = e, version, 0
	if next.chunks == 0 {
		return next, nil, nil
	}
	intent, err := s.intendChunks(ctx, teamID, next)
	if err != nil {
		return record{}, nil, err
	}
	numbers := make([]int, next.chunks)
	for n := range numbers {
		numbers[n] = n
	}
	err = forEach(ctx, numbers, func(ctx context.Context, n int) error {
		item, err := s.Table.Get(ctx, chunkKey(teamID, e.ID, old.version, n))
		if errors.Is(err, table.ErrNotFound) {
			return cmp.Or(s.stillCurrent(ctx, teamID, old), Damaged(errors.New("a chunk of its body is missing")))
		}
		if err != nil {
			return err
		}
		item.Key = chunkKey(teamID, e.ID, version, n)
		return s.Table.Write(ctx, table.Put{Item: item})
	})
	if err != nil {
		return record{}, nil, orDamaged(fmt.Errorf("copy chunks: %w", err))
	}
	return next, intent, nil
}
