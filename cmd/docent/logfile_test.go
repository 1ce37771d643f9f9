package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestTheLogLosesLinesWhileItsReaderStops checks that no line waits for a reader, and that each is read later or counted.
func TestTheLogLosesLinesWhileItsReaderStops(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l := newLogFile(writer)
	total := 0
	for line := []byte(`{"msg":"` + strings.Repeat("x", 1000) + "\"}\n"); total*len(line) < 3*logRoom; total++ {
		if n, err := l.Write(line); n != len(line) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	go func() {
		<-l.done
		_ = writer.Close()
	}()
	l.mu.Lock()
	l.closed = true // Close without its limit: the reader may be slow
	l.mu.Unlock()
	read, lost := readLog(t, reader)
	if lost == 0 || read+lost != total {
		t.Errorf("%d read and %d lost of %d lines", read, lost, total)
	}
}

// readLog returns how many lines a log has, and how many it says were lost.
func readLog(t *testing.T, from io.Reader) (lines, lost int) {
	t.Helper()
	for all := bufio.NewScanner(from); all.Scan(); {
		var line struct {
			Msg   string
			Lines int
		}
		if err := json.Unmarshal(all.Bytes(), &line); err != nil {
			t.Errorf("%.100q: %v", all.Bytes(), err)
		}
		if line.Lines > 0 {
			lost += line.Lines
		} else {
			lines++
		}
	}
	return lines, lost
}

// fullFile refuses writes after so many bytes, until it is emptied.
type fullFile struct {
	bytes.Buffer
	room int
}

func (f *fullFile) Write(p []byte) (int, error) {
	if len(p) <= f.room {
		f.room -= len(p)
		return f.Buffer.Write(p)
	}
	n, _ := f.Buffer.Write(p[:f.room])
	f.room = 0
	return n, syscall.ENOSPC
}

// TestTheLogCountsLinesThatADiskRefused checks the lines that a full disk cut or refused.
func TestTheLogCountsLinesThatADiskRefused(t *testing.T) {
	t.Parallel()
	file := &fullFile{room: 20}
	l := &logFile{file: file}
	lines := func(from, to int) (text []byte) {
		for n := from; n < to; n++ {
			text = fmt.Appendf(text, "{\"n\":%d}\n", n)
		}
		return text
	}
	if refused := l.write(lines(0, 5)); refused != 3 { // the third is cut
		t.Errorf("%d lines were refused, want 3", refused)
	}
	if refused := l.write(lines(5, 7)); refused != 2 {
		t.Errorf("%d lines were refused, want 2", refused)
	}
	file.room = 1000
	if refused := l.write(lines(7, 9)); refused != 0 {
		t.Errorf("%d lines were refused, want none", refused)
	}
	if got, want := file.String(), string(lines(0, 2))+"{\"n\"\n"+string(lines(7, 9)); got != want {
		t.Errorf("the file has %q, want %q", got, want)
	}
}

// TestTheLogIsWholeAtTheEnd checks that a writer that keeps up gets every line.
func TestTheLogIsWholeAtTheEnd(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	l := newLogFile(&file)
	const total = 1000
	for n := range total {
		_, _ = fmt.Fprintf(l, "{\"msg\":\"%d\"}\n", n)
	}
	l.Close()
	if read, lost := readLog(t, &file); read != total || lost != 0 {
		t.Errorf("%d read and %d lost of %d lines", read, lost, total)
	}
}

// TestTheEndDoesNotWaitForAReaderOfTheLog checks the limit of Close.
func TestTheEndDoesNotWaitForAReaderOfTheLog(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe() // it has no room
	l := newLogFile(writer)
	_, _ = io.WriteString(l, "{}\n")
	l.Close()
	_ = reader.Close()
	<-l.done
}
