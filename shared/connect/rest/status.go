package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"docent/shared/source"
)

const (
	unnamedPause = time.Minute      // after a rate limit that names no time
	shortWait    = 20 * time.Second // that a request waits for a rate limit; a sync waits longer
)

// StatusError is a reply of an API that is no success.
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

// limited returns the error that interrupts a sync until the provider accepts requests
// again: after Retry-After, or at RateLimit-Reset.
func (a *API) limited(e *StatusError) *source.SyncError {
	now := a.Now()
	until := now.Add(unnamedPause)
	if seconds, err := strconv.ParseInt(e.Header.Get("Retry-After"), 10, 32); err == nil {
		until = now.Add(time.Duration(seconds) * time.Second)
	} else if at, err := http.ParseTime(e.Header.Get("Retry-After")); err == nil {
		until = at
	} else if at, err := strconv.ParseInt(e.Header.Get("RateLimit-Reset"), 10, 64); err == nil {
		until = time.Unix(at, 0)
	}
	if until.Before(now) {
		until = now.Add(unnamedPause)
	}
	return &source.SyncError{Code: source.RateLimited, RetryAt: until, AllParts: true, Cause: e,
		Detail: a.Provider + " allows no more requests before " + until.UTC().Format(time.RFC3339) + "."}
}
