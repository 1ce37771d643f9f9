package table

import "syscall"

// full are the errors of a full disk, and of a quota that is used up: those that package syscall has names for, and
// ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL and ERROR_DISK_QUOTA_EXCEEDED, which Windows returns.
var full = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, 39, 112, 1295}
