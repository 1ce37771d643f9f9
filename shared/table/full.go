package table

import (
	"errors"
	"slices"
	"syscall"
)

// IsFull reports whether err says that the disk, or the owner's part of it, is full.
func IsFull(err error) bool {
	return slices.ContainsFunc(full, func(no syscall.Errno) bool { return errors.Is(err, no) })
}
