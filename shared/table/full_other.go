//go:build !windows

package table

import "syscall"

// full are the errors of a full disk, and of a quota that is used up.
var full = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}
