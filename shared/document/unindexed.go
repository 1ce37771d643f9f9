package document

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"docent/shared/apierr"
	"docent/shared/table"
)

// Unindexed returns the ids of the team's documents whose current version should be
// in indexed but is not, although its indexing is neither pending nor failed, and by their source of those that are damaged: their
// record, their body, their file or their entry in the list of their source is not as it was written.
func (s *Service) Unindexed(ctx context.Context, teamID string, indexed map[uuid.UUID]int64) (missing []string, damaged map[string][]string, err error) {
	live, err := s.Sources(ctx, teamID)
	if err != nil {
		return nil, nil, err
	}
	damaged = map[string][]string{}
	for sourceID := range live {
		q := table.Query{Table: table.Documents, Partition: collectionList(teamID, sourceID)}
		for entry, err := range table.All(ctx, s.Table, q) {
			if d := table.AsDamaged(err); d != nil {
				for _, k := range d.Keys {
					damaged[sourceID] = append(damaged[sourceID], idInList(k))
				}
				continue
			}
			if err != nil {
				return nil, nil, fmt.Errorf("list documents: %w", err)
			}
			switch d, err := s.readWhole(ctx, teamID, entryFrom(entry).ID); {
			case apierr.IsCode(err, apierr.CodeDocumentDamaged):
				damaged[sourceID] = append(damaged[sourceID], entryFrom(entry).ID)
			case err != nil:
				return nil, nil, err
			case d.Indexing.State == Indexed && indexed[uuid.MustParse(d.ID)] != d.Version:
				missing = append(missing, d.ID)
			}
		}
	}
	return missing, damaged, nil
}

// readWhole is Read of what anyone reads, and compares the body, and the file if that is needed, with what the record says of them: earlier versions stored
// no checksums.
func (s *Service) readWhole(ctx context.Context, teamID, id string) (Document, error) {
	d, err := s.Read(ctx, teamID, id, Anyone())
	if err != nil {
		return Document{}, err
	}
	item, err := s.Table.Get(ctx, recordKey(teamID, id))
	if err != nil {
		return Document{}, orDamaged(fmt.Errorf("read document: %w", err))
	}
	r := recordFrom(item)
	if r.version != d.Version {
		return d, nil
	}
	if !r.sameBody(d.Body) {
		return Document{}, Damaged(errors.New("its body is another one"))
	}
	intact, err := s.hasOriginal(ctx, r.neededFile())
	if err == nil && !intact {
		err = Damaged(errors.New("its file is missing or another one"))
	}
	return d, err
}
