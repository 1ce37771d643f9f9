//go:build unix

package audit_test

import (
	"syscall"
	"time"
)

// cpuTime is the processor time of this process, which other work on the machine
// does not lengthen.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
