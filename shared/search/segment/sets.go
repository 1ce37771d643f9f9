package segment

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Kind says what the sets of documents are about. The package does not know what an entry means.
type Kind int

// The kinds, in the order of their parts in a file.
const (
	Access   Kind = iota // who may read a document
	Metadata             // what is said about a document
	kindCount
)

// setsHeadBytes is the size of the head of the section of sets: the size of each part.
const setsHeadBytes = 4 * int(kindCount)

// setWriter gathers the sets of one kind. Equal sets are kept once.
type setWriter struct {
	numbers []uint32          // by document, up to the last one that has a set: the set's place in sets + 1; 0: none
	sets    [][]string        // sorted and distinct entries, in order of first use
	known   map[string]uint32 // number by the entries of a set
	key     []byte
}

// Set gives the current document a set of one kind. nil means that it has none, which is not the
// same as an empty set.
func (w *Writer) Set(k Kind, entries []string) {
	if entries == nil {
		return
	}
	entries = slices.Clone(entries)
	slices.Sort(entries)
	s := &w.sets[k]
	s.give(w.docs, s.number(slices.Compact(entries)))
}

// number returns the number of a set of sorted and distinct entries.
func (s *setWriter) number(entries []string) uint32 {
	s.key = s.key[:0]
	for _, e := range entries {
		s.key = binary.AppendUvarint(s.key, uint64(len(e)))
		s.key = append(s.key, e...)
	}
	n, ok := s.known[string(s.key)]
	if !ok {
		if s.known == nil {
			s.known = map[string]uint32{}
		}
		s.sets = append(s.sets, entries)
		n = uint32(len(s.sets))
		s.known[string(s.key)] = n
	}
	return n
}

// give says that the last document has the set of this number; documents is how many there are so far.
func (s *setWriter) give(documents int, number uint32) {
	s.numbers = append(s.numbers, make([]uint32, documents-len(s.numbers))...)
	s.numbers[documents-1] = number
}

// appendSets encodes the sets of a kind.
func (s *setWriter) appendSets(dst []byte, documents int) []byte {
	var entries []string
	for _, set := range s.sets {
		entries = append(entries, set...)
	}
	slices.Sort(entries)
	entries = slices.Compact(entries)
	places := make(map[string]int, len(entries))
	dst = binary.AppendUvarint(dst, uint64(len(entries)))
	for i, e := range entries {
		places[e] = i
		dst = binary.AppendUvarint(dst, uint64(len(e)))
		dst = append(dst, e...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.sets)))
	for _, set := range s.sets {
		dst = binary.AppendUvarint(dst, uint64(len(set)))
		previous := -1
		for _, e := range set {
			dst = binary.AppendUvarint(dst, uint64(places[e]-previous))
			previous = places[e]
		}
	}
	width := numberWidth(len(s.sets))
	dst = append(dst, byte(width))
	if width == 0 {
		return dst
	}
	var number [4]byte
	for d := range documents {
		n := uint32(0)
		if d < len(s.numbers) {
			n = s.numbers[d]
		}
		binary.LittleEndian.PutUint32(number[:], n)
		dst = append(dst, number[:width]...)
	}
	return dst
}

// numberWidth returns the bytes of a document's number if there are this many sets.
func numberWidth(sets int) (width int) {
	for ; sets > 0; sets >>= 8 {
		width++
	}
	return width
}

var errTooManySets = errors.New("the sets of a segment's documents are too large")

// setsSection returns the section of sets, or nil if no document has one.
func (w *Writer) setsSection() ([]byte, error) {
	if len(w.sets[Access].sets) == 0 && len(w.sets[Metadata].sets) == 0 {
		return nil, nil
	}
	out := make([]byte, setsHeadBytes)
	for k := range w.sets {
		before := len(out)
		out = w.sets[k].appendSets(out, w.docs)
		size := len(out) - before
		if size > math.MaxUint32 {
			return nil, errTooManySets
		}
		binary.LittleEndian.PutUint32(out[4*k:], uint32(size))
	}
	return out, nil
}

// Sets has the sets of one kind of a segment's documents.
type Sets struct {
	Entries []string // distinct and ascending
	places  []uint32 // the entries of the sets, one set after the other
	ends    []uint32 // of each set in places
	numbers []byte   // width bytes a document
	width   int
}

// Count returns the number of sets.
func (t *Sets) Count() int { return len(t.ends) }

// Of returns the number of the set of a document, or -1 if it has none.
func (t *Sets) Of(document int) int {
	n := 0
	for i, b := range t.numbers[document*t.width:][:t.width] {
		n |= int(b) << (8 * i)
	}
	return n - 1
}

// Set returns the places in Entries of the entries of a set, ascending. The caller must not change
// them.
func (t *Sets) Set(number int) []uint32 {
	from := uint32(0)
	if number > 0 {
		from = t.ends[number-1]
	}
	return t.places[from:t.ends[number]]
}

// entries returns the entries of a set.
func (t *Sets) entries(number int) []string {
	out := make([]string, 0, len(t.Set(number)))
	for _, place := range t.Set(number) {
		out = append(out, t.Entries[place])
	}
	return out
}

// HasSets reports whether any document has a set of any kind.
func (s *Segment) HasSets() bool { return s.hasSets }

// Sets reads the sets of a kind, or returns nil if no document has one of any kind. Of a segment that is
// read by range it reads one range.
func (s *Segment) Sets(k Kind) (*Sets, error) {
	if !s.HasSets() {
		return nil, nil
	}
	from := s.setsFrom(k)
	b, err := s.bytes(secSets, from, int64(s.setSizes[k]))
	if err != nil {
		return nil, err
	}
	t, err := readSets(b, s.Documents)
	if s.pages != nil {
		s.pages.forget(section{offset: s.sections[secSets].offset + from, size: int64(s.setSizes[k])})
	}
	return t, err
}

// FetchSets reads the sets of some kinds, and the lengths of a segment of postings, in one round, for Sets and
// Admit.
func (s *Segment) FetchSets(kinds ...Kind) error {
	if s.pages == nil || !s.HasSets() {
		return nil
	}
	var spans []span
	for _, k := range kinds {
		spans = append(spans, s.span(secSets, s.setsFrom(k), int64(s.setSizes[k])))
	}
	if s.Numbers == 0 && s.lengths == nil {
		if _, ok := s.pages.cache.parts.Get(pieceKey{s.pages.name, lengthsPiece}); !ok {
			spans = append(spans, s.span(secLengths, 0, s.sections[secLengths].size))
		}
	}
	return s.pages.fetch(spans, joinWithin)
}

// setsFrom returns where the part of a kind begins in the section.
func (s *Segment) setsFrom(k Kind) int64 {
	from := int64(setsHeadBytes)
	for _, size := range s.setSizes[:k] {
		from += int64(size)
	}
	return from
}

// layOutSets takes the head of the section of sets.
func (s *Segment) layOutSets(head []byte) error {
	size := s.sections[secSets].size
	if !s.HasSets() {
		return nil
	}
	if len(head) < setsHeadBytes {
		return Damaged("%d bytes of sets", size)
	}
	sum := int64(setsHeadBytes)
	for k := range s.setSizes {
		s.setSizes[k] = binary.LittleEndian.Uint32(head[4*k:])
		sum += int64(s.setSizes[k])
	}
	if sum != size {
		return Damaged("parts of %v in %d bytes of sets", s.setSizes, size)
	}
	return nil
}

// setReader reads a part of the section of sets.
type setReader struct {
	rest   []byte
	failed bool
}

// count reads a number that is followed by at least as many bytes.
func (r *setReader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.failed = true
		return 0
	}
	return int(n)
}

func (r *setReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.failed = true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// readSets decodes and checks a part.
func readSets(b []byte, documents int) (*Sets, error) {
	r := setReader{rest: b}
	t := &Sets{Entries: make([]string, r.count())}
	for i := range t.Entries {
		size := r.count()
		t.Entries[i] = string(r.rest[:size])
		if r.rest = r.rest[size:]; r.failed || i > 0 && t.Entries[i] <= t.Entries[i-1] {
			return nil, Damaged("entry %d of the sets", i)
		}
	}
	t.ends = make([]uint32, r.count())
	for i := range t.ends {
		place := int64(-1)
		for range r.count() {
			gap := r.number()
			if gap == 0 || gap >= uint64(int64(len(t.Entries))-place) {
				return nil, Damaged("set %d", i)
			}
			place += int64(gap)
			t.places = append(t.places, uint32(place))
		}
		if r.failed {
			return nil, Damaged("set %d", i)
		}
		t.ends[i] = uint32(len(t.places))
	}
	if r.failed || len(r.rest) == 0 {
		return nil, Damaged("sets of documents")
	}
	t.width, t.numbers = int(r.rest[0]), r.rest[1:]
	if t.width != numberWidth(len(t.ends)) || len(t.numbers) != t.width*documents {
		return nil, Damaged("%d bytes for the sets of %d documents", len(t.numbers), documents)
	}
	for d := range documents {
		if t.Of(d) >= len(t.ends) {
			return nil, Damaged("set of document %d", d)
		}
	}
	return t, nil
}

// readAllSets reads the sets of all kinds.
func (s *Segment) readAllSets() (all [kindCount]*Sets, err error) {
	for k := range all {
		if all[k], err = s.Sets(Kind(k)); err != nil {
			return all, err
		}
	}
	return all, nil
}

// setCopier copies the sets of one kind of a segment's documents to a writer.
type setCopier struct {
	to      *Writer
	kind    Kind
	from    *Sets
	numbers []uint32 // in the writer, by number in the segment; 0: not copied yet
}

// setCopiers returns a copier for each kind of which there are sets.
func (w *Writer) setCopiers(all [kindCount]*Sets) (copiers []setCopier) {
	for k, t := range all {
		if t != nil && t.Count() > 0 {
			copiers = append(copiers, setCopier{w, Kind(k), t, make([]uint32, t.Count())})
		}
	}
	return copiers
}

// copy gives the current document of the writer the set of a document of the segment.
func (c *setCopier) copy(document int) {
	n := c.from.Of(document)
	if n < 0 {
		return
	}
	to := &c.to.sets[c.kind]
	if c.numbers[n] == 0 {
		c.numbers[n] = to.number(c.from.entries(n))
	}
	to.give(c.to.docs, c.numbers[n])
}
