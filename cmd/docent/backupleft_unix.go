//go:build unix && !solaris && !aix

package main

import (
	"os"
	"syscall"
)

// hold marks an unfinished backup as one of a running process. It ends with the file or the process.
func hold(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// ifUnheld calls do unless a running process writes the file at path. It holds the file itself meanwhile, so that a process that has
// just made it waits. It returns an error where files cannot be held.
func ifUnheld(path string, do func() error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // which lets go of it
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK { //nolint:errorlint // of a system call
		return nil
	}
	if err != nil {
		return err
	}
	return do()
}
