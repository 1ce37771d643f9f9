package segment

import (
	"context"

	"docent/shared/search/sieve"
)

// Cache keeps segments, and the parts of those that are read by range. It is safe for
// concurrent use.
type Cache struct {
	pieces *sieve.Cache[pieceKey, piece] // whole segments and pages
	parts  *sieve.Cache[pieceKey, piece] // of segments read by range, what every query of them needs
}

// Approximate numbers of bytes that the cache needs in addition.
const (
	pieceCost  = 200 // for a piece
	knownBytes = 72  // for a page of an open segment: where it was kept, also if it is forgotten
)

// pieceKey names a piece of a file: a page by its number, or one of the pieces below. The name is not a handle of the unique package:
// making one waits until the running collection of garbage ends.
type pieceKey struct {
	name string
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

// entry is a piece in the cache.
type entry = sieve.Entry[pieceKey, piece]

// NewCache returns an empty Cache. bytes bounds the memory for whole segments and for pages; parts
// bounds that for what every query of a segment read by range needs, 0: bytes bounds both
// together.
func NewCache(bytes, parts int64) *Cache {
	c := &Cache{pieces: sieve.New[pieceKey, piece](bytes)}
	if c.parts = c.pieces; parts > 0 {
		c.parts = sieve.New[pieceKey, piece](parts)
	}
	return c
}

// Cost returns the bytes in use.
func (c *Cache) Cost() int64 {
	cost := c.pieces.Cost()
	if c.parts != c.pieces {
		cost += c.parts.Cost()
	}
	return cost
}

// Segment returns the segment of a file for one query, or nil if it is not in memory.
func (c *Cache) Segment(ctx context.Context, name string) *Segment {
	p, ok := c.pieces.Get(pieceKey{name, wholePiece})
	if !ok {
		p, ok = c.parts.Get(pieceKey{name, openPiece})
	}
	if !ok {
		return nil
	}
	return p.segment.View(ctx)
}

// Put keeps a segment under the name of its file.
func (c *Cache) Put(name string, s *Segment) {
	to, kind := c.pieces, int64(wholePiece)
	if s.pages != nil {
		to, kind = c.parts, openPiece
	}
	to.Put(pieceKey{name, kind}, piece{segment: s}, int64(s.size)+pieceCost)
}
