package bolt

import (
	"fmt"
	"syscall"
	"unsafe"

	"go.etcd.io/bbolt"
)

// DropResident removes the pages of the data file from the process's memory. They stay in the
// system's cache, so reading one again needs no disk. Without it, every page ever read counts
// as memory of the process.
func (s *Store) DropResident() error {
	return s.db.View(func(tx *bbolt.Tx) error { // the file is not mapped again in the meantime
		address := s.db.Info().Data
		start := *(*unsafe.Pointer)(unsafe.Pointer(&address)) //nolint:gosec // the mapping is not in Go's memory
		mapped := unsafe.Slice((*byte)(start), tx.Size())     //nolint:gosec // and as long as the file
		if err := syscall.Madvise(mapped, syscall.MADV_DONTNEED); err != nil {
			return fmt.Errorf("drop resident pages: %w", err)
		}
		return nil
	})
}
