package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is a refusal by the server.
type Error struct {
	Status     int
	Code       string // the contract's code; empty when something else answered
	Detail     string
	RequestID  string
	RetryAfter time.Duration // 0 when the reply names none
	ResetsAt   time.Time     // of a spent quota; else zero
}

// Error is one line: the detail, then the code and the request id where known.
func (e *Error) Error() string {
	detail := e.Detail
	if detail == "" {
		detail = fmt.Sprintf("The server answered %d %s.", e.Status, http.StatusText(e.Status))
	}
	var known []string
	if e.Code != "" {
		known = append(known, e.Code)
	}
	if e.RequestID != "" {
		known = append(known, "request "+e.RequestID)
	}
	if len(known) == 0 {
		return detail
	}
	return detail + " (" + strings.Join(known, ", ") + ")"
}

// problem reads the contract's problem object; of any other body it keeps the
// status alone.
func problem(res *http.Response, body []byte, now time.Time) *Error {
	var p struct {
		Title     string    `json:"title"`
		Detail    string    `json:"detail"`
		Code      string    `json:"code"`
		RequestID string    `json:"requestId"`
		ResetsAt  time.Time `json:"resetsAt"`
	}
	e := &Error{Status: res.StatusCode, RetryAfter: retryAfter(res.Header.Get("Retry-After"), now)}
	if json.Unmarshal(body, &p) == nil {
		e.Code, e.Detail, e.ResetsAt = Printable(p.Code), oneLine(p.Detail), p.ResetsAt
		if e.Detail == "" {
			e.Detail = oneLine(p.Title)
		}
		e.RequestID = Printable(p.RequestID)
	}
	if e.RequestID == "" {
		e.RequestID = Printable(res.Header.Get("X-Request-Id"))
	}
	return e
}

// retryAfter reads both forms of the header (RFC 9110, section 10.2.3).
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return time.Duration(max(n, 0)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// IsStatus tells whether err is a refusal with that status.
func IsStatus(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == status
}

// FailsEveryCall tells whether err would meet every further call as well: the key is
// refused or the day's quota is spent.
func FailsEveryCall(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return true
	}
	return false
}

// Unreached tells whether err says nothing about the request itself: no answer
// came, or only that the server could not do its work.
func Unreached(err error) bool {
	var none *NoReplyError
	var e *Error
	return errors.As(err, &none) || (errors.As(err, &e) && e.Status >= 500)
}

// NoReplyError is a call that got no whole reply.
type NoReplyError struct {
	Server string
	Err    error
}

func (e *NoReplyError) Error() string { return fmt.Sprintf("no answer from %s: %v", e.Server, e.Err) }

// Unwrap returns the cause.
func (e *NoReplyError) Unwrap() error { return e.Err }

func oneLine(s string) string { return strings.Join(strings.Fields(Printable(s)), " ") }

// Printable returns s without the control characters that could steer a
// terminal; line ends and tabs stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if r < 0x20 || (r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, s)
}
