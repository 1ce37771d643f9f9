package document

import (
	"context"
	"fmt"
	"slices"

	"docent/shared/access"
	"docent/shared/table"
)

// maxCountPages bounds the pages that Count reads, each of some thousand list
// entries.
const maxCountPages = 50

// Count returns the number of documents of a collection or items of a connected
// source. It is for reports: it may be a second old, and too low for a very large
// source.
func (s *Service) Count(ctx context.Context, teamID, sourceID string) (n int64, err error) {
	n, _, err = s.Contents(ctx, teamID, sourceID, access.Everything(), nil)
	return n, err
}

// Contents is Count of a source with the default rule byDefault. It also reports whether
// reader may read all that is in it at this moment. If not, n is too low.
func (s *Service) Contents(ctx context.Context, teamID, sourceID string, reader access.Reader, byDefault *access.Rule) (n int64, readable bool, err error) {
	who := Who{Reader: reader}
	q := table.Query{Table: table.Documents, Partition: collectionList(teamID, sourceID), Eventual: reader.All()}
	for pages := 0; pages < maxCountPages || !reader.All(); pages++ {
		page, err := s.Table.Query(ctx, q)
		if damaged := table.AsDamaged(err); damaged != nil {
			if n += int64(len(damaged.Keys)); !reader.All() {
				return n, false, nil // nobody knows who may read them
			}
			err = nil
		}
		if err != nil {
			return 0, false, fmt.Errorf("count documents: %w", err)
		}
		n += int64(len(page.Items))
		if !reader.All() && slices.ContainsFunc(page.Items, func(item table.Item) bool { return !who.reads(entryFrom(item), byDefault) }) {
			return n, false, nil
		}
		if page.Cursor == "" {
			break
		}
		q.Cursor = page.Cursor
	}
	return n, true, nil
}
