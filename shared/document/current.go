package document

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/table"
)

// current is the stored record of a document. A record whose source was deleted
// is stored until it is cleaned up, but is no longer live. An item does not exist
// for who puts a document, nor a document for who puts an item.
type current struct {
	record
	stored, live, exists bool
}

// same tells whether putting e with body would change nothing.
func (c current) same(e Entry, body string) bool {
	return c.Fields == e.Fields && c.sameBody(body) &&
		(e.Facts == nil || c.CreatedAt.Equal(e.CreatedAt) && c.Facts.equal(*e.Facts))
}

// newer tells whether c is of a later change than e.
func (c current) newer(e Entry) bool {
	return e.Facts != nil && !e.Facts.Changed.IsZero() && e.Facts.Changed.Before(c.Facts.Changed)
}

func (c current) visibleVersion() int64 {
	if c.exists {
		return c.version
	}
	return 0
}

// currentFor reads the document's record and the source it is put into, in one
// round trip; only a document of another source takes a second one.
func (s *Service) currentFor(ctx context.Context, teamID, id string, in Input) (current, error) {
	if !isID(in.CollectionID) { // such a text may be no key at all
		return current{}, noCollection()
	}
	target := s.SourceKey(teamID, in.CollectionID)
	items, err := s.Table.BatchGet(ctx, []table.Key{recordKey(teamID, id), target})
	if err != nil {
		return current{}, fmt.Errorf("read document: %w", err)
	}
	var c current
	found := false
	for _, item := range items {
		if item.Key == target {
			found = s.Connected(item) == (in.Facts != nil)
		} else {
			c.record, c.stored, c.live = recordFrom(item), true, true
		}
	}
	if !found {
		return current{}, noCollection()
	}
	if c.stored && c.CollectionID != in.CollectionID {
		if c.live, err = s.live(ctx, teamID, c.CollectionID); err != nil {
			return current{}, err
		}
	}
	c.exists = c.live && (c.Facts == nil) == (in.Facts == nil)
	return c, nil
}

// live tells whether a source of the team exists.
func (s *Service) live(ctx context.Context, teamID, sourceID string) (bool, error) {
	_, err := s.Table.Get(ctx, s.SourceKey(teamID, sourceID))
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read source: %w", err)
	}
	return true, nil
}
