package segment

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// The segment file; the README has it as a table.
const (
	segmentMagic  = "DSEG"
	FormatVersion = 2
	headBytes     = 8
	blockPostings = 128 // postings of a block; a longer list is cut into blocks with heads
	blockTerms    = 64  // terms of a dictionary block
	pageBytes     = 4 << 10
	documentBytes = 24 // id and version
	maxPassages   = 1 << 28
	maxFrequency  = 1 << 20
)

// Sections in the order of the file. The head is part of none.
const (
	secPostings = iota
	secDictionary
	secTerms
	secLengths
	secStarts
	secDocuments
	secSums
	sectionCount
)

// The footer: sections, then passages, documents, sum of lengths, CRC-32C of the
// page sums, CRC-32C of the footer so far, footer size, magic.
const footerBytes = sectionCount*16 + 4 + 4 + 8 + 4 + 4 + 4 + 4

// starts holds two bits a passage.
const (
	StartsDocument = 1
	StartsChunk    = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is in the chain of every error about the content of a segment.
var ErrDamaged = errors.New("segment is damaged")

func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
