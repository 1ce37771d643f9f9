package document

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"docent/shared/table"
)

// wholeList yields the entries of a list of a source in its order, for readers that take a missing one for a deleted document. In
// place of a damaged entry it yields what the record says, and writes the entry again. Only a document whose record is damaged,
// too, is left out. It stops at the first error.
func (s *Service) wholeList(ctx context.Context, teamID string, q table.Query) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		for {
			page, err := s.Table.Query(ctx, q)
			items := page.Items
			if damaged := table.AsDamaged(err); damaged != nil {
				s.damaged(ctx, damaged)
				var again []table.Item
				if again, err = s.entriesAgain(ctx, teamID, damaged.Keys); err == nil {
					items = append(items, again...)
					slices.SortFunc(items, func(a, b table.Item) int { return strings.Compare(a.Sort, b.Sort) })
				}
			}
			if err != nil {
				yield(table.Item{}, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if page.Cursor == "" {
				return
			}
			q.Cursor = page.Cursor
		}
	}
}

// entriesAgain returns the entries in lists that belong under keys, as the records of their documents say, and writes them.
func (s *Service) entriesAgain(ctx context.Context, teamID string, keys []table.Key) ([]table.Item, error) {
	var records []table.Key
	for _, k := range keys {
		if id := idInList(k); isID(id) {
			records = append(records, recordKey(teamID, id))
		}
	}
	found, err := s.undamaged().BatchGet(ctx, records)
	if err != nil {
		return nil, fmt.Errorf("read the records of damaged entries: %w", err)
	}
	var entries []table.Item
	for _, item := range found {
		e := entryFrom(item)
		for _, k := range listKeys(teamID, e) {
			if !slices.Contains(keys, k) {
				continue
			}
			entry := entryItem(k, e)
			entries = append(entries, entry)
			// Who lists needs no new entry, and the next one tries again: a failure does not matter here.
			_ = s.Table.Write(ctx, table.Put{Item: entry}, table.Check{Key: recordKey(teamID, e.ID), If: table.VersionIs(item.Version)})
		}
	}
	return entries, nil
}

// idInList returns the id of the document that a list has under a key.
func idInList(k table.Key) string { return k.Sort[strings.LastIndexByte(k.Sort, '#')+1:] }
