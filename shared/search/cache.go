package search

import (
	"context"

	"docent/shared/search/lru"
)

// cache keeps segments, and the pages and lengths of those that are read by range, up
// to a bound in bytes. It is safe for concurrent use.
type cache struct {
	pieces *lru.Cache[pieceKey, piece]
}

// pieceCost is about how many bytes the LRU itself takes for an entry.
const pieceCost = 200

// pieceKey names a piece of a file: a page by its number, or one of the pieces below.
type pieceKey struct {
	blob string
	page int64
}

const (
	wholePiece   = -1 - iota // the segment, all in memory
	openPiece                // a segment that is read by range: what it always has in memory
	lengthsPiece             // the lengths of such a segment
)

// piece is one of: a segment, a page, the lengths.
type piece struct {
	segment *segment
	page    []byte
	lengths []uint16
}

func newCache(bytes int64) *cache {
	return &cache{lru.New[pieceKey, piece](bytes)}
}

// segment returns the segment of a file for one query, or nil if it is not in memory.
func (c *cache) segment(ctx context.Context, name string) *segment {
	for _, kind := range []int64{wholePiece, openPiece} {
		if p, ok := c.pieces.Get(pieceKey{name, kind}); ok {
			return p.segment.view(ctx)
		}
	}
	return nil
}

// put keeps the segment of a file.
func (c *cache) put(name string, s *segment) {
	kind := int64(wholePiece)
	if s.pages != nil {
		kind = openPiece
	}
	c.pieces.Put(pieceKey{name, kind}, piece{segment: s}, int64(s.size)+pieceCost)
}
