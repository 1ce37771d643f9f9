package lambdarun

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// dieWithParent makes the system kill a process when this one ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// peakMemory returns the largest resident size of a process so far, in bytes. It is read while the process lives:
// what wait reports includes the parent's.
func peakMemory(pid int) int64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			var kilobytes int64
			if _, err := fmt.Sscan(rest, &kilobytes); err == nil {
				return kilobytes << 10
			}
		}
	}
	return 0
}
