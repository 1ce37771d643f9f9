package document

import (
	"context"
	"fmt"

	"docent/shared/table"
)

// maxCountPages bounds the pages that Count reads, each of some thousand list
// entries.
const maxCountPages = 50

// Count returns the number of documents of a collection or items of a connected
// source. It is for reports: it may be a second old, and too low for a very large
// source.
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
