//go:build !linux

package lambdarun

import "syscall"

// A process whose parent has died ends at its next poll.
func dieWithParent() *syscall.SysProcAttr { return nil }

func peakMemory(int) int64 { return 0 }
