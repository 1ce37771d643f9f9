//go:build unix && !solaris && !aix

package bolt

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockStep is the pause between two attempts at a lock that another process has.
const lockStep = 10 * time.Millisecond

// emptied empties an unfinished database file, so that bbolt makes it again, and reports whether it did. It looks at the file with bbolt's lock, because
// another process may be making it at the moment, and returns ErrInUse if that keeps it for longer than lockWait.
func emptied(path string) (_ bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }() // which releases the lock
	if err := locked(f); err != nil {
		return false, err
	}
	if unfinished, err := isUnfinished(f); err != nil || !unfinished {
		return false, err
	}
	return true, f.Truncate(0)
}

// locked locks f until it is closed. It waits for at most lockWait.
func locked(f *os.File) error {
	for begin := time.Now(); ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("lock the file: %w", err)
		case time.Since(begin) >= lockWait:
			return ErrInUse
		}
		time.Sleep(lockStep)
	}
}
