package main

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Bounds of a logFile.
const (
	logRoom      = 4 << 20     // bytes of lines that wait for the file; some 15,000 requests
	logFlushTime = time.Second // at the end; with the draining of the server below 10 seconds
)

// logFile writes lines of a log to a file that may not take them: a pipe whose reader has stopped, a full disk. Write never waits for the
// file. Lines for which there is no room, or that the file refuses, are lost; their number is logged once the file takes lines again.
type logFile struct {
	file io.Writer
	done chan struct{} // closed when all lines are written after Close
	torn bool          // the file ends within a line

	mu      sync.Mutex
	changed *sync.Cond // waiting or closed has changed
	waiting []byte     // whole lines
	lost    int        // lines, since their number was logged
	closed  bool
}

// newLogFile returns a logFile that writes to file until it is closed.
func newLogFile(file io.Writer) *logFile {
	l := &logFile{file: file, done: make(chan struct{})}
	l.changed = sync.NewCond(&l.mu)
	go l.drain()
	return l
}

// Write takes a line, and returns no error.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting)+len(line) > logRoom {
		l.lost++
		return len(line), nil
	}
	l.waiting = append(l.waiting, line...)
	l.changed.Signal()
	return len(line), nil
}

// Close waits until the lines are written, for at most logFlushTime.
func (l *logFile) Close() {
	l.mu.Lock()
	l.closed = true
	l.changed.Signal()
	l.mu.Unlock()
	limit := time.NewTimer(logFlushTime)
	defer limit.Stop()
	select {
	case <-l.done:
	case <-limit.C:
	}
}

// drain writes what waits until l is closed and nothing waits.
func (l *logFile) drain() {
	defer close(l.done)
	var lines []byte
	for {
		l.mu.Lock()
		for len(l.waiting) == 0 && !l.closed {
			l.changed.Wait()
		}
		lines, l.waiting = l.waiting, lines[:0]
		lost := l.lost
		l.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		refused := l.write(lines)
		if refused == 0 && lost > 0 && l.write(lostLines(lost)) == 0 {
			refused = -lost
		}
		l.mu.Lock()
		l.lost += refused
		l.mu.Unlock()
	}
}

// write writes lines to the file and returns how many of them it did not take whole.
func (l *logFile) write(lines []byte) (refused int) {
	written := 0
	var err error
	if l.torn {
		_, err = l.file.Write([]byte{'\n'})
	}
	if err == nil {
		written, _ = l.file.Write(lines)
		l.torn = written > 0 && lines[written-1] != '\n'
	}
	return bytes.Count(lines[written:], []byte{'\n'})
}

// lostLines returns the line that says how many were lost.
func lostLines(number int) []byte {
	var line bytes.Buffer
	slog.New(slog.NewJSONHandler(&line, nil)).Warn("lines of the log were lost: its file or reader did not take them", "lines", number)
	return line.Bytes()
}
