package atlassian

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/source"
)

// statusError is a reply of the API that is not a success.
type statusError struct {
	status  int
	header  http.Header
	message string // of the provider; may be empty
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.message) }

const maxMessage = 200 // characters

// statusErrorOf reads the message in one of the three forms that the APIs have.
func statusErrorOf(reply *http.Response) error {
	e := &statusError{status: reply.StatusCode, header: reply.Header}
	var body struct {
		Message  string   `json:"message"`
		Messages []string `json:"errorMessages"`
		Errors   any      `json:"errors"`
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxErrorLen))
	if err != nil || json.Unmarshal(text, &body) != nil {
		return e
	}
	e.message = strings.Join(append(body.Messages, body.Message), " ")
	if list, ok := body.Errors.([]any); ok {
		for _, one := range list {
			if fields, ok := one.(map[string]any); ok {
				title, _ := fields["title"].(string)
				e.message += " " + title
			}
		}
	}
	e.message = Fact(e.message, maxMessage)
	return e
}

// wait returns how long a rate limit asks to wait, and whether e is one.
func (e *statusError) wait(now time.Time) (time.Duration, bool) {
	after := e.header.Get("Retry-After")
	if e.status != http.StatusTooManyRequests && (e.status != http.StatusServiceUnavailable || after == "") {
		return 0, false
	}
	if seconds, err := strconv.ParseFloat(after, 64); err == nil && seconds >= 0 && seconds < 1e6 {
		return max(time.Duration(seconds*float64(time.Second)), time.Second), true
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(at.Sub(now), time.Second), true
	}
	reset := e.header.Get("X-RateLimit-Reset")
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(form, reset); err == nil && at.After(now) {
			return at.Sub(now), true
		}
	}
	if seconds, err := strconv.Atoi(e.header.Get("X-RateLimit-Interval-Seconds")); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds) * time.Second, true
	}
	return unnamedPause, true
}

// refusal returns the *source.SyncError for a reply that is not a success.
func (s *Site) refusal(what string, e *statusError) *source.SyncError {
	if wait, limited := e.wait(s.Now()); limited {
		until := s.Now().Add(wait)
		return &source.SyncError{Code: source.RateLimited, RetryAt: until, AllParts: true, Cause: e,
			Detail: s.Product + " allows no more requests before " + until.UTC().Format(time.RFC3339) + "."}
	}
	token := "personal access token"
	if s.Cloud {
		token = "email address with its API token"
	}
	switch {
	case e.status == http.StatusUnauthorized:
		return &source.SyncError{Code: source.Unauthorized, AllParts: true, Cause: e,
			Detail: fmt.Sprintf("%s does not accept the %s. The token may have expired or been revoked.", s.Product, token)}
	case strings.Contains(e.header.Get("X-Authentication-Denied-Reason"), "CAPTCHA"):
		return &source.SyncError{Code: source.Unauthorized, AllParts: true, Cause: e,
			Detail: s.Product + " asks the account to solve a CAPTCHA. Log in with it in a browser once."}
	case e.status == http.StatusForbidden:
		return &source.SyncError{Code: source.Unauthorized, Cause: e,
			Detail: fmt.Sprintf("The account of the token may not read %s. Give it permission to view this in %s.", what, s.Product)}
	case e.status == http.StatusNotFound || e.status == http.StatusGone:
		return &source.SyncError{Code: source.NotThere, Cause: e,
			Detail: fmt.Sprintf("Not found in %s, or not visible to the account of the token: %s.", s.Product, what)}
	case e.status >= http.StatusInternalServerError:
		return &source.SyncError{Code: source.Unreadable, Detail: fmt.Sprintf("%s failed with status %d for %s.", s.Product, e.status, what), Cause: e}
	default:
		detail := fmt.Sprintf("%s refused the request for %s with status %d.", s.Product, what, e.status)
		if e.message != "" {
			detail += " It says: " + e.message
		}
		return &source.SyncError{Code: Refused, Detail: detail, Cause: e}
	}
}

// Refused is the code of a *source.SyncError for a request that the provider refuses for
// another reason, such as an expired cursor.
const Refused = "provider-refused"

// Status returns the HTTP status that err was caused by, or 0.
func Status(err error) int {
	var answered *statusError
	if errors.As(err, &answered) {
		return answered.status
	}
	return 0
}

// AccessUnknown is the code of a notice.
const AccessUnknown = "access-unknown"

// Unknown notes that the readers of something are unknown, and what helps.
func (s *Site) Unknown(what, remedy string) {
	if s.Notice == nil {
		s.Notice = &source.SyncError{Code: AccessUnknown, Detail: fmt.Sprintf(
			"Who may read %s is unknown, so that no person reads the items that depend on it: %s.", what, remedy)}
	}
}

// Invisible reports whether err says that something does not exist for the account of
// the token.
func Invisible(err error) bool {
	var failed *source.SyncError
	return errors.As(err, &failed) && !failed.AllParts && (failed.Code == source.NotThere || failed.Code == source.Unauthorized)
}

// IsCode reports whether err is a *source.SyncError with one of these codes.
func IsCode(err error, codes ...string) bool {
	var failed *source.SyncError
	return errors.As(err, &failed) && slices.Contains(codes, failed.Code)
}
