package document

import (
	"context"
	"fmt"

	"docent/shared/table"
)

// maxCountPages bounds what Count reads: a page of the store holds some
// thousands of list entries.
const maxCountPages = 50

// Count returns how many documents a collection has, or items a connected source.
// It is for reports: it may be a second behind, and a count that would take too
// long to read ends early.
func (s *Service) Count(ctx context.Context, teamID, sourceID string) (n int64, err error) {
	q := table.Query{Table: table.Documents, Partition: collectionList(teamID, sourceID), Eventual: true}
	for range maxCountPages {
		page, err := s.Table.Query(ctx, q)
		if err != nil {
			return 0, fmt.Errorf("count documents: %w", err)
		}
		if n += int64(len(page.Items)); page.Cursor == "" {
			break
		}
		q.Cursor = page.Cursor
	}
	return n, nil
}
