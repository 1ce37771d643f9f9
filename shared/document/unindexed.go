package document

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"docent/shared/table"
)

// Unindexed returns the ids of the team's documents whose current version should be
// in indexed but is not: its indexing is neither pending nor failed.
func (s *Service) Unindexed(ctx context.Context, teamID string, indexed map[uuid.UUID]int64) ([]string, error) {
	live, err := s.Sources(ctx, teamID)
	if err != nil {
		return nil, err
	}
	var missing []string
	for sourceID := range live {
		q := table.Query{Table: table.Documents, Partition: collectionList(teamID, sourceID)}
		for entry, err := range table.All(ctx, s.Table, q) {
			if err != nil {
				return nil, fmt.Errorf("list documents: %w", err)
			}
			d, err := s.Read(ctx, teamID, entryFrom(entry).ID, Anyone())
			if err != nil {
				return nil, err
			}
			id, err := uuid.Parse(d.ID)
			if err != nil {
				return nil, fmt.Errorf("document id: %w", err)
			}
			if d.Indexing.State == Indexed && indexed[id] != d.Version {
				missing = append(missing, d.ID)
			}
		}
	}
	return missing, nil
}
