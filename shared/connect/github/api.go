package github

import (
	"cmp"
	"context"
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

const (
	apiVersion  = "2022-11-28"
	jsonType    = "application/vnd.github+json"
	maxErrorLen = 64 << 10 // bytes of an error's body
)

// statusError is a reply of the API that is neither a success nor unchanged.
type statusError struct {
	status        int
	header        http.Header
	message       string
	documentation string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.message) }

// missing returns a sentence, after a blank, on what the access token lacks as far as
// GitHub says so: a permission of a fine-grained token, a scope of a classic one, or the consent of an organization.
func (e *statusError) missing() string {
	if strings.HasPrefix(e.header.Get("X-GitHub-SSO"), "required") { // the address that follows has a secret of its own
		return " The organization wants single sign-on: authorize the token for it on GitHub, under Configure SSO of the token."
	}
	if needed := e.header.Get("X-Accepted-GitHub-Permissions"); needed != "" && e.status == http.StatusForbidden {
		return " It needs the permission " + quoted(needed) + "."
	}
	scopes, classic := e.header["X-Oauth-Scopes"]
	if !classic || slices.Contains(strings.Split(strings.Join(scopes, ", "), ", "), "repo") {
		return ""
	}
	return " For private repositories it needs the scope repo; it has " + quoted(cmp.Or(strings.Join(scopes, ", "), "none")) + "."
}

// quoted returns a header's value for a message: printable, and not long.
func quoted(value string) string {
	value = strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return -1
		}
		return c
	}, value)
	return value[:min(len(value), 100)]
}

// maxSeconds bounds a wait that GitHub names; a longer one is taken for nonsense.
const maxSeconds = 1_000_000

// wait returns how long a rate limit asks to wait, and whether e is one. So is a server that is down and says when it is back.
func (e *statusError) wait(now time.Time) (time.Duration, bool) {
	after := e.header.Get("Retry-After")
	if e.status != http.StatusForbidden && e.status != http.StatusTooManyRequests && (e.status != http.StatusServiceUnavailable || after == "") {
		return 0, false
	}
	if e.header.Get("X-RateLimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(e.header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return time.Unix(at, 0).Sub(now), true
		}
		return unnamedPause, true
	}
	if seconds, err := strconv.Atoi(after); err == nil && seconds >= 0 && seconds < maxSeconds {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(after); err == nil && at.After(now) { // else the clock here is ahead
		return at.Sub(now), true
	}
	secondary := strings.Contains(e.documentation, "secondary-rate-limits") || strings.Contains(e.documentation, "abuse-rate-limits") ||
		strings.Contains(e.message, "secondary rate limit")
	return unnamedPause, secondary || e.status == http.StatusTooManyRequests || after != ""
}

// once sends one request. It copies the reply into v if that is an io.Writer, and
// decodes it as JSON otherwise. It returns the reply's ETag, and whether etag is
// still current, in which case v is untouched.
func (s *session) once(ctx context.Context, path, accept, etag string, v any) (newTag string, unchanged bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	reply, err := s.send(ctx, path, accept, etag)
	if err != nil {
		return "", false, err
	}
	defer reply.Body.Close()
	if reply.StatusCode == http.StatusNotModified {
		return etag, true, nil
	}
	if strings.HasPrefix(reply.Header.Get("Content-Type"), "text/html") { // GitHub itself never sends one, of an HTML file neither
		return "", false, &source.SyncError{Code: source.Unreadable, Detail: "GitHub sent a web page instead of data."}
	}
	if w, ok := v.(io.Writer); ok {
		_, err = io.Copy(w, reply.Body)
	} else if err = json.NewDecoder(reply.Body).Decode(v); errors.Is(err, io.EOF) {
		err = nil // no body
	}
	s.more = strings.Contains(reply.Header.Get("Link"), `rel="next"`)
	return reply.Header.Get("ETag"), false, err
}

// send sends a request and returns a reply that is a success or "not modified"; any
// other is a *statusError.
func (s *session) send(ctx context.Context, path, accept, etag string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return nil, err
	}
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	return s.do(r, cmp.Or(accept, jsonType))
}

// do sends r. Its results are those of send.
func (s *session) do(r *http.Request, accept string) (*http.Response, error) {
	r.Header.Set("Accept", accept)
	r.Header.Set("User-Agent", "Docent/1.0")
	r.Header.Set("X-GitHub-Api-Version", apiVersion)
	reply, err := s.client.Do(r)
	if err != nil || reply.StatusCode == http.StatusNotModified || reply.StatusCode >= 200 && reply.StatusCode <= 299 {
		return reply, err
	}
	defer reply.Body.Close()
	return nil, statusErrorOf(reply)
}

func statusErrorOf(reply *http.Response) error {
	e := &statusError{status: reply.StatusCode, header: reply.Header}
	var body struct {
		Message       string `json:"message"`
		Documentation string `json:"documentation_url"`
	}
	if text, err := io.ReadAll(io.LimitReader(reply.Body, maxErrorLen)); err == nil && json.Unmarshal(text, &body) == nil {
		e.message, e.documentation = body.Message, body.Documentation
	}
	return e
}
