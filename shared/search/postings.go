package search

import (
	"encoding/binary"
	"sort"
)

// postingList is the postings of one term: how many, and where they lie. Their
// bytes are there at once in a segment that is held whole, else once loaded.
type postingList struct {
	df       int
	at, size int64 // in the section
	bytes    []byte
	max      int // passages of the segment
}

// termReader walks a segment's dictionary from the start of a block.
type termReader struct {
	s     *segment
	block int    // of the next term, when it is a block's first
	in    int    // terms of the block that have been read
	rest  []byte // of the dictionary
	at    uint64 // offset of the next postings
	term  []byte
	list  postingList
}

// next reads one term; false at the end of the dictionary.
func (t *termReader) next() (bool, error) {
	if t.in == blockTerms {
		if len(t.rest) > 0 {
			return false, damaged("dictionary block %d goes on after its last term", t.block)
		}
		t.in = 0
		t.block++
	}
	switch {
	case t.in > 0:
		if len(t.rest) == 0 {
			if t.block+1 < len(t.s.termIndex)/8 {
				return false, damaged("dictionary block %d ends early", t.block)
			}
			return false, nil
		}
		if err := t.unfold(); err != nil {
			return false, err
		}
	case t.block >= len(t.s.termIndex)/8:
		return false, nil
	default:
		if err := t.open(); err != nil {
			return false, err
		}
	}
	t.in++
	df, n1 := binary.Uvarint(t.rest)
	if n1 <= 0 {
		return false, damaged("postings of a term")
	}
	size, n2 := binary.Uvarint(t.rest[n1:])
	all := uint64(t.s.sections[secPostings].size)
	if n2 <= 0 || df == 0 || df > uint64(t.s.passages) || size < df || t.at > all || size > all-t.at {
		return false, damaged("postings of a term")
	}
	t.rest = t.rest[n1+n2:]
	t.list = postingList{df: int(df), at: int64(t.at), size: int64(size), max: t.s.passages}
	if t.s.pages == nil {
		t.list.bytes = t.s.sections[secPostings].data[t.at : t.at+size]
	}
	t.at += size
	return true, nil
}

// open begins the dictionary block t.block with its first term.
func (t *termReader) open() error {
	from, to, err := t.s.blockRange(t.block)
	if err != nil {
		return err
	}
	if t.rest, err = t.s.bytes(secDictionary, from, to-from); err != nil {
		return err
	}
	first, err := t.s.firstTerm(t.block)
	if err != nil {
		return err
	}
	at, n := binary.Uvarint(t.rest)
	if n <= 0 {
		return damaged("dictionary block %d", t.block)
	}
	t.rest, t.at = t.rest[n:], at
	t.term = append(t.term[:0], first...)
	return nil
}

// unfold replaces the end of the term before with what the next term has instead.
func (t *termReader) unfold() error {
	shared, n := binary.Uvarint(t.rest)
	if n <= 0 || shared > uint64(len(t.term)) {
		return damaged("shared start of a term")
	}
	suffix, m := binary.Uvarint(t.rest[n:])
	if m <= 0 || suffix > uint64(len(t.rest)-n-m) {
		return damaged("end of a term")
	}
	text := t.rest[n+m:][:suffix]
	t.term = append(t.term[:shared], text...)
	t.rest = t.rest[n+m+int(suffix):]
	return nil
}

// blockHead bounds what follows it.
type blockHead struct {
	bytes, advance, highest, lowest uint64
}

// readHead reads the head of a block at the start of b and returns its size, 0
// when it is damaged.
func readHead(b []byte) (h blockHead, size int) {
	for _, field := range []*uint64{&h.bytes, &h.advance, &h.highest, &h.lowest} {
		v, n := binary.Uvarint(b[size:])
		if n <= 0 {
			return h, 0
		}
		*field = v
		size += n
	}
	if h.bytes > uint64(len(b)-size) {
		return h, 0
	}
	return h, size
}

// postingBlock is one block of a list, not decoded.
type postingBlock struct {
	bytes    []byte
	n        int // postings
	previous int // last passage before it
	last     int // its last passage; -1 when it has no head
	highest  uint32
	lowest   uint16
}

// blocks cuts the list into its blocks without decoding them. A list that is not
// cut is one block without bounds.
func (l postingList) blocks(dst []postingBlock) ([]postingBlock, error) {
	if l.df <= blockPostings {
		if l.df > 0 {
			dst = append(dst, postingBlock{bytes: l.bytes, n: l.df, previous: -1, last: -1})
		}
		return dst, nil
	}
	rest, previous := l.bytes, -1
	for left := l.df; left > 0; left -= blockPostings {
		h, n := readHead(rest)
		if n == 0 || h.advance == 0 || h.advance >= uint64(l.max-previous) || h.highest > maxFrequency || h.lowest > 1<<16-1 {
			return dst, damaged("head of a block")
		}
		last := previous + int(h.advance)
		dst = append(dst, postingBlock{bytes: rest[n : n+int(h.bytes)], n: min(left, blockPostings), previous: previous,
			last: last, highest: uint32(h.highest), lowest: uint16(h.lowest)})
		previous, rest = last, rest[n+int(h.bytes):]
	}
	if len(rest) > 0 {
		return dst, damaged("%d bytes after the postings", len(rest))
	}
	return dst, nil
}

// decoded is the postings of one block.
type decoded struct {
	n           int
	passages    [blockPostings]int32
	frequencies [blockPostings]uint32
}

// decode reads the postings of a block in a segment of limit passages.
func (d *decoded) decode(block *postingBlock, limit int) error {
	b, previous := block.bytes, block.previous
	for i := range block.n {
		var gap uint64
		if len(b) > 0 && b[0] < 0x80 {
			gap, b = uint64(b[0]), b[1:]
		} else {
			v, size := binary.Uvarint(b)
			if size <= 0 {
				return damaged("passage of a posting")
			}
			gap, b = v, b[size:]
		}
		frequency := uint64(1)
		if gap&1 == 1 {
			v, size := binary.Uvarint(b)
			if size <= 0 || v == 0 || v > maxFrequency {
				return damaged("frequency of a posting")
			}
			frequency, b = v, b[size:]
		}
		gap >>= 1
		if gap == 0 || gap >= uint64(limit-previous) {
			return damaged("posting after the last passage")
		}
		previous += int(gap)
		d.passages[i], d.frequencies[i] = int32(previous), uint32(frequency)
	}
	if len(b) > 0 || block.last >= 0 && block.last != previous {
		return damaged("block does not hold what its head says")
	}
	d.n = block.n
	return nil
}

// each calls do for every posting in order.
func (l postingList) each(do func(passage int, frequency uint32)) error {
	blocks, err := l.blocks(nil)
	if err != nil {
		return err
	}
	var d decoded
	for i := range blocks {
		if err := d.decode(&blocks[i], l.max); err != nil {
			return err
		}
		for j := range d.n {
			do(int(d.passages[j]), d.frequencies[j])
		}
	}
	return nil
}

// eachTerm calls f with every term of the dictionary that begins with prefix. The
// term is f's only until it returns.
func (s *segment) eachTerm(prefix string, f func(term []byte, df int)) error {
	i := sort.Search(len(s.termIndex)/8, func(i int) bool {
		first, _ := s.firstTerm(i)
		return string(first) >= prefix
	}) - 1
	t := termReader{s: s, block: max(i, 0)}
	for {
		ok, err := t.next()
		if err != nil || !ok {
			return err
		}
		switch begins := string(t.term[:min(len(prefix), len(t.term))]); {
		case begins == prefix:
			f(t.term, t.list.df)
		case begins > prefix:
			return nil
		}
	}
}

// check reads all postings of all terms.
func (s *segment) check() error {
	t := termReader{s: s}
	previous := ""
	for {
		ok, err := t.next()
		if err != nil || !ok {
			return err
		}
		if string(t.term) <= previous {
			return damaged("term %q after %q", t.term, previous)
		}
		previous = string(t.term)
		if err := t.list.each(func(int, uint32) {}); err != nil {
			return err
		}
	}
}
