//go:build !linux

package bolt

// DropResident does nothing: only Linux counts what was read of a mapped file as
// memory of the process until another process needs it.
func (s *Store) DropResident() error { return nil }
