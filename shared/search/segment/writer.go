package segment

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/google/uuid"

	"docent/shared/search/text"
)

// Writer makes the bytes of one segment. Call Document and Passage in the order of
// their numbers, then Term in byte order, then Finish.
type Writer struct {
	file                 []byte // its head, then the postings
	dictionary, termText []byte
	termIndex            []byte
	lengths              []uint16
	starts, documents    []byte
	passages, docs       int
	sumLengths           uint64
	terms                int
	last                 string // the term before
	profile              Profile
	blockBuf             []byte

	numbers           int // of a vector; 0: the segment has postings
	sketches, vectors []byte

	sets [kindCount]setWriter
}

// File is a new segment file with the numbers for its record.
type File struct {
	Data                []byte
	Passages, Documents int
	SumLengths          uint64
	Numbers             int // of a vector; 0: the segment has postings
	Format              byte
}

// NewWriter returns a Writer of an empty segment.
func NewWriter(p Profile) *Writer { return &Writer{profile: p, file: make([]byte, headBytes)} }

// Document begins a document. Its sets and its passages follow.
func (w *Writer) Document(id uuid.UUID, version int64) {
	w.documents = append(w.documents, id[:]...)
	w.documents = binary.LittleEndian.AppendUint64(w.documents, uint64(version))
	w.docs++
}

// Passage adds a passage of the current document. starts has StartsDocument and StartsChunk if
// the passage starts one.
func (w *Writer) Passage(length int, starts byte) {
	length = min(length, math.MaxUint16)
	w.lengths = append(w.lengths, uint16(length))
	w.sumLengths += uint64(length)
	if w.passages%4 == 0 {
		w.starts = append(w.starts, 0)
	}
	w.starts[len(w.starts)-1] |= starts << (w.passages % 4 * 2)
	w.passages++
}

// Count returns the number of passages so far, which is the number of the next one.
func (w *Writer) Count() int { return w.passages }

// Posting is a passage that contains a term, with the frequency of the term.
type Posting struct{ Passage, Frequency uint32 }

// postings returns the bytes of the section so far.
func (w *Writer) postings() int { return len(w.file) - headBytes }

// Term writes a term with its postings, in ascending order of passages.
func (w *Writer) Term(term string, list []Posting) {
	start := w.postings()
	previous := int64(-1)
	if len(list) <= blockPostings {
		w.file, _ = appendPostings(w.file, list, previous)
	} else {
		for block := range slices.Chunk(list, blockPostings) {
			previous = w.block(block, previous)
		}
	}
	size := w.postings() - start

	if w.terms%blockTerms == 0 {
		w.termIndex = binary.LittleEndian.AppendUint32(w.termIndex, uint32(len(w.dictionary)))
		w.termText = append(w.termText, term...)
		w.termIndex = binary.LittleEndian.AppendUint32(w.termIndex, uint32(len(w.termText)))
		w.dictionary = binary.AppendUvarint(w.dictionary, uint64(start))
	} else {
		shared := sharedPrefix(w.last, term)
		w.dictionary = binary.AppendUvarint(w.dictionary, uint64(shared))
		w.dictionary = binary.AppendUvarint(w.dictionary, uint64(len(term)-shared))
		w.dictionary = append(w.dictionary, term[shared:]...)
	}
	w.dictionary = binary.AppendUvarint(w.dictionary, uint64(len(list)))
	w.dictionary = binary.AppendUvarint(w.dictionary, uint64(size))
	w.last = term
	w.terms++
}

// block writes one block of postings with its head, and returns its last passage.
func (w *Writer) block(list []Posting, previous int64) int64 {
	highest, lowest := uint32(0), uint16(math.MaxUint16)
	for _, p := range list {
		highest = max(highest, p.Frequency)
		lowest = min(lowest, w.lengths[p.Passage])
	}
	var last int64
	w.blockBuf, last = appendPostings(w.blockBuf[:0], list, previous)
	w.file = binary.AppendUvarint(w.file, uint64(len(w.blockBuf)))
	w.file = binary.AppendUvarint(w.file, uint64(last-previous))
	w.file = binary.AppendUvarint(w.file, uint64(highest))
	w.file = binary.AppendUvarint(w.file, uint64(lowest))
	w.file = append(w.file, w.blockBuf...)
	return last
}

// appendPostings encodes list, which follows the passage previous, and returns the last
// passage.
func appendPostings(dst []byte, list []Posting, previous int64) ([]byte, int64) {
	for _, p := range list {
		gap := uint64(int64(p.Passage)-previous) << 1
		previous = int64(p.Passage)
		if p.Frequency == 1 {
			dst = binary.AppendUvarint(dst, gap)
			continue
		}
		dst = binary.AppendUvarint(dst, gap|1)
		dst = binary.AppendUvarint(dst, uint64(min(p.Frequency, maxFrequency)))
	}
	return dst, previous
}

func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Finish returns the file. It fails if the segment is too large.
func (w *Writer) Finish() (File, error) {
	if w.passages > maxPassages || w.postings() > math.MaxUint32 || len(w.dictionary) > math.MaxUint32 {
		return File{}, fmt.Errorf("segment of %d passages is too large", w.passages)
	}
	sets, err := w.setsSection()
	if err != nil {
		return File{}, err
	}
	format, sections := formatFor(w.numbers > 0, sets != nil), [sectionCount][]byte{secStarts: w.starts, secDocuments: w.documents, secSets: sets}
	out := w.file
	if w.numbers > 0 {
		sections[secSketches], sections[secVectors] = w.sketches, w.vectors
	} else {
		sections[secDictionary], sections[secLengths] = w.dictionary, appendLengths(nil, w.lengths)
		sections[secTerms] = slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(w.termIndex)/8)), w.termIndex, w.termText)
	}
	size := len(out)
	for _, s := range sections {
		size += len(s)
	}
	pages := (size + pageBytes - 1) / pageBytes
	out = slices.Grow(out, size+4*pages+footerBytes(format)-len(out))
	copy(out, segmentMagic)
	copy(out[len(segmentMagic):], []byte{format, text.AnalysisVersion, byte(w.profile), byte(w.numbers / numbersPerUnit)})
	sections[secPostings] = out[headBytes:]
	var footer []byte
	for _, of := range sectionsOf(format) {
		s := sections[of]
		if of == secSums {
			s = make([]byte, 0, 4*pages)
			for page := range slices.Chunk(out, pageBytes) {
				s = binary.LittleEndian.AppendUint32(s, crc32.Checksum(page, castagnoli))
			}
			sections[of] = s
		}
		if of == secPostings {
			footer = appendSection(footer, headBytes, len(s))
			continue
		}
		footer = appendSection(footer, len(out), len(s))
		out = append(out, s...)
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(w.passages))
	footer = binary.LittleEndian.AppendUint32(footer, uint32(w.docs))
	footer = binary.LittleEndian.AppendUint64(footer, w.sumLengths)
	footer = binary.LittleEndian.AppendUint32(footer, crc32.Checksum(sections[secSums], castagnoli))
	footer = binary.LittleEndian.AppendUint32(footer, crc32.Checksum(footer, castagnoli))
	footer = binary.LittleEndian.AppendUint32(footer, uint32(footerBytes(format)))
	footer = append(footer, segmentMagic...)
	return File{append(out, footer...), w.passages, w.docs, w.sumLengths, w.numbers, format}, nil
}

func appendSection(footer []byte, offset, size int) []byte {
	footer = binary.LittleEndian.AppendUint64(footer, uint64(offset))
	return binary.LittleEndian.AppendUint64(footer, uint64(size))
}
