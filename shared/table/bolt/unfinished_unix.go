//go:build unix && !solaris && !aix

package bolt

import (
	"errors"
	"os"
	"syscall"
)

// emptied empties an unfinished database file, so that bbolt makes it again, and reports whether it did. It takes bbolt's lock, and returns false for
// a file that another process has locked, because that may be making it at the moment, or has made it since.
func emptied(path string) (_ bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }() // which releases the lock
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return false, nil //nolint:nilerr // Open waits for the other process, and says so
	}
	if unfinished, err := isUnfinished(f); err != nil || !unfinished {
		return false, err
	}
	return true, f.Truncate(0)
}
