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
	Code       string // the contract's code; empty if something other than Docent answered
	Detail     string
	RequestID  string
	RetryAfter time.Duration // 0 when the reply names none
	ResetsAt   time.Time     // of a used-up quota; else zero
	Fields     []FieldError  // of a request that is not valid, as far as the reply names them
}

// FieldError is a faulty field of a request.
type FieldError struct {
	Pointer string `json:"pointer"` // such as /settings/accessToken
	Detail  string `json:"detail"`
}

// Error returns one line: the detail, then the code and the request id if known.
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

// problem reads the contract's problem object. Of any other body it keeps only the status.
func problem(res *http.Response, body []byte, now time.Time) *Error {
	var p struct {
		Title     string    `json:"title"`
		Detail    string    `json:"detail"`
		Code      string    `json:"code"`
		RequestID string    `json:"requestId"`
		ResetsAt  time.Time `json:"resetsAt"`

		Errors []FieldError `json:"errors"`
	}
	e := &Error{Status: res.StatusCode, RetryAfter: retryAfter(res.Header.Get("Retry-After"), now)}
	if json.Unmarshal(body, &p) == nil {
		e.Code, e.Detail, e.ResetsAt = Printable(p.Code), oneLine(p.Detail), p.ResetsAt
		for _, f := range p.Errors {
			e.Fields = append(e.Fields, FieldError{Printable(f.Pointer), oneLine(f.Detail)})
		}
		if e.Detail == "" {
			e.Detail = oneLine(p.Title)
		}
		e.RequestID = Printable(p.RequestID)
	}
	if e.RequestID == "" {
		e.RequestID = Printable(res.Header.Get("X-Request-Id"))
	}
	if to, err := res.Location(); err == nil && e.Detail == "" {
		to.User, to.RawQuery, to.Fragment = nil, "", ""
		e.Detail = fmt.Sprintf("The server answered %d and points to %s; is the address of the server right?", e.Status, Printable(to.String()))
	}
	if at := res.Request; e.Detail == "" && e.Status == http.StatusBadRequest && at != nil && at.URL.Scheme == "http" {
		e.Detail = "The server answered 400 Bad Request; must its address begin with https?"
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

// IsStatus reports whether err is a refusal with that status.
func IsStatus(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == status
}

// FailsEveryCall reports whether every further call would fail as err did: the key is refused or the daily quota is
// used up.
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

// Unreached reports whether err says nothing about the request itself: no answer came, or the server could not do
// its work.
func Unreached(err error) bool {
	var none *NoReplyError
	var e *Error
	return errors.As(err, &none) || (errors.As(err, &e) && e.Status >= 500)
}

// NoReplyError means that a call got no complete reply.
type NoReplyError struct {
	Server string
	Err    error
}

func (e *NoReplyError) Error() string { return fmt.Sprintf("no answer from %s: %v", e.Server, e.Err) }

// Unwrap returns the cause.
func (e *NoReplyError) Unwrap() error { return e.Err }

func oneLine(s string) string { return strings.Join(strings.Fields(Printable(s)), " ") }

// Printable returns s without the control characters that could control a terminal. It keeps line ends and tabs.
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
