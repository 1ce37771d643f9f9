package document

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/table"
)

// current is the stored record that a Put finds.
type current struct {
	record
	stored bool // there is a record
	live   bool // its source exists; records of a deleted source are stored until cleaned up
	exists bool // live and of the caller's kind: a put of a document ignores items, and the reverse
}

// same reports whether putting e with body would change nothing.
func (c current) same(e Entry, body string) bool {
	return c.Fields == e.Fields && c.sameBody(body) &&
		(e.Facts == nil || c.CreatedAt.Equal(e.CreatedAt) && c.Facts.equal(*e.Facts))
}

// newer reports whether the provider changed c later than e.
func (c current) newer(e Entry) bool {
	return e.Facts != nil && !e.Facts.Changed.IsZero() && e.Facts.Changed.Before(c.Facts.Changed)
}

func (c current) visibleVersion() int64 {
	if c.exists {
		return c.version
	}
	return 0
}

// currentFor reads the document's record and the source that in puts it into, in one
// round trip. Only a document of another source takes a second one.
func (s *Service) currentFor(ctx context.Context, teamID, id string, in Input) (current, error) {
	if !isID(in.CollectionID) { // it may be invalid in a key
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

// live reports whether a source of the team exists.
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
