// Package segmenttest changes segment files for tests.
package segmenttest

import (
	"encoding/binary"
	"hash/crc32"
)

// The end of a segment file, as the README of package segment describes it.
const (
	fewestSections  = 5 // of vectors; the last has the page sums
	defaultSections = 7 // of postings
	mostSections    = 8 // of postings with sets
	sectionBytes    = 16
	endBytes        = 32 // of a footer after its sections
	pageBytes       = 4 << 10
)

// Reseal corrects the checksums of a segment file after a change, so that a test reaches the
// other checks. It does not change a file that is too short.
func Reseal(data []byte) []byte {
	if len(data) < 8 {
		return data
	}
	sections := defaultSections
	for n := fewestSections; n <= mostSections; n++ {
		if binary.LittleEndian.Uint32(data[len(data)-8:]) == uint32(sectionBytes*n+endBytes) {
			sections = n
		}
	}
	footerBytes := sectionBytes*sections + endBytes
	if len(data) < footerBytes {
		return data
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	footer := data[len(data)-footerBytes:]
	sums := int(binary.LittleEndian.Uint64(footer[sectionBytes*(sections-1):]))
	size := int(binary.LittleEndian.Uint64(footer[sectionBytes*(sections-1)+8:]))
	if sums < 0 || size < 0 || sums > len(data) || size > len(data)-sums {
		return data
	}
	for i := 0; i*pageBytes < sums && 4*i+4 <= size; i++ {
		page := data[i*pageBytes : min((i+1)*pageBytes, sums)]
		binary.LittleEndian.PutUint32(data[sums+4*i:], crc32.Checksum(page, table))
	}
	binary.LittleEndian.PutUint32(footer[footerBytes-16:], crc32.Checksum(data[sums:sums+size], table))
	binary.LittleEndian.PutUint32(footer[footerBytes-12:], crc32.Checksum(footer[:footerBytes-12], table))
	return data
}
