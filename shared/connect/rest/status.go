package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	unnamedPause = time.Minute      // after a rate limit that names no time
	maxSeconds   = 1e6              // of a wait; a longer one is taken for nonsense
	shortWait    = 20 * time.Second // that a request waits for a rate limit; a sync waits longer
)

// StatusError is a reply of an API whose status is not a success, or a web page in place of data.
type StatusError struct {
	Status int
	Header http.Header
	Body   []byte // the start of it
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d", e.Status) }

// Field returns a member of the body that is a string, or "".
func (e *StatusError) Field(name string) string {
	var members map[string]json.RawMessage
	var text string
	if json.Unmarshal(e.Body, &members) != nil || json.Unmarshal(members[name], &text) != nil {
		return ""
	}
	return text
}

// isWebPage reports whether a reply is a page for people. No data and no file that is read is HTML.
func isWebPage(h http.Header) bool { return strings.HasPrefix(h.Get("Content-Type"), "text/html") }

// IsWebPage reports whether the reply is a web page with the status of a success.
func (e *StatusError) IsWebPage() bool { return e.Status <= 299 && isWebPage(e.Header) }

// wait returns how long a rate limit asks to wait, and whether e is one. So is a provider that
// is down and says when it is back.
func (e *StatusError) wait(now time.Time) (time.Duration, bool) {
	after := e.Header.Get("Retry-After")
	if e.Status != http.StatusTooManyRequests && (e.Status != http.StatusServiceUnavailable || after == "") {
		return 0, false
	}
	if seconds, err := strconv.ParseFloat(after, 64); err == nil && seconds >= 0 && seconds < maxSeconds {
		return max(time.Duration(seconds*float64(time.Second)), time.Second), true
	}
	if at, err := http.ParseTime(after); err == nil && at.After(now) { // else the clock here is ahead, and a wait of a second would be one of many
		return at.Sub(now), true
	}
	for _, reset := range resets {
		if at, ok := reset.read(e.Header.Get(reset.name)); ok && at.After(now) {
			return at.Sub(now), true
		}
	}
	if seconds, err := strconv.Atoi(e.Header.Get("X-RateLimit-Interval-Seconds")); err == nil && seconds > 0 && seconds < maxSeconds {
		return time.Duration(seconds) * time.Second, true
	}
	return unnamedPause, true
}

// resets are the headers that say when a limit ends: GitLab's, and Atlassian's.
var resets = []struct {
	name string
	read func(text string) (time.Time, bool)
}{
	{"RateLimit-Reset", func(text string) (time.Time, bool) {
		at, err := strconv.ParseInt(text, 10, 64)
		return time.Unix(at, 0), err == nil
	}},
	{"X-RateLimit-Reset", func(text string) (time.Time, bool) {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			at, err = time.Parse("2006-01-02T15:04Z07:00", text)
		}
		return at, err == nil
	}},
}
