//go:build unix && !solaris && !aix

package main

import (
	"os"
	"syscall"
)

// hold marks an unfinished backup as one of a running process. It ends with the file or the process.
func hold(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// isHeld reports whether a running process writes the file at path. It returns an error where files cannot be held.
func isHeld(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // which lets go of it
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK { //nolint:errorlint // of a system call
		return true, nil
	}
	return false, err
}
