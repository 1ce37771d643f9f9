package search

import (
	"bytes"
	"docent/shared/search/text"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"sort"

	"github.com/google/uuid"
)

// profileID says how the texts of a segment were analysed.
type profileID byte

// The profiles, as they are in a segment's head.
const (
	proseID profileID = iota
	codeID
	profileCount
)

// segment is an open segment. Its file never changes, so a segment is safe for
// concurrent use; of one that is read by range each query has a view of its own.
type segment struct {
	profile    profileID
	analysis   byte
	passages   int
	documents  int
	sumLengths uint64

	termIndex, termText []byte
	starts              []byte
	ranks               []uint32 // documents begun before each rankEvery passages
	lengths             []uint16 // by passage; nil in a ranged one until a view has loaded them
	sections            [sectionCount]section
	size                int       // of what is held in memory
	pages               *pageView // nil when the file is held whole
}

// section is a part of the file; data is nil when the file is read by range.
type section struct {
	offset, size int64
	data         []byte
}

// rankEvery is how many passages lie between two counts of documents.
const rankEvery = 256

// footer is what the end of a file says of it.
type footer struct {
	sections            [sectionCount]section
	passages, documents int
	sumLengths          uint64
	sumOfSums           uint32
}

// openSegment checks data, a whole file, and opens it. Any byte that is not as it
// was written gives an error with errDamaged in its chain.
func openSegment(data []byte) (*segment, error) {
	f, err := readFooter(data, int64(len(data)))
	if err != nil {
		return nil, err
	}
	for i, c := range f.sections {
		f.sections[i].data = data[c.offset : c.offset+c.size : c.offset+c.size]
	}
	sums := f.sections[secSums]
	if err := checkSums(sums.data, f); err != nil {
		return nil, err
	}
	for i, rest := 0, data[:sums.offset]; len(rest) > 0; i++ {
		page := rest[:min(pageBytes, len(rest))]
		if err := checkPage(page, i, sums.data); err != nil {
			return nil, err
		}
		rest = rest[len(page):]
	}
	s, err := newSegment(f, data[:headBytes], f.sections[secTerms].data, f.sections[secStarts].data)
	if err != nil {
		return nil, err
	}
	s.lengths, err = unpackLengths(f.sections[secLengths].data, s.passages, s.sumLengths)
	s.size = len(data) + 2*s.passages
	return s, err
}

// readFooter reads the footer of a file of size bytes from its last bytes.
func readFooter(tail []byte, size int64) (f footer, err error) {
	if size < headBytes+footerBytes || len(tail) < footerBytes {
		return f, damaged("%d bytes", size)
	}
	b := tail[len(tail)-footerBytes:]
	end := b[footerBytes-12:]
	if string(end[8:]) != segmentMagic || binary.LittleEndian.Uint32(end[4:]) != footerBytes ||
		binary.LittleEndian.Uint32(end) != crc32.Checksum(b[:footerBytes-12], castagnoli) {
		return f, damaged("footer")
	}
	at, limit := uint64(headBytes), uint64(size-footerBytes)
	for i := range f.sections {
		offset := binary.LittleEndian.Uint64(b[16*i:])
		length := binary.LittleEndian.Uint64(b[16*i+8:])
		if offset != at || length > limit-at {
			return f, damaged("section %d", i)
		}
		f.sections[i] = section{offset: int64(offset), size: int64(length)}
		at += length
	}
	sums := f.sections[secSums]
	if at != limit || (sums.offset+pageBytes-1)/pageBytes*4 != sums.size {
		return f, damaged("sections end at %d of %d, with %d bytes of page sums", at, limit, sums.size)
	}
	counts := b[sectionCount*16:]
	f.passages = int(binary.LittleEndian.Uint32(counts))
	f.documents = int(binary.LittleEndian.Uint32(counts[4:]))
	f.sumLengths = binary.LittleEndian.Uint64(counts[8:])
	f.sumOfSums = binary.LittleEndian.Uint32(counts[16:])
	return f, nil
}

func checkSums(sums []byte, f footer) error {
	if crc32.Checksum(sums, castagnoli) != f.sumOfSums {
		return damaged("page sums")
	}
	return nil
}

// checkPage compares a page of the file with its sum.
func checkPage(page []byte, number int, sums []byte) error {
	if crc32.Checksum(page, castagnoli) != binary.LittleEndian.Uint32(sums[4*number:]) {
		return damaged("page %d", number)
	}
	return nil
}

// newSegment opens what a segment holds in memory in any case.
func newSegment(f footer, head, terms, starts []byte) (*segment, error) {
	if string(head[:4]) != segmentMagic || head[4] != formatVersion || head[7] != 0 {
		return nil, damaged("head")
	}
	if head[5] > text.AnalysisVersion || head[6] >= byte(profileCount) {
		return nil, damaged("analysis %d, profile %d", head[5], head[6])
	}
	s := &segment{profile: profileID(head[6]), analysis: head[5], passages: f.passages, documents: f.documents,
		sumLengths: f.sumLengths, starts: starts, sections: f.sections}
	return s, s.layOut(terms)
}

// bytes returns size bytes of a section, which must lie within it.
func (s *segment) bytes(of int, from, size int64) ([]byte, error) {
	c := s.sections[of]
	if s.pages == nil {
		return c.data[from : from+size : from+size], nil
	}
	if of == secDictionary && s.pages.page((c.offset+from)/pageBytes) == nil {
		if err := s.pages.fetch([]span{s.span(of, from, max(size, min(readAhead, c.size-from)))}, joinWithin); err != nil {
			return nil, err
		}
	}
	return s.pages.read(c.offset+from, size)
}

// layOut checks that the sections fit each other.
func (s *segment) layOut(terms []byte) error {
	if s.passages > maxPassages || len(s.starts) != (s.passages+3)/4 ||
		s.sections[secDocuments].size != int64(documentBytes*s.documents) || s.documents > s.passages {
		return damaged("%d passages of %d documents", s.passages, s.documents)
	}
	if len(terms) < 4 {
		return damaged("term index")
	}
	blocks := uint64(binary.LittleEndian.Uint32(terms))
	if terms = terms[4:]; blocks*8 > uint64(len(terms)) {
		return damaged("term index of %d blocks", blocks)
	}
	s.termIndex, s.termText = terms[:8*blocks], terms[8*blocks:]
	begun := uint32(0)
	for i := 0; i < s.passages; i++ {
		if i%rankEvery == 0 {
			s.ranks = append(s.ranks, begun)
		}
		if s.start(i)&startsDocument != 0 {
			begun++
		}
	}
	if int(begun) != s.documents || s.passages > 0 && s.start(0)&startsDocument == 0 {
		return damaged("%d documents begin", begun)
	}
	return nil
}

func (s *segment) start(passage int) byte {
	return s.starts[passage/4] >> (passage % 4 * 2) & 3
}

// length is the number of terms of a passage, the title's counted twice.
func (s *segment) length(passage int) uint16 {
	return s.lengths[passage]
}

// document returns the number of the document that passage belongs to.
func (s *segment) document(passage int) int {
	from := passage / rankEvery * rankEvery
	return int(s.ranks[passage/rankEvery]) + s.count(startsDocument, from, passage+1) - 1
}

// count counts the passages from from up to but without to that have the bit;
// from is a multiple of 4.
func (s *segment) count(bit byte, from, to int) int {
	n := 0
	for _, b := range s.starts[from/4 : to/4] {
		n += bits.OnesCount8(b & (0b01010101 * bit))
	}
	for i := to / 4 * 4; i < to; i++ {
		if s.start(i)&bit != 0 {
			n++
		}
	}
	return n
}

// begin returns the last passage, up to passage, that has one of the bits, 0 when
// none has.
func (s *segment) begin(mask byte, passage int) int {
	for i := passage; i > 0; i-- {
		if s.start(i)&mask != 0 {
			return i
		}
		for i%4 == 0 && i > 4 && s.starts[i/4-1]&(0b01010101*mask) == 0 {
			i -= 4
		}
	}
	return 0
}

// identity returns the id and version of a document by its number. The segment
// must be held whole.
func (s *segment) identity(document int) (uuid.UUID, int64) {
	d := s.sections[secDocuments].data[documentBytes*document:]
	return uuid.UUID(d[:16]), int64(binary.LittleEndian.Uint64(d[16:]))
}

// identify is identity for any segment.
func (s *segment) identify(document int) (uuid.UUID, int64, error) {
	d, err := s.bytes(secDocuments, int64(documentBytes*document), documentBytes)
	if err != nil {
		return uuid.Nil, 0, err
	}
	return uuid.UUID(d[:16]), int64(binary.LittleEndian.Uint64(d[16:])), nil
}

// place says where a passage lies: in which chunk of its document, from 1, or 0
// for a body in its record; and at which place in it, from 0.
func (s *segment) place(passage int) (chunk, within int) {
	first := s.begin(startsDocument, passage)
	within = passage - s.begin(startsDocument|startsChunk, passage)
	even := (first + 3) / 4 * 4
	for i := first; i < min(even, passage+1); i++ {
		chunk += int(s.start(i) / startsChunk)
	}
	if passage >= even {
		chunk += s.count(startsChunk, even, passage+1)
	}
	return chunk, within
}

// find looks a term up. A missing one gives an empty list.
func (s *segment) find(term string) (postingList, error) {
	i := s.blockOf(term)
	if i < 0 {
		return postingList{}, nil
	}
	t := termReader{s: s, block: i}
	for range blockTerms {
		ok, err := t.next()
		if err != nil || !ok {
			return postingList{}, err
		}
		if c := bytes.Compare(t.term, []byte(term)); c == 0 {
			return t.list, nil
		} else if c > 0 {
			return postingList{}, nil
		}
	}
	return postingList{}, nil
}

// blockOf returns the dictionary block that holds term if any does, -1 for none.
func (s *segment) blockOf(term string) int {
	return sort.Search(len(s.termIndex)/8, func(i int) bool {
		first, _ := s.firstTerm(i)
		return string(first) > term
	}) - 1
}

// blockRange returns where a dictionary block lies in its section.
func (s *segment) blockRange(block int) (from, to int64, err error) {
	to = s.sections[secDictionary].size
	from = int64(binary.LittleEndian.Uint32(s.termIndex[8*block:]))
	if 8*block+8 < len(s.termIndex) {
		to = min(to, int64(binary.LittleEndian.Uint32(s.termIndex[8*block+8:])))
	}
	if from > to {
		return 0, 0, damaged("offset of dictionary block %d", block)
	}
	return from, to, nil
}

// firstTerm returns the first term of a dictionary block, nil when the index is damaged.
func (s *segment) firstTerm(block int) ([]byte, error) {
	from := uint32(0)
	if block > 0 {
		from = binary.LittleEndian.Uint32(s.termIndex[8*block-4:])
	}
	to := binary.LittleEndian.Uint32(s.termIndex[8*block+4:])
	if from > to || int64(to) > int64(len(s.termText)) {
		return nil, damaged("term of dictionary block %d", block)
	}
	return s.termText[from:to], nil
}
