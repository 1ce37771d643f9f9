//go:build !linux

package bolt

// DropResident does nothing: only Linux counts pages read from a mapped file as memory of the
// process until another process needs the memory.
func (s *Store) DropResident() error { return nil }
