package segment

import (
	"encoding/binary"
	"sort"
)

// List has the postings of one term. If the segment is read by range, call Segment.Load before
// reading them.
type List struct {
	DF       int
	at, size int64 // in the section
	bytes    []byte
	max      int // passages of the segment

	only       *Admitted // the passages of the view, until the list is loaded
	restricted bool      // only blocks counts
	blocks     []Block
	among      *Admitted // the passages of the view, of a list that is narrowed when it is read
	whole      int       // its DF without the view
}

// Loaded reports whether the postings are in memory, of a view those of its passages alone.
func (l List) Loaded() bool { return l.bytes != nil && l.only == nil }

// termReader reads a segment's dictionary from the start of a block.
type termReader struct {
	s     *Segment
	block int    // of the next term, if that is the first of a block
	in    int    // terms of the block that have been read
	rest  []byte // of the dictionary
	at    uint64 // offset of the next postings
	term  []byte
	list  List
}

// next reads one term. It returns false at the end of the dictionary.
func (t *termReader) next() (bool, error) {
	if t.in == blockTerms {
		if len(t.rest) > 0 {
			return false, Damaged("dictionary block %d continues after its last term", t.block)
		}
		t.in = 0
		t.block++
	}
	switch {
	case t.in > 0:
		if len(t.rest) == 0 {
			if t.block+1 < len(t.s.termIndex)/8 {
				return false, Damaged("dictionary block %d ends early", t.block)
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
		return false, Damaged("postings of a term")
	}
	size, n2 := binary.Uvarint(t.rest[n1:])
	all := uint64(t.s.sections[secPostings].size)
	if n2 <= 0 || df == 0 || df > uint64(t.s.Passages) || size < df || t.at > all || size > all-t.at {
		return false, Damaged("postings of a term")
	}
	t.rest = t.rest[n1+n2:]
	t.list = List{DF: int(df), at: int64(t.at), size: int64(size), max: t.s.Passages, only: t.s.only}
	if t.s.pages == nil || t.s.pages.ahead > 0 {
		var err error
		if t.list.bytes, err = t.s.bytes(secPostings, t.list.at, t.list.size); err != nil {
			return false, err
		}
	}
	t.at += size
	return true, nil
}

// open begins the block t.block of the dictionary with its first term.
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
		return Damaged("dictionary block %d", t.block)
	}
	t.rest, t.at = t.rest[n:], at
	t.term = append(t.term[:0], first...)
	return nil
}

// unfold replaces the end of the previous term by the end of the next one.
func (t *termReader) unfold() error {
	shared, n := binary.Uvarint(t.rest)
	if n <= 0 || shared > uint64(len(t.term)) {
		return Damaged("shared start of a term")
	}
	suffix, m := binary.Uvarint(t.rest[n:])
	if m <= 0 || suffix > uint64(len(t.rest)-n-m) {
		return Damaged("end of a term")
	}
	text := t.rest[n+m:][:suffix]
	t.term = append(t.term[:shared], text...)
	t.rest = t.rest[n+m+int(suffix):]
	return nil
}

// blockHead bounds the block that follows it.
type blockHead struct {
	bytes, advance, highest, lowest uint64
}

// readHead reads the head of a block at the start of b and returns its size, or 0 if it
// is damaged.
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

// Block is one block of a list, not decoded.
type Block struct {
	bytes    []byte
	decoded  *Decoded  // instead of bytes
	among    *Admitted // nil: all postings are in the view
	N        int       // postings
	Previous int       // last passage before it
	Last     int       // its last passage; -1 if it has no head
	Highest  uint32
	Lowest   uint16
}

// Blocks appends the blocks of the list to dst without decoding them. A short list is a single
// block without bounds.
func (l List) Blocks(dst []Block) ([]Block, error) {
	switch {
	case l.only != nil:
		return dst, errNotLoaded
	case l.restricted:
		return append(dst, l.blocks...), nil
	case l.among != nil:
		start, a := len(dst), l.among
		l.among, l.DF = nil, l.whole
		dst, err := l.Blocks(dst)
		if err != nil {
			return dst, err
		}
		return dst[:start+len(a.narrow(dst[start:]))], nil
	}
	if l.DF <= blockPostings {
		if l.DF > 0 {
			dst = append(dst, Block{bytes: l.bytes, N: l.DF, Previous: -1, Last: -1})
		}
		return dst, nil
	}
	rest, previous := l.bytes, -1
	for left := l.DF; left > 0; left -= blockPostings {
		h, n := readHead(rest)
		if n == 0 || h.advance == 0 || h.advance >= uint64(l.max-previous) || h.highest > maxFrequency || h.lowest > 1<<16-1 {
			return dst, Damaged("head of a block")
		}
		last := previous + int(h.advance)
		dst = append(dst, Block{bytes: rest[n : n+int(h.bytes)], N: min(left, blockPostings), Previous: previous,
			Last: last, Highest: uint32(h.highest), Lowest: uint16(h.lowest)})
		previous, rest = last, rest[n+int(h.bytes):]
	}
	if len(rest) > 0 {
		return dst, Damaged("%d bytes after the postings", len(rest))
	}
	return dst, nil
}

// Decoded has the postings of one block.
type Decoded struct {
	N           int
	Passages    [blockPostings]int32
	Frequencies [blockPostings]uint32
}

// Decode reads the postings of a block in a segment of limit passages. In a view there may be fewer than the block's N,
// or none.
func (d *Decoded) Decode(block *Block, limit int) error {
	if block.decoded != nil {
		*d = *block.decoded
		return nil
	}
	b, previous := block.bytes, block.Previous
	for i := range block.N {
		var gap uint64
		if len(b) > 0 && b[0] < 0x80 {
			gap, b = uint64(b[0]), b[1:]
		} else {
			v, size := binary.Uvarint(b)
			if size <= 0 {
				return Damaged("passage of a posting")
			}
			gap, b = v, b[size:]
		}
		frequency := uint64(1)
		if gap&1 == 1 {
			v, size := binary.Uvarint(b)
			if size <= 0 || v == 0 || v > maxFrequency {
				return Damaged("frequency of a posting")
			}
			frequency, b = v, b[size:]
		}
		gap >>= 1
		if gap == 0 || gap >= uint64(limit-previous) {
			return Damaged("posting after the last passage")
		}
		previous += int(gap)
		d.Passages[i], d.Frequencies[i] = int32(previous), uint32(frequency)
	}
	if len(b) > 0 || block.Last >= 0 && block.Last != previous {
		return Damaged("block does not match its head")
	}
	d.N = block.N
	if block.among != nil {
		block.among.keep(d)
	}
	return nil
}

// Each calls do for every posting in order.
func (l List) Each(do func(passage int, frequency uint32)) error {
	blocks, err := l.Blocks(nil)
	if err != nil {
		return err
	}
	var d Decoded
	for i := range blocks {
		if err := d.Decode(&blocks[i], l.max); err != nil {
			return err
		}
		for j := range d.N {
			do(int(d.Passages[j]), d.Frequencies[j])
		}
	}
	return nil
}

// EachTerm calls f with each term of the dictionary that begins with prefix, in order, until f returns
// false. f must not keep the term.
func (s *Segment) EachTerm(prefix string, f func(term []byte, l List) bool) error {
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
			if !f(t.term, t.list) {
				return nil
			}
		case begins > prefix:
			return nil
		}
	}
}

// Check reads all postings of all terms, or all vectors, and returns an error that wraps
// ErrDamaged if one is damaged.
func (s *Segment) Check() error {
	if _, err := s.readAllSets(); err != nil {
		return err
	}
	if s.Numbers > 0 {
		return s.checkVectors()
	}
	t := termReader{s: s}
	previous := ""
	for {
		ok, err := t.next()
		if err != nil || !ok {
			return err
		}
		if string(t.term) <= previous {
			return Damaged("term %q after %q", t.term, previous)
		}
		previous = string(t.term)
		if err := t.list.Each(func(int, uint32) {}); err != nil {
			return err
		}
	}
}
