package segment

import (
	"errors"
	"iter"
	"sync/atomic"
)

// Admitted is the passages of one segment that a query may find. They never change. It is safe for concurrent use.
type Admitted struct {
	bits       []uint64 // by passage
	Passages   int
	SumLengths uint64 // 0 in a segment of vectors

	// counts has how many postings of long lists are in these passages, so that only the first query with a term
	// reads its whole list. See known.
	counts []atomic.Uint64
}

// passagesPerCount sets the size of Admitted.counts.
const passagesPerCount = 32

// Size returns about how many bytes a takes.
func (a *Admitted) Size() int64 { return int64(8*len(a.bits)) + int64(8*len(a.counts)) + 64 }

func (a *Admitted) has(passage int) bool { return a.bits[passage/64]>>(passage%64)&1 != 0 }

// Admit returns the passages of the documents that admit accepts. It asks for each document once, in order.
// Of a segment of postings that is read by range it reads the lengths.
func (s *Segment) Admit(admit func(document int) bool) (*Admitted, error) {
	if s.Numbers == 0 {
		if err := s.Load(nil); err != nil {
			return nil, err
		}
	}
	a := &Admitted{bits: make([]uint64, (s.Passages+63)/64), counts: make([]atomic.Uint64, s.Passages/passagesPerCount)}
	document, ok := -1, false
	for i := range s.Passages {
		if s.start(i)&StartsDocument != 0 {
			document++
			ok = admit(document)
		}
		if ok {
			a.bits[i/64] |= 1 << (i % 64)
			a.Passages++
			a.SumLengths += uint64(s.lengthOf(i))
		}
	}
	return a, nil
}

// Only returns a view of s for one query that may find only the passages of a, which must be of s. The postings, document
// frequencies, statistics and stretches of the view are of these passages alone. Its numbers of passages and documents are
// those of s.
func (s *Segment) Only(a *Admitted) *Segment {
	v := *s
	if a.Passages < s.Passages {
		v.only = a
	}
	return &v
}

// Restricted reports whether s is a view of some of the passages. Then the lists that Find and EachTerm
// return have to be loaded before their DF is known.
func (s *Segment) Restricted() bool { return s.only != nil }

// Statistics returns the number of passages that a query may find, and the sum of their lengths.
func (s *Segment) Statistics() (passages int, lengths uint64) {
	if s.only != nil {
		return s.only.Passages, s.only.SumLengths
	}
	return s.Passages, s.SumLengths
}

// Admits reports whether a query may find a passage.
func (s *Segment) Admits(passage int) bool { return s.only == nil || s.only.has(passage) }

// Stretches yields ranges of passages, ascending, that contain all passages that a query may find. A
// stretch may also contain others, fewer than 64 before and after each that may be found.
func (s *Segment) Stretches() iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		if s.only == nil {
			yield(0, s.Passages)
			return
		}
		words := s.only.bits
		for i := 0; i < len(words); i++ {
			if words[i] == 0 {
				continue
			}
			from := i
			for i+1 < len(words) && words[i+1] != 0 {
				i++
			}
			if !yield(64*from, min(64*(i+1), s.Passages)) {
				return
			}
		}
	}
}

var errNotLoaded = errors.New("the postings of a restricted view are not loaded")

// countBits is the part of an entry of Admitted.counts that is the count; the rest is the place of the list.
const countBits = 24

// slot returns the entry of counts for the list at a place in the section, or nil if there is none. Lists of one
// slot replace each other.
func (a *Admitted) slot(l *List) *atomic.Uint64 {
	if len(a.counts) == 0 || l.DF <= blockPostings || l.DF >= 1<<countBits || l.at == 0 || l.at >= 1<<(64-countBits) {
		return nil
	}
	const spread = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	return &a.counts[uint64(l.at)*spread>>32%uint64(len(a.counts))]
}

// known returns how many postings of a list are in the passages of a, if a query has counted them.
func (a *Admitted) known(l *List) (count int, ok bool) {
	slot := a.slot(l)
	if slot == nil {
		return 0, false
	}
	entry := slot.Load()
	return int(entry & (1<<countBits - 1)), entry>>countBits == uint64(l.at)
}

// restrict replaces a list by its postings in the passages of a.
func (a *Admitted) restrict(l *List, lengths []uint16) error {
	whole := *l
	whole.only = nil
	if count, ok := a.known(l); ok {
		l.only, l.whole, l.among, l.DF = nil, whole.DF, a, count
		return nil
	}
	blocks, err := whole.Blocks(nil)
	if err != nil {
		return err
	}
	k := keeper{lengths: lengths, kept: make([]Block, 0, 1+len(blocks)*a.Passages/max(l.max, 1))}
	var d Decoded
	for i := range blocks {
		b := &blocks[i]
		if b.Last >= 0 {
			some, all := a.within(b.Previous+1, b.Last+1)
			if !some {
				continue
			}
			if all {
				k.whole(*b)
				continue
			}
		}
		if err := d.Decode(b, l.max); err != nil {
			return err
		}
		k.add(a, b, &d)
	}
	k.flush()
	if slot := a.slot(l); slot != nil {
		slot.Store(uint64(l.at)<<countBits | uint64(k.df))
	}
	l.only, l.restricted, l.blocks, l.DF = nil, true, k.kept, k.df
	return nil
}

// Findable reports of each list, as EachTerm returns it, whether a passage of the view s contains the term. It reads
// those that are not in memory in one round.
func (s *Segment) Findable(lists []List) ([]bool, error) {
	findable := make([]bool, len(lists))
	if s.only == nil {
		for i, l := range lists {
			findable[i] = l.DF > 0
		}
		return findable, nil
	}
	wanted := make([]*List, len(lists))
	for i := range lists {
		wanted[i] = &lists[i]
	}
	if err := s.read(wanted); err != nil {
		return nil, err
	}
	var blocks []Block
	var d Decoded
	for i, whole := range lists {
		whole.only = nil
		var err error
		if blocks, err = whole.Blocks(blocks[:0]); err != nil {
			return nil, err
		}
		if findable[i], err = s.only.hasAny(blocks, &d, whole.max); err != nil {
			return nil, err
		}
	}
	return findable, nil
}

// hasAny reports whether one of the postings in blocks is in the passages of a. It uses d as memory.
func (a *Admitted) hasAny(blocks []Block, d *Decoded, limit int) (bool, error) {
	for i := range blocks {
		b := &blocks[i]
		if b.Last >= 0 {
			switch some, all := a.within(b.Previous+1, b.Last+1); {
			case all:
				return true, nil
			case !some:
				continue
			}
		}
		if err := d.Decode(b, limit); err != nil {
			return false, err
		}
		for _, p := range d.Passages[:d.N] {
			if a.has(int(p)) {
				return true, nil
			}
		}
	}
	return false, nil
}

// narrow removes the blocks without a passage of a from blocks, which have heads. Of the others, those with
// passages that are not of a are marked, so that Decode leaves these out.
func (a *Admitted) narrow(blocks []Block) []Block {
	kept := blocks[:0]
	for _, b := range blocks {
		some, all := a.within(b.Previous+1, b.Last+1)
		if !some {
			continue
		}
		if !all {
			b.among = a
		}
		kept = append(kept, b)
	}
	return kept
}

// keep leaves only the postings of d that are in the passages of a.
func (a *Admitted) keep(d *Decoded) {
	at := 0
	for i, p := range d.Passages[:d.N] {
		// Without a branch, as in add.
		d.Passages[at], d.Frequencies[at] = p, d.Frequencies[i]
		at += int(a.bits[uint32(p)/64] >> (uint32(p) % 64) & 1)
	}
	d.N = at
}

// within reports whether some and whether all of the passages [from, to) are in a.
func (a *Admitted) within(from, to int) (some, all bool) {
	all = true
	for w := from / 64; 64*w < to; w++ {
		mask := ^uint64(0)
		if 64*w < from {
			mask <<= from - 64*w
		}
		if left := to - 64*w; left < 64 {
			mask &= 1<<left - 1
		}
		held := a.bits[w] & mask
		some, all = some || held != 0, all && held == mask
		if some && !all {
			break
		}
	}
	return some, all
}

// keeper collects the postings of a list that are kept, in blocks.
type keeper struct {
	lengths []uint16
	kept    []Block
	df      int
	open    *Decoded // the block that is being filled, nil: none
	highest uint32   // bounds of its postings
	lowest  uint16
}

// whole keeps a block as it is.
func (k *keeper) whole(b Block) {
	k.flush()
	k.kept = append(k.kept, b)
	k.df += b.N
}

// add keeps the postings of a block that are in a.
func (k *keeper) add(a *Admitted, b *Block, d *Decoded) {
	if k.open == nil {
		k.begin()
	}
	if b.Last >= 0 {
		k.highest, k.lowest = max(k.highest, b.Highest), min(k.lowest, b.Lowest)
	} else { // the block has no head
		for i := range d.N {
			k.highest, k.lowest = max(k.highest, d.Frequencies[i]), min(k.lowest, k.lengths[d.Passages[i]])
		}
	}
	passages, frequencies := d.Passages[:d.N], d.Frequencies[:d.N]
	for len(passages) > 0 {
		o, n := k.open, min(blockPostings-k.open.N, len(passages))
		at := o.N // at most blockPostings - 1 in the loop
		for i, p := range passages[:n] {
			// Without a branch, which would often be predicted wrong.
			o.Passages[at%blockPostings], o.Frequencies[at%blockPostings] = p, frequencies[i]
			at += int(a.bits[uint32(p)/64] >> (uint32(p) % 64) & 1)
		}
		o.N, passages, frequencies = at, passages[n:], frequencies[n:]
		if at == blockPostings {
			highest, lowest := k.highest, k.lowest
			k.flush()
			k.begin()
			k.highest, k.lowest = highest, lowest
		}
	}
}

func (k *keeper) begin() { k.open, k.highest, k.lowest = new(Decoded), 0, 1<<16-1 }

// flush keeps the block that is being filled.
func (k *keeper) flush() {
	if o := k.open; o != nil && o.N > 0 {
		k.kept = append(k.kept, Block{decoded: o, N: o.N, Previous: int(o.Passages[0]) - 1, Last: int(o.Passages[o.N-1]),
			Highest: k.highest, Lowest: k.lowest})
		k.df += o.N
	}
	k.open = nil
}
