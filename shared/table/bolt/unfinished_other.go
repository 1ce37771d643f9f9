//go:build !unix || solaris || aix

package bolt

import "os"

// emptied reports whether a database file is empty, so that bbolt makes it again.
func emptied(path string) (bool, error) {
	info, err := os.Stat(path)
	return err == nil && info.Size() == 0, err
}
