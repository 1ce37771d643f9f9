package table

import "syscall"

// full are the errors of a full disk, and of a quota that is used up: those that package syscall has names for, and
// ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL and ERROR_DISK_QUOTA_EXCEEDED, which Windows returns.
var full = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, 39, 112, 1295}

// broken are ERROR_WRITE_PROTECT, ERROR_NOT_READY, ERROR_CRC and ERROR_IO_DEVICE.
var broken = []syscall.Errno{19, 21, 23, 1117}
