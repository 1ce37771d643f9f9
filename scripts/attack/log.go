package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// logged counts the lines of the server's log above INFO, by level and message.
type logged map[string]int

const errorLevel = "ERROR"

// readLog reads the server's log so far.
func (s *server) readLog() (logged, error) {
	f, err := os.Open(s.log.Name())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return countLog(f)
}

func countLog(from io.Reader) (logged, error) {
	lines, counts := bufio.NewReader(from), logged{}
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return counts, nil // a last line without an end is still being written
		}
		if err != nil {
			return nil, err
		}
		var line struct{ Level, Msg, Route, Err string }
		if err := json.Unmarshal(text, &line); err != nil {
			line.Level, line.Msg = errorLevel, string(text) // a crash is not JSON
		}
		if line.Level == "WARN" || line.Level == errorLevel {
			counts[messageOf(line.Level, line.Msg, line.Route, line.Err)]++
		}
	}
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// messageOf joins the non-empty parts of a line, without ids, into one short line.
func messageOf(parts ...string) string {
	const longest = 120
	message := strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " ")
	message, _, _ = strings.Cut(uuids.ReplaceAllString(message, "…"), "\n")
	return message[:min(len(message), longest)]
}

// errors returns how many lines are errors.
func (l logged) errors() (n int) {
	for message, count := range l {
		if strings.HasPrefix(message, errorLevel) {
			n += count
		}
	}
	return n
}
