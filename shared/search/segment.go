package search

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"sort"

	"github.com/google/uuid"
)

// segment is an open segment: slices into the bytes of its file, which never
// change. It is safe for concurrent use.
type segment struct {
	profile    *profile
	passages   int
	documents  int
	sumLengths uint64

	postings, dictionary, termIndex, termText []byte
	lengths, starts, docs                     []byte
	ranks                                     []uint32 // documents begun before each rankEvery passages
	size                                      int
}

// rankEvery is how many passages lie between two counts of documents.
const rankEvery = 256

// openSegment checks data, a whole file, and opens it. Any byte that is not as it
// was written gives an error with errDamaged in its chain.
func openSegment(data []byte) (*segment, error) {
	if len(data) < headBytes+footerBytes {
		return nil, damaged("%d bytes", len(data))
	}
	footer := data[len(data)-footerBytes:]
	tail := footer[footerBytes-12:]
	if string(tail[8:]) != segmentMagic || binary.LittleEndian.Uint32(tail[4:]) != footerBytes ||
		binary.LittleEndian.Uint32(tail) != crc32.Checksum(footer[:footerBytes-12], castagnoli) {
		return nil, damaged("footer")
	}
	sections, err := splitSections(data, footer)
	if err != nil {
		return nil, err
	}
	counts := footer[sectionCount*16:]
	s := &segment{
		passages:   int(binary.LittleEndian.Uint32(counts)),
		documents:  int(binary.LittleEndian.Uint32(counts[4:])),
		sumLengths: binary.LittleEndian.Uint64(counts[8:]),
		postings:   sections[secPostings], dictionary: sections[secDictionary],
		lengths: sections[secLengths], starts: sections[secStarts], docs: sections[secDocuments],
		size: len(data),
	}
	if crc32.Checksum(sections[secSums], castagnoli) != binary.LittleEndian.Uint32(counts[16:]) {
		return nil, damaged("page sums")
	}
	if err := checkPages(data, sections[secSums]); err != nil {
		return nil, err
	}
	if string(data[:4]) != segmentMagic || data[4] != formatVersion || data[7] != 0 {
		return nil, damaged("head")
	}
	if data[5] != analysisVersion || int(data[6]) >= len(profiles) {
		return nil, damaged("analysis %d, profile %d", data[5], data[6])
	}
	s.profile = profiles[data[6]]
	return s, s.layOut(sections[secTerms])
}

// splitSections cuts the file where its footer says.
func splitSections(data, footer []byte) (sections [sectionCount][]byte, err error) {
	end := uint64(headBytes)
	limit := uint64(len(data) - footerBytes)
	for i := range sections {
		offset := binary.LittleEndian.Uint64(footer[16*i:])
		size := binary.LittleEndian.Uint64(footer[16*i+8:])
		if offset != end || size > limit-end {
			return sections, damaged("section %d", i)
		}
		end += size
		sections[i] = data[offset:end:end]
	}
	if end != limit {
		return sections, damaged("sections end at %d of %d", end, limit)
	}
	return sections, nil
}

// checkPages compares every page before the page sums with its sum.
func checkPages(data, sums []byte) error {
	covered := data[:len(data)-footerBytes-len(sums)]
	if (len(covered)+pageBytes-1)/pageBytes*4 != len(sums) {
		return damaged("%d bytes of page sums", len(sums))
	}
	for i := 0; len(covered) > 0; i++ {
		page := covered[:min(pageBytes, len(covered))]
		if crc32.Checksum(page, castagnoli) != binary.LittleEndian.Uint32(sums[4*i:]) {
			return damaged("page %d", i)
		}
		covered = covered[len(page):]
	}
	return nil
}

// layOut checks that the sections fit each other.
func (s *segment) layOut(terms []byte) error {
	if s.passages > maxPassages || len(s.lengths) != 2*s.passages || len(s.starts) != (s.passages+3)/4 ||
		len(s.docs) != documentBytes*s.documents || s.documents > s.passages {
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
	return binary.LittleEndian.Uint16(s.lengths[2*passage:])
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

// identity returns the id and version of a document by its number.
func (s *segment) identity(document int) (uuid.UUID, int64) {
	d := s.docs[documentBytes*document:]
	return uuid.UUID(d[:16]), int64(binary.LittleEndian.Uint64(d[16:]))
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
	blocks := len(s.termIndex) / 8
	i := sort.Search(blocks, func(i int) bool {
		first, _ := s.firstTerm(i)
		return string(first) > term
	}) - 1
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
