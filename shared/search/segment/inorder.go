package segment

import (
	"context"

	"docent/shared/blob"
)

// windowBytes is how much of each section of a segment is in memory while it is read in order. A merge reads two
// sections of each of its segments of postings at a time, and three of vectors of one of them.
const windowBytes = 256 << 10

// window is the part of a section that was read last.
type window struct {
	from int64 // in the file; a whole number of pages
	data []byte
}

// OpenInOrder opens a file of size bytes to merge it, or to read it from start to end. It keeps little in memory: the list
// of documents, which a merge needs twice, and the lengths of passages if the segment is of postings. Reads in another order
// are slow. The Segment is for one caller at a time, until ctx ends.
func OpenInOrder(ctx context.Context, blobs blob.Store, name string, size int64) (*Segment, error) {
	return openInOrder(ctx, blobs, name, size, windowBytes)
}

func openInOrder(ctx context.Context, blobs blob.Store, name string, size, window int64) (*Segment, error) {
	s, err := OpenRanged(ctx, blobs, name, size, NewCache(0, 0))
	if err != nil {
		return nil, err
	}
	s = s.View(ctx)
	s.pages.ahead = window
	documents := &s.sections[secDocuments]
	if s.Numbers > 0 {
		documents.data = s.vectors.names
		return s, nil
	}
	if documents.data, err = s.bytes(secDocuments, 0, documents.size); err != nil {
		return nil, err
	}
	packed, err := s.bytes(secLengths, 0, s.sections[secLengths].size)
	if err != nil {
		return nil, err
	}
	s.lengths, err = unpackLengths(packed, s.Passages, s.SumLengths)
	s.forgetWindows()
	return s, err
}

// forgetWindows drops what is in memory of a segment that is read in order.
func (s *Segment) forgetWindows() {
	if s.pages != nil {
		clear(s.pages.windows[:])
	}
}

// next returns size bytes of a section, and reads more behind them if they are not in its window. Later calls leave them as they are.
func (p *pageView) next(of int, c section, from, size int64) ([]byte, error) {
	at, w := c.offset+from, &p.windows[of]
	if at < w.from || at+size > w.from+int64(len(w.data)) {
		pages := span{at / pageBytes * pageBytes, min(at+max(size, p.ahead), c.offset+c.size)}
		pages.to = min((pages.to+pageBytes-1)/pageBytes*pageBytes, p.end)
		data, err := p.readPages(p.ctx, pages)
		if err != nil {
			return nil, err
		}
		*w = window{pages.from, data}
	}
	return w.data[at-w.from:][:size:size], nil
}
