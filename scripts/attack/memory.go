package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	sampleEvery = 50 * time.Millisecond // the peak is the kernel's own
	tooMuch     = 4 << 30               // bytes at which a run ends at once, to spare the machine
)

// resident is the resident memory of a process, in bytes.
type resident struct {
	peak int64 // VmHWM
	all  int64 // VmRSS
	anon int64 // RssAnon: the part that maps no file, such as the database and the program
}

// memory samples a process.
type memory struct {
	pid     int
	end     chan struct{}
	ended   chan struct{}
	spare   func()   // called when it is tooMuch
	largest resident // the sample with the most resident
}

// watchMemory begins to sample the process, whose peak begins anew. It calls spare when there is tooMuch.
func watchMemory(pid int, spare func()) *memory {
	m := &memory{pid: pid, end: make(chan struct{}), ended: make(chan struct{}), spare: spare}
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // where that is not allowed, the peak is that of the fill too
	go m.sample()
	return m
}

func (m *memory) sample() {
	defer close(m.ended)
	every := time.NewTicker(sampleEvery)
	defer every.Stop()
	for {
		if now := readMemory(m.pid); now.all > m.largest.all {
			m.largest = now
		}
		if m.largest.all > tooMuch {
			m.spare()
		}
		select {
		case <-every.C:
		case <-m.end:
			return
		}
	}
}

func (m *memory) stop() {
	select {
	case <-m.end:
	default:
		close(m.end)
	}
	<-m.ended
}

// highest ends the sampling and returns the sample with the most resident memory.
func (m *memory) highest() resident {
	m.stop()
	return m.largest
}

// readMemory reads the memory of a process; all is zero when it is gone or there is no /proc.
func readMemory(pid int) (r resident) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return r
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmHWM": &r.peak, "VmRSS": &r.all, "RssAnon": &r.anon}[name]
		if into == nil {
			continue
		}
		if _, err := fmt.Sscan(value, into); err != nil {
			return resident{}
		}
		*into <<= 10 // it counts KiB
	}
	return r
}
