package segment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"docent/shared/blob"
)

// How a large segment is read by range.
const (
	joinWithin  = 64 << 10 // two ranges with a smaller gap are one request
	spreadJoin  = 8 << 10  // the same for evenly spread places, where a larger gap would join them all into the whole section
	readAhead   = 64 << 10 // of the dictionary, when it is read in order
	rangeAtOnce = 32       // ranges of one segment read in parallel
)

// span is a range of bytes of a file.
type span struct{ from, to int64 }

// pageView reads one file by range for one query, and keeps what it has read until the
// query ends. It is not safe for concurrent use.
type pageView struct {
	ctx   context.Context // of the query
	blobs blob.Store
	name  string
	end   int64  // of the bytes that page sums cover
	sums  []byte // of pages
	cache *Cache
	known []atomic.Pointer[entry] // of all views of the file: where pages are in the cache, so that a query rarely looks for one
	held  map[int64][]byte

	ahead   int64 // bytes that are read at once in order, and kept until the next; 0: pages are kept instead
	windows [sectionCount]window
}

// newPageView returns a view of a file whose pages end at end and have these sums.
func newPageView(ctx context.Context, blobs blob.Store, name string, end int64, sums []byte, cache *Cache) *pageView {
	return &pageView{
		ctx: ctx, blobs: blobs, name: name, end: end, sums: sums, cache: cache,
		known: make([]atomic.Pointer[entry], (end+pageBytes-1)/pageBytes), held: map[int64][]byte{},
	}
}

// View returns the segment for a query that ends with ctx.
func (s *Segment) View(ctx context.Context) *Segment {
	if s.pages == nil {
		return s
	}
	v, p := *s, *s.pages
	p.ctx, p.held = ctx, map[int64][]byte{}
	v.pages = &p
	return &v
}

// page returns a page that is in memory, or nil.
func (p *pageView) page(number int64) []byte {
	if c, ok := p.known[number].Load().Value(); ok {
		return c.page
	}
	if b, ok := p.held[number]; ok {
		return b
	}
	e := p.cache.pieces.Entry(pieceKey{p.name, number})
	c, ok := e.Value()
	if ok {
		p.known[number].Store(e)
	}
	return c.page
}

// fetch reads every missing page of spans into memory, in one round. Pages less than gap apart
// are read by one request.
func (p *pageView) fetch(spans []span, gap int64) error {
	var missing []int64
	for _, s := range spans {
		for n := s.from / pageBytes; n*pageBytes < s.to; n++ {
			if p.page(n) == nil {
				missing = append(missing, n)
			}
		}
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	var runs []span
	for _, n := range missing {
		from, to := n*pageBytes, min((n+1)*pageBytes, p.end)
		if last := len(runs) - 1; last >= 0 && from-runs[last].to < gap {
			runs[last].to = to
		} else {
			runs = append(runs, span{from, to})
		}
	}
	switch len(runs) {
	case 0:
		return nil
	case 1:
		return p.readRun(p.ctx, runs[0], new(sync.Mutex))
	}
	return p.readRuns(runs)
}

// readRuns reads runs of whole pages into memory, rangeAtOnce at a time.
func (p *pageView) readRuns(runs []span) error {
	var mu sync.Mutex // of p.held
	var next atomic.Int64
	g, ctx := errgroup.WithContext(p.ctx)
	for range min(rangeAtOnce, len(runs)) {
		g.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(runs)); i = next.Add(1) - 1 {
				if err := p.readRun(ctx, runs[i], &mu); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// readRun reads a run of whole pages. It holds mu while it changes what is held.
func (p *pageView) readRun(ctx context.Context, r span, mu *sync.Mutex) error {
	data, err := p.readPages(ctx, r)
	if err != nil {
		return err
	}
	for n := r.from / pageBytes; len(data) > 0; n++ {
		page := data[:min(pageBytes, len(data))]
		data = data[len(page):]
		if r.to-r.from > pageBytes {
			page = slices.Clone(page) // so that dropping one page frees its memory
		}
		mu.Lock()
		p.held[n] = page
		mu.Unlock()
		p.known[n].Store(p.cache.pieces.Put(pieceKey{p.name, n}, piece{page: page}, int64(len(page))+pieceCost))
	}
	return nil
}

// readPages reads and checks a run of whole pages.
func (p *pageView) readPages(ctx context.Context, r span) ([]byte, error) {
	data, err := p.blobs.GetRange(ctx, p.name, r.from, r.to-r.from)
	if errors.Is(err, blob.ErrInvalid) {
		err = Damaged("it ends before byte %d", r.to)
	}
	if err != nil {
		return nil, fmt.Errorf("read %d bytes of %s: %w", r.to-r.from, p.name, err)
	}
	n := int(r.from / pageBytes)
	for page := range slices.Chunk(data, pageBytes) {
		if err := checkPage(page, n, p.sums); err != nil {
			return nil, fmt.Errorf("read %s: %w", p.name, err)
		}
		n++
	}
	return data, nil
}

// read returns size bytes from offset. They are a copy if they span several pages.
func (p *pageView) read(offset, size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	n, within := offset/pageBytes, offset%pageBytes
	if page := p.page(n); within+size <= int64(len(page)) {
		return page[within : within+size : within+size], nil
	}
	if err := p.fetch([]span{{offset, offset + size}}, joinWithin); err != nil {
		return nil, err
	}
	var out []byte
	for ; int64(len(out)) < size; n++ {
		page := p.page(n)
		for page == nil { // the cache has forgotten it since the fetch
			if err := p.fetch([]span{{n * pageBytes, n*pageBytes + 1}}, joinWithin); err != nil {
				return nil, err
			}
			page = p.page(n)
		}
		if out == nil {
			if within+size <= int64(len(page)) {
				return page[within : within+size : within+size], nil
			}
			out = make([]byte, 0, size)
		}
		page = page[within:]
		out = append(out, page[:min(int64(len(page)), size-int64(len(out)))]...)
		within = 0
	}
	return out, nil
}

// span returns the range in the file of size bytes of a section.
func (s *Segment) span(of int, from, size int64) span {
	at := s.sections[of].offset + from
	return span{at, at + size}
}

// FetchTerms reads the dictionary blocks of terms in one round.
func (s *Segment) FetchTerms(terms []string) error {
	if s.pages == nil {
		return nil
	}
	var spans []span
	for _, t := range terms {
		if i := s.blockOf(t); t != "" && i >= 0 {
			from, to, err := s.blockRange(i)
			if err != nil {
				return err
			}
			spans = append(spans, s.span(secDictionary, from, to-from))
		}
	}
	return s.pages.fetch(spans, joinWithin)
}

// Load reads the postings of lists, and the lengths, in one round. In a view of some passages
// it leaves only the postings of these in the lists.
func (s *Segment) Load(lists []*List) error {
	if err := s.read(lists); err != nil || s.only == nil {
		return err
	}
	for _, l := range lists {
		if l.only == nil {
			continue
		}
		if err := s.only.restrict(l, s.lengths); err != nil {
			return err
		}
	}
	return nil
}

// read reads the postings of lists, and the lengths.
func (s *Segment) read(lists []*List) error {
	if s.pages == nil {
		return nil
	}
	var spans []span
	for _, l := range lists {
		spans = append(spans, s.span(secPostings, l.at, l.size))
	}
	key := pieceKey{s.pages.name, lengthsPiece}
	packed := s.sections[secLengths]
	if s.lengths == nil {
		if c, ok := s.pages.cache.parts.Get(key); ok {
			s.lengths = c.lengths
		} else {
			spans = append(spans, s.span(secLengths, 0, packed.size))
		}
	}
	if err := s.pages.fetch(spans, joinWithin); err != nil {
		return err
	}
	for _, l := range lists {
		var err error
		if l.bytes, err = s.bytes(secPostings, l.at, l.size); err != nil {
			return err
		}
	}
	if s.lengths != nil {
		return nil
	}
	b, err := s.bytes(secLengths, 0, packed.size)
	if err != nil {
		return err
	}
	if s.lengths, err = unpackLengths(b, s.Passages, s.SumLengths); err != nil {
		return err
	}
	s.pages.cache.parts.Put(key, piece{lengths: s.lengths}, 2*int64(s.Passages)+pieceCost)
	s.pages.forget(packed)
	return nil
}

// forget drops the pages that are wholly within a section.
func (p *pageView) forget(c section) {
	for n := (c.offset + pageBytes - 1) / pageBytes; (n+1)*pageBytes <= c.offset+c.size; n++ {
		delete(p.held, n)
		p.cache.pieces.Remove(pieceKey{p.name, n})
	}
}

// FetchDocuments reads the entries of documents that Identify needs, in one round.
func (s *Segment) FetchDocuments(documents []int) error {
	if s.pages == nil {
		return nil
	}
	spans := make([]span, len(documents))
	for i, d := range documents {
		spans[i] = s.span(secDocuments, int64(documentBytes*d), documentBytes)
	}
	return s.pages.fetch(spans, spreadJoin)
}

// OpenRanged opens a file of size bytes by range: it reads the footer with the page
// sums, then the head, the term index and the starts.
func OpenRanged(ctx context.Context, blobs blob.Store, name string, size int64, cache *Cache) (*Segment, error) {
	f, sums, err := readEnd(ctx, blobs, name, size)
	if err != nil {
		return nil, err
	}
	none := NewCache(0, 0) // the segment itself keeps these pages
	v := newPageView(ctx, blobs, name, f.sections[secSums].offset, sums, none)
	sets := f.sections[secSets]
	sets.size = min(sets.size, int64(setsHeadBytes))
	kept := []section{{size: headBytes}, f.sections[secTerms], f.sections[secStarts], sets}
	if hasVectors(f.format) {
		kept = append(kept, f.sections[secSketches], f.sections[secDocuments])
	}
	spans := make([]span, len(kept))
	for i, c := range kept {
		spans[i] = span{c.offset, c.offset + c.size}
	}
	if err = v.fetch(spans, joinWithin); err != nil {
		return nil, err
	}
	parts := make([][]byte, len(kept))
	bytes := 0
	for i, c := range kept {
		b, err := v.read(c.offset, c.size)
		if err != nil {
			return nil, err
		}
		parts[i] = slices.Clone(b)
		bytes += len(b)
	}
	s, err := newSegment(f, parts[0], parts[1], parts[2], parts[3])
	if err != nil {
		return nil, err
	}
	s.pages = v
	v.ctx, v.held, v.cache = nil, nil, cache // each query has a view of its own
	s.size = bytes + footerBytes(f.format) + len(sums) + 4*len(s.ranks) + knownBytes*len(v.known)
	if hasVectors(f.format) {
		s.openVectors(parts[4], parts[5])
	}
	return s, nil
}

// readEnd reads and checks the footer and the page sums of a file of size bytes.
func readEnd(ctx context.Context, blobs blob.Store, name string, size int64) (f footer, sums []byte, err error) {
	n := min(size, maxFooterBytes+(size+pageBytes-1)/pageBytes*4)
	tail, err := blobs.GetRange(ctx, name, size-n, n)
	if errors.Is(err, blob.ErrInvalid) {
		err = Damaged("it is shorter than %d bytes", size)
	}
	if err != nil {
		return f, nil, fmt.Errorf("read the footer: %w", err)
	}
	if f, err = readFooter(tail, size); err != nil {
		return f, nil, err
	}
	end := len(tail) - footerBytes(f.format)
	sums = tail[end-int(f.sections[secSums].size) : end]
	return f, sums, checkSums(sums, f)
}
