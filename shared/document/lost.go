package document

import (
	"context"
	"fmt"

	"docent/shared/table"
)

// recordsAtOnce bounds the records that LostFiles has in memory.
const recordsAtOnce = 100

// LostFiles returns the names of the objects of files that the team's documents need and that kept does not report. It leaves out
// damaged documents, and those that change in the meantime.
func (s *Service) LostFiles(ctx context.Context, teamID string, kept func(name string) bool) (lost []string, err error) {
	live, err := s.Sources(ctx, teamID)
	if err != nil {
		return nil, err
	}
	for sourceID := range live {
		var keys []table.Key
		look := func() error {
			found, err := s.lostOf(ctx, keys, kept)
			lost, keys = append(lost, found...), keys[:0]
			return err
		}
		q := table.Query{Table: table.Documents, Partition: collectionList(teamID, sourceID)}
		for entry, err := range table.All(ctx, s.Table, q) {
			if table.AsDamaged(err) != nil {
				continue // Unindexed names it
			}
			if err != nil {
				return lost, fmt.Errorf("list documents: %w", err)
			}
			if keys = append(keys, recordKey(teamID, entryFrom(entry).ID)); len(keys) == recordsAtOnce {
				if err := look(); err != nil {
					return lost, err
				}
			}
		}
		if err := look(); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// lostOf is LostFiles for records.
func (s *Service) lostOf(ctx context.Context, keys []table.Key, kept func(name string) bool) (lost []string, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	items, err := s.undamaged().BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	for _, item := range items {
		file := recordFrom(item).neededFile()
		if file == nil || kept(file.Blob) {
			continue
		}
		now, err := s.undamaged().BatchGet(ctx, []table.Key{item.Key})
		if err != nil {
			return lost, fmt.Errorf("read a document: %w", err)
		}
		if len(now) == 1 && now[0].Version == item.Version {
			lost = append(lost, file.Blob)
		}
	}
	return lost, nil
}
