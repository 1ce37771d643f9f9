// Package segment writes, reads, checks and merges segment files. A segment is an
// immutable index of passages: the README describes its format.
package segment

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"sort"

	"github.com/google/uuid"

	"docent/shared/search/text"
)

// Profile identifies how the texts of a segment were analysed.
type Profile byte

// The profiles, as they are in a segment's head.
const (
	Prose Profile = iota
	Code
	profileCount
)

// Segment is an open segment. Its file never changes, so a Segment that is completely in memory
// is safe for concurrent use. If it is read by range, each query needs its own View.
type Segment struct {
	Profile    Profile
	Analysis   byte
	Passages   int
	Documents  int
	SumLengths uint64
	Numbers    int // of a vector; 0: the segment has postings

	termIndex, termText []byte
	starts              []byte
	ranks               []uint32 // documents that begin before each group of rankEvery passages
	lengths             []uint16 // by passage; nil in a view of a ranged segment before Load
	sections            [sectionCount]section
	size                int       // bytes in memory
	pages               *pageView // nil if the whole file is in memory
	vectors             *vectorParts
	hasSets             bool
	setSizes            [kindCount]uint32 // of the parts of the section of sets
	only                *Admitted         // nil: all passages
}

// section is a part of the file. data is nil if the part is read by range.
type section struct {
	offset, size int64
	data         []byte
}

// rankEvery is the number of passages between two counts of documents.
const rankEvery = 256

// footer is the content of the footer of a file.
type footer struct {
	format              byte
	sections            [sectionCount]section
	passages, documents int
	sumLengths          uint64
	sumOfSums           uint32
}

// Open checks a whole file and opens it. If a byte has changed since the file was
// written, it returns an error that wraps ErrDamaged.
func Open(data []byte) (*Segment, error) {
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
	sets := f.sections[secSets].data
	s, err := newSegment(f, data[:headBytes], f.sections[secTerms].data, f.sections[secStarts].data, sets[:min(len(sets), setsHeadBytes)])
	if err != nil {
		return nil, err
	}
	if s.Numbers > 0 {
		s.size = len(data)
		s.openVectors(f.sections[secSketches].data, f.sections[secDocuments].data)
		return s, nil
	}
	s.lengths, err = unpackLengths(f.sections[secLengths].data, s.Passages, s.SumLengths)
	s.size = len(data) + 2*s.Passages
	return s, err
}

// readFooter reads the footer of a file of size bytes from its last bytes.
func readFooter(tail []byte, size int64) (f footer, err error) {
	if size < headBytes+footerEnd || len(tail) < footerEnd {
		return f, Damaged("%d bytes", size)
	}
	end := tail[len(tail)-12:]
	bytes := binary.LittleEndian.Uint32(end[4:])
	format, ok := formatOf(bytes)
	if string(end[8:]) != segmentMagic || !ok || int64(bytes)+headBytes > size || int(bytes) > len(tail) {
		return f, Damaged("footer")
	}
	f.format = format
	b := tail[len(tail)-int(bytes):]
	if binary.LittleEndian.Uint32(end) != crc32.Checksum(b[:len(b)-12], castagnoli) {
		return f, Damaged("footer")
	}
	at, limit := uint64(headBytes), uint64(size)-uint64(bytes)
	for i, of := range sectionsOf(format) {
		offset := binary.LittleEndian.Uint64(b[16*i:])
		length := binary.LittleEndian.Uint64(b[16*i+8:])
		if offset != at || length > limit-at {
			return f, Damaged("section %d", of)
		}
		f.sections[of] = section{offset: int64(offset), size: int64(length)}
		at += length
	}
	sums := f.sections[secSums]
	if at != limit || (sums.offset+pageBytes-1)/pageBytes*4 != sums.size {
		return f, Damaged("sections end at %d of %d, with %d bytes of page sums", at, limit, sums.size)
	}
	counts := b[len(b)-footerEnd:]
	f.passages = int(binary.LittleEndian.Uint32(counts))
	f.documents = int(binary.LittleEndian.Uint32(counts[4:]))
	f.sumLengths = binary.LittleEndian.Uint64(counts[8:])
	f.sumOfSums = binary.LittleEndian.Uint32(counts[16:])
	return f, nil
}

func checkSums(sums []byte, f footer) error {
	if crc32.Checksum(sums, castagnoli) != f.sumOfSums {
		return Damaged("page sums")
	}
	return nil
}

// checkPage compares a page of the file with its checksum.
func checkPage(page []byte, number int, sums []byte) error {
	if crc32.Checksum(page, castagnoli) != binary.LittleEndian.Uint32(sums[4*number:]) {
		return Damaged("page %d", number)
	}
	return nil
}

// newSegment opens the parts of a segment that are always in memory.
func newSegment(f footer, head, terms, starts, sets []byte) (*Segment, error) {
	if string(head[:4]) != segmentMagic || head[4] != f.format || !hasVectors(f.format) && head[7] != 0 {
		return nil, Damaged("head")
	}
	if head[5] > text.AnalysisVersion || head[6] >= byte(profileCount) {
		return nil, Damaged("analysis %d, profile %d", head[5], head[6])
	}
	s := &Segment{Profile: Profile(head[6]), Analysis: head[5], Passages: f.passages, Documents: f.documents,
		SumLengths: f.sumLengths, Numbers: numbersPerUnit * int(head[7]), starts: starts, sections: f.sections, hasSets: hasSets(f.format)}
	if err := s.layOut(); err != nil {
		return nil, err
	}
	if err := s.layOutSets(sets); err != nil {
		return nil, err
	}
	if hasVectors(f.format) {
		return s, s.layOutVectors()
	}
	return s, s.layOutTerms(terms)
}

// bytes returns size bytes of a section. They must be within it.
func (s *Segment) bytes(of int, from, size int64) ([]byte, error) {
	c := s.sections[of]
	if s.pages == nil || c.data != nil {
		return c.data[from : from+size : from+size], nil
	}
	if s.pages.ahead > 0 {
		return s.pages.next(of, c, from, size)
	}
	if of == secDictionary && s.pages.page((c.offset+from)/pageBytes) == nil {
		if err := s.pages.fetch([]span{s.span(of, from, max(size, min(readAhead, c.size-from)))}, joinWithin); err != nil {
			return nil, err
		}
	}
	return s.pages.read(c.offset+from, size)
}

// Ranged reports whether the segment is read by range, so that reading may wait for requests.
func (s *Segment) Ranged() bool { return s.pages != nil }

// layOut checks that the counts, starts and documents are consistent.
func (s *Segment) layOut() error {
	if s.Passages > maxPassages || len(s.starts) != (s.Passages+3)/4 ||
		s.sections[secDocuments].size != int64(documentBytes*s.Documents) || s.Documents > s.Passages {
		return Damaged("%d passages of %d documents", s.Passages, s.Documents)
	}
	begun := uint32(0)
	for i := 0; i < s.Passages; i++ {
		if i%rankEvery == 0 {
			s.ranks = append(s.ranks, begun)
		}
		if s.start(i)&StartsDocument != 0 {
			begun++
		}
	}
	if int(begun) != s.Documents || s.Passages > 0 && s.start(0)&StartsDocument == 0 {
		return Damaged("%d documents begin", begun)
	}
	return nil
}

// layOutTerms checks and takes the term index.
func (s *Segment) layOutTerms(terms []byte) error {
	if len(terms) < 4 {
		return Damaged("term index")
	}
	blocks := uint64(binary.LittleEndian.Uint32(terms))
	if terms = terms[4:]; blocks*8 > uint64(len(terms)) {
		return Damaged("term index of %d blocks", blocks)
	}
	s.termIndex, s.termText = terms[:8*blocks], terms[8*blocks:]
	return nil
}

func (s *Segment) start(passage int) byte {
	return s.starts[passage/4] >> (passage % 4 * 2) & 3
}

// Length returns the number of terms of a passage. Those of the title count twice.
func (s *Segment) Length(passage int) uint16 {
	return s.lengths[passage]
}

// lengthOf is Length, or 0 in a segment of vectors.
func (s *Segment) lengthOf(passage int) int {
	if s.lengths == nil {
		return 0
	}
	return int(s.lengths[passage])
}

// Document returns the number of the document of a passage.
func (s *Segment) Document(passage int) int {
	from := passage / rankEvery * rankEvery
	return int(s.ranks[passage/rankEvery]) + s.count(StartsDocument, from, passage+1) - 1
}

// count counts the passages in [from, to) that have the bit. from must be a multiple of
// 4.
func (s *Segment) count(bit byte, from, to int) int {
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

// begin returns the last passage, up to passage, that has one of the bits of mask, or
// 0.
func (s *Segment) begin(mask byte, passage int) int {
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

// Identify returns the id and version of a document by its number.
func (s *Segment) Identify(document int) (uuid.UUID, int64, error) {
	d, err := s.bytes(secDocuments, int64(documentBytes*document), documentBytes)
	if err != nil {
		return uuid.Nil, 0, err
	}
	return uuid.UUID(d[:16]), int64(binary.LittleEndian.Uint64(d[16:])), nil
}

// Place returns where a passage is stored: the chunk of its document, counted from 1, or 0 for a
// body in its record, and the place within the chunk, counted from 0.
func (s *Segment) Place(passage int) (chunk, within int) {
	first := s.begin(StartsDocument, passage)
	within = passage - s.begin(StartsDocument|StartsChunk, passage)
	even := (first + 3) / 4 * 4
	for i := first; i < min(even, passage+1); i++ {
		chunk += int(s.start(i) / StartsChunk)
	}
	if passage >= even {
		chunk += s.count(StartsChunk, even, passage+1)
	}
	return chunk, within
}

// Find looks a term up. The list of a missing term is empty.
func (s *Segment) Find(term string) (List, error) {
	i := s.blockOf(term)
	if i < 0 {
		return List{}, nil
	}
	t := termReader{s: s, block: i, term: make([]byte, 0, 64)} // most terms are shorter
	for range blockTerms {
		ok, err := t.next()
		if err != nil || !ok {
			return List{}, err
		}
		if c := bytes.Compare(t.term, []byte(term)); c == 0 {
			return t.list, nil
		} else if c > 0 {
			return List{}, nil
		}
	}
	return List{}, nil
}

// blockOf returns the block of the dictionary that would contain term, -1 for none.
func (s *Segment) blockOf(term string) int {
	return sort.Search(len(s.termIndex)/8, func(i int) bool {
		first, _ := s.firstTerm(i)
		return string(first) > term
	}) - 1
}

// blockRange returns the place of a block of the dictionary in its section.
func (s *Segment) blockRange(block int) (from, to int64, err error) {
	to = s.sections[secDictionary].size
	from = int64(binary.LittleEndian.Uint32(s.termIndex[8*block:]))
	if 8*block+8 < len(s.termIndex) {
		to = min(to, int64(binary.LittleEndian.Uint32(s.termIndex[8*block+8:])))
	}
	if from > to {
		return 0, 0, Damaged("offset of dictionary block %d", block)
	}
	return from, to, nil
}

// firstTerm returns the first term of a block of the dictionary.
func (s *Segment) firstTerm(block int) ([]byte, error) {
	from := uint32(0)
	if block > 0 {
		from = binary.LittleEndian.Uint32(s.termIndex[8*block-4:])
	}
	to := binary.LittleEndian.Uint32(s.termIndex[8*block+4:])
	if from > to || int64(to) > int64(len(s.termText)) {
		return nil, Damaged("term of dictionary block %d", block)
	}
	return s.termText[from:to], nil
}
