package segment

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// The segment file. The README has a table of it.
const (
	segmentMagic     = "DSEG"
	FormatVersion    = 2 // of a segment of postings
	VectorFormat     = 3 // of a segment of vectors
	SetsFormat       = 4 // of a segment of postings, some of whose documents have sets
	VectorSetsFormat = 5 // of a segment of vectors, some of whose documents have sets
	headBytes        = 8
	blockPostings    = 128 // postings of a block; a longer list is divided into blocks with heads
	blockTerms       = 64  // terms of a dictionary block
	pageBytes        = 4 << 10
	documentBytes    = 24 // id and version
	maxPassages      = 1 << 28
	maxFrequency     = 1 << 20
)

// Sections. The head belongs to none.
const (
	secPostings = iota
	secDictionary
	secTerms
	secLengths
	secStarts
	secDocuments
	secSketches
	secVectors
	secSets
	secSums
	sectionCount
)

// sectionsOf returns the sections of a file of a format, in their order.
func sectionsOf(format byte) []int {
	sections := []int{secPostings, secDictionary, secTerms, secLengths, secStarts, secDocuments}
	if hasVectors(format) {
		sections = []int{secStarts, secDocuments, secSketches, secVectors}
	}
	if hasSets(format) {
		sections = append(sections, secSets)
	}
	return append(sections, secSums)
}

// formatFor returns the format of a file with vectors or postings, with sets or without.
func formatFor(vectors, sets bool) byte {
	switch {
	case vectors && sets:
		return VectorSetsFormat
	case vectors:
		return VectorFormat
	case sets:
		return SetsFormat
	}
	return FormatVersion
}

func hasVectors(format byte) bool { return format == VectorFormat || format == VectorSetsFormat }

func hasSets(format byte) bool { return format == SetsFormat || format == VectorSetsFormat }

// The footer: sections, then passages, documents, sum of lengths, CRC-32C of the
// page sums, CRC-32C of the footer so far, footer size, magic. Its size identifies the format.
const maxFooterBytes = sectionCount*16 + footerEnd

const footerEnd = 4 + 4 + 8 + 4 + 4 + 4 + 4

func footerBytes(format byte) int { return len(sectionsOf(format))*16 + footerEnd }

// formatOf returns the format of a file with a footer of size bytes, or false.
func formatOf(size uint32) (format byte, ok bool) {
	for _, format := range []byte{FormatVersion, VectorFormat, SetsFormat, VectorSetsFormat} {
		if size == uint32(footerBytes(format)) {
			return format, true
		}
	}
	return 0, false
}

// Bits of a passage in the section of starts.
const (
	StartsDocument = 1
	StartsChunk    = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is wrapped by every error about the content of a segment.
var ErrDamaged = errors.New("segment is damaged")

// Damaged returns an error that wraps ErrDamaged.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
