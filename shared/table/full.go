package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// IsFull reports whether err says that the disk, or the owner's part of it, is full.
func IsFull(err error) bool {
	return slices.ContainsFunc(full, func(no syscall.Errno) bool { return errors.Is(err, no) })
}

// IsUnwritable reports whether err says that nothing can be written to the disk for another reason than room: it fails, is read-only or
// does not let this process write, or the database is no longer there.
func IsUnwritable(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	denied := errors.Is(err, fs.ErrPermission) && (errors.As(err, &path) || errors.As(err, &link)) // of a file, not of a connection
	return denied || errors.Is(err, ErrMoved) || slices.ContainsFunc(broken, func(no syscall.Errno) bool { return errors.Is(err, no) })
}

// CheckPlace returns an error that wraps ErrMoved if at path is no longer what was opened there, a file or a folder. What is written to the
// open one would then be lost with it, or be missing in what took its place. Where path cannot be looked at, it may be there.
func CheckPlace(path string, opened fs.FileInfo) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, opened) {
		return fmt.Errorf("%w: %s was moved, removed or replaced; put it back, or stop and start again", ErrMoved, path)
	}
	return nil
}
