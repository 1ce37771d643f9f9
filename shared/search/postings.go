package search

import "encoding/binary"

// postingList is the postings of one term: how many, and their bytes.
type postingList struct {
	df    int
	bytes []byte
	max   int // passages of the segment
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
		if len(t.rest) > 0 && t.block+1 >= len(t.s.termIndex)/8 {
			return false, damaged("dictionary goes on after its last block")
		}
		t.in = 0
		t.block++
	}
	switch {
	case t.in > 0:
		if len(t.rest) == 0 {
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
	if n2 <= 0 || df == 0 || df > uint64(t.s.passages) || size < df || t.at > uint64(len(t.s.postings)) || size > uint64(len(t.s.postings))-t.at {
		return false, damaged("postings of a term")
	}
	t.rest = t.rest[n1+n2:]
	t.list = postingList{df: int(df), bytes: t.s.postings[t.at : t.at+size], max: t.s.passages}
	t.at += size
	return true, nil
}

// open begins the dictionary block t.block with its first term.
func (t *termReader) open() error {
	offset := binary.LittleEndian.Uint32(t.s.termIndex[8*t.block:])
	if uint64(offset) > uint64(len(t.s.dictionary)) {
		return damaged("offset of dictionary block %d", t.block)
	}
	t.rest = t.s.dictionary[offset:]
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

// each calls do for every posting in order.
func (l postingList) each(do func(passage int, frequency uint32)) error {
	if l.df <= blockPostings {
		_, rest, err := eachPosting(l.bytes, l.df, -1, l.max, do)
		if err == nil && len(rest) > 0 {
			err = damaged("%d bytes after the postings", len(rest))
		}
		return err
	}
	rest, previous := l.bytes, -1
	for left := l.df; left > 0; left -= blockPostings {
		h, n := readHead(rest)
		if n == 0 {
			return damaged("head of a block")
		}
		block := rest[n : n+int(h.bytes)]
		last, over, err := eachPosting(block, min(left, blockPostings), previous, l.max, do)
		if err != nil {
			return err
		}
		if len(over) > 0 || uint64(last-previous) != h.advance {
			return damaged("block does not hold what its head says")
		}
		previous, rest = last, rest[n+int(h.bytes):]
	}
	if len(rest) > 0 {
		return damaged("%d bytes after the postings", len(rest))
	}
	return nil
}

// eachPosting decodes n postings after the passage previous and returns the last
// one and the bytes that follow.
func eachPosting(b []byte, n, previous, limit int, do func(passage int, frequency uint32)) (int, []byte, error) {
	for range n {
		var gap uint64
		if len(b) > 0 && b[0] < 0x80 {
			gap, b = uint64(b[0]), b[1:]
		} else {
			v, size := binary.Uvarint(b)
			if size <= 0 {
				return previous, nil, damaged("passage of a posting")
			}
			gap, b = v, b[size:]
		}
		frequency := uint64(1)
		if gap&1 == 1 {
			v, size := binary.Uvarint(b)
			if size <= 0 || v == 0 || v > maxFrequency {
				return previous, nil, damaged("frequency of a posting")
			}
			frequency, b = v, b[size:]
		}
		gap >>= 1
		if gap == 0 || gap >= uint64(limit-previous) {
			return previous, nil, damaged("posting after the last passage")
		}
		previous += int(gap)
		do(previous, uint32(frequency))
	}
	return previous, b, nil
}
