package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	sampleEvery = 50 * time.Millisecond // the kernel itself records the peak
	tooMuch     = 4 << 30               // bytes at which a run is stopped, to protect the machine
)

// resident is the resident memory of a process, in bytes.
type resident struct {
	peak int64 // VmHWM
	all  int64 // VmRSS
	anon int64 // RssAnon: memory that maps no file, such as the database and the program
}

// memory samples a process.
type memory struct {
	pid     int
	end     chan struct{}
	ended   chan struct{}
	spare   func()   // called at tooMuch
	largest resident // the sample with the most resident
}

// watchMemory starts to sample the process and resets its peak. It calls spare at tooMuch.
func watchMemory(pid int, spare func()) *memory {
	m := &memory{pid: pid, end: make(chan struct{}), ended: make(chan struct{}), spare: spare}
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // if that is not allowed, the peak includes the fill
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

// readMemory reads the memory of a process. All is zero if the process has ended or there is no /proc.
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
