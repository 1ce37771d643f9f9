//go:build !unix || solaris || aix

package main

import (
	"errors"
	"os"
)

// hold does nothing.
func hold(*os.File) error { return nil }

// isHeld returns an error: only the time of its last write says whether a process writes the file.
func isHeld(string) (bool, error) { return false, errors.ErrUnsupported }
