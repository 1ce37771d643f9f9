package segment

import (
	"context"

	"docent/shared/search/lru"
)

// Cache keeps segments, and the pages and lengths of those that are read by range, up
// to a bound in bytes. It is safe for concurrent use.
type Cache struct {
	pieces *lru.Cache[pieceKey, piece]
}

// pieceCost is the approximate number of bytes that the LRU needs for an entry.
const pieceCost = 200

// pieceKey names a piece of a file: a page by its number, or one of the pieces below.
type pieceKey struct {
	blob string
	page int64
}

const (
	wholePiece   = -1 - iota // the whole segment
	openPiece                // the parts of a ranged segment that are always in memory
	lengthsPiece             // the lengths of such a segment
)

// piece is a segment, a page, or the lengths of passages.
type piece struct {
	segment *Segment
	page    []byte
	lengths []uint16
}

// NewCache returns an empty Cache with a bound in bytes.
func NewCache(bytes int64) *Cache {
	return &Cache{lru.New[pieceKey, piece](bytes)}
}

// Segment returns the segment of a file for one query, or nil if it is not in memory.
func (c *Cache) Segment(ctx context.Context, name string) *Segment {
	for _, kind := range []int64{wholePiece, openPiece} {
		if p, ok := c.pieces.Get(pieceKey{name, kind}); ok {
			return p.segment.View(ctx)
		}
	}
	return nil
}

// Put keeps a segment under the name of its file.
func (c *Cache) Put(name string, s *Segment) {
	kind := int64(wholePiece)
	if s.pages != nil {
		kind = openPiece
	}
	c.pieces.Put(pieceKey{name, kind}, piece{segment: s}, int64(s.size)+pieceCost)
}
