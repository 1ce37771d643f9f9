//go:build !windows

package table

import "syscall"

// full are the errors of a full disk, of a quota that is used up, and of a file that must not become larger (ulimit -f, LimitFSIZE of
// systemd, a file system of old).
var full = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// broken are the errors of a disk that fails, and of one that is or became read-only, as ext4 does after an error.
var broken = []syscall.Errno{syscall.EIO, syscall.EROFS}
