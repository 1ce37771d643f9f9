package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// What bbolt writes first: firstPages pages at once. The first of them is a meta page, which has a number and the size of
// the pages at fixed places, in the byte order of the machine.
const (
	firstPages = 4
	leastPage  = 4096 // bytes
	mostPage   = 64 << 10
	metaNumber = 0xED0CDAED
	numberAt   = 16
	pageSizeAt = 24
	endOfKnown = 28
)

// isUnfinished reports whether f has less than the pages that bbolt writes first. Those have the size of the machine that made the file,
// which may be smaller than this one's.
func isUnfinished(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("look at the file: %w", err)
	}
	page := int64(leastPage)
	known := make([]byte, endOfKnown)
	switch _, err := f.ReadAt(known, 0); {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read the first page: %w", err)
	}
	if binary.NativeEndian.Uint32(known[numberAt:]) == metaNumber {
		page = int64(binary.NativeEndian.Uint32(known[pageSizeAt:]))
	}
	return leastPage <= page && page <= mostPage && info.Size() < firstPages*page, nil
}
