package search_test

import (
	"syscall"
	"time"
	"unsafe"
)

// cpuTime returns the processor time of this process, which does not depend on other work of the
// machine.
func cpuTime() time.Duration {
	var t syscall.Timespec
	const processClock = 2 // CLOCK_PROCESS_CPUTIME_ID
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, processClock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(t.Nano())
}
