//go:build unix

package dir

import (
	"io/fs"
	"syscall"
)

// linksOf returns how many names a file has.
func linksOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 0
}
