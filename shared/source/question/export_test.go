package question

import (
	"context"

	"docent/shared/document"
)

// Parts exports parts.
var Parts = parts

// FetchPage fetches a page as Get does.
func (s *Service) FetchPage(ctx context.Context, url string) (Page, error) { return s.fetch(ctx, url) }

// Newest returns the first limit of entries in an order, and how many entries there was room for.
func Newest(entries []document.Entry, limit int, order Order) (first []document.Entry, room int) {
	n := newest{limit: limit, order: order}
	for _, e := range entries {
		n.add(e)
		room = max(room, cap(n.entries))
	}
	return n.all(), room
}

// The bounds of a query without text.
const (
	MaxScannedAll = maxScannedAll
	MaxReadAll    = maxReadAll
)
