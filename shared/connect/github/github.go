// Package github reads repositories from GitHub or a server with the same API: issues
// and pull requests, the comments on both, reviews, documentation in Markdown and code.
//
// Records are read by the time of their last change, oldest first. Each page starts
// at the last time of the page before. So a record that changes during the sync is
// read again later and pushes no other out of a page, and the next sync starts where
// the last one ended. Files are read from the archive of a commit, later from the
// difference between two commits.
//
// Requests are sent one at a time, as GitHub asks. A rate limit interrupts the sync
// until the time that GitHub names.
package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"docent/shared/fetch"
	"docent/shared/source"
)

// Bounds of what is read.
const (
	perPage      = 100
	maxReply     = 64 << 20 // bytes of one reply of the API
	attempts     = 3        // of a request that the provider fails to answer
	requestTime  = time.Minute
	firstPause   = time.Second
	unnamedPause = time.Minute // after a rate limit that names no time
)

// Connector reads repositories. It is safe for concurrent use.
type Connector struct {
	HTTP  *http.Client // reaches no private address
	Now   func() time.Time
	Pause func(ctx context.Context, d time.Duration) error // before a retry
}

// The parts of a repository.
const (
	issues       = "issues" // and pull requests
	comments     = "comments"
	lineComments = "review comments"
	reviews      = "reviews"
	files        = "files"
)

// Parts returns five parts per repository.
func (c *Connector) Parts(s source.Settings) []string {
	var parts []string
	for _, repository := range s.List(repositories) {
		for _, kind := range []string{issues, comments, lineComments, reviews, files} {
			parts = append(parts, repository+" "+kind)
		}
	}
	return parts
}

// Retries marks the connector as a source.Retrier: it tries reviews again that it could not read.
func (c *Connector) Retries() {}

// checkpoint is the checkpoint of a part.
type checkpoint struct {
	Since  time.Time `json:"since,omitzero"`   // records: time of the last change read
	Page   int       `json:"page,omitempty"`   // records: page of those since then; 0: the first
	ETag   string    `json:"etag,omitempty"`   // of the last reply, if it was complete
	Name   string    `json:"name,omitempty"`   // records: the repository's current name, if it was renamed
	Newest time.Time `json:"newest,omitzero"`  // reviews: the last change of a pull request when this reading began
	Cursor string    `json:"cursor,omitempty"` // reviews: of the last pull request read
	Commit string    `json:"commit,omitempty"` // files: the last commit read
	Branch string    `json:"branch,omitempty"`
	Target string    `json:"target,omitempty"` // files: the commit that is being read
	Skip   int       `json:"skip,omitempty"`   // files: number already read from Target
	Whole  bool      `json:"whole,omitempty"`  // files: all of Target is read: from an archive or, with Single, one by one
	Single bool      `json:"single,omitempty"`
	Next   int       `json:"next,omitempty"` // files: with Single, number already read of those in the order of their names
}

// Read yields the pages of a part; see source.Connector.
func (c *Connector) Read(ctx context.Context, a source.Access, part string, at []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(page func(source.SyncPage) bool) error {
		repository, kind, _ := strings.Cut(part, " ")
		s, err := c.open(a, repository)
		if err != nil {
			return err
		}
		var p checkpoint
		if err := source.DecodeCheckpoint(at, &p); err != nil {
			return err
		}
		switch kind {
		case files:
			return s.readFiles(ctx, p, at == nil, page)
		case reviews:
			err = s.readReviews(ctx, p, page)
		default:
			err = s.readRecords(ctx, kind, p, page)
		}
		return s.unlessOff(ctx, kind, p, at == nil, err, page)
	})
}

// session reads one repository.
type session struct {
	*Connector
	client     *http.Client
	base       string             // URL of the API, with a slash at the end
	repository string             // owner/name
	html       string             // URL of its pages, with a slash at the end
	branch     string             // in the URIs of files
	anonymous  bool               // there is no token
	more       bool               // the last reply of a list has a next page
	folders    map[string][]entry // what is known of folders, by their SHA
	access     source.Access
}

func (c *Connector) open(a source.Access, repository string) (*session, error) {
	base := "https://api.github.com/"
	html := "https://github.com/"
	if a.Settings.Text(baseURL) != "" {
		base = strings.TrimSuffix(a.Settings.Text(baseURL), "/") + "/"
		u, err := url.Parse(base)
		if err != nil {
			return nil, fmt.Errorf("base URL: %w", err)
		}
		html = u.Scheme + "://" + u.Host + "/"
		if u.Path == "/" { // of GitHub itself, or a subdomain of ghe.com
			html = u.Scheme + "://" + strings.TrimPrefix(u.Host, "api.") + "/"
		}
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	client := *c.HTTP
	client.Transport = &guard{c.HTTP.Transport, u.Scheme, u.Host, a.Secrets[accessToken]}
	return &session{Connector: c, client: &client, base: base, repository: repository, html: html + repository + "/", anonymous: a.Secrets[accessToken] == "", folders: map[string][]entry{}, access: a}, nil
}

// guard adds the token to requests to the API, not to redirects, and bounds replies.
type guard struct {
	next                http.RoundTripper
	scheme, host, token string
}

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.token != "" && r.URL.Host == g.host && r.URL.Scheme == g.scheme {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+g.token)
	}
	reply, err := g.next.RoundTrip(r)
	if err == nil && r.Header.Get("Accept") != archiveType {
		reply.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(reply.Body, maxReply), reply.Body}
	}
	return reply, err
}

// get requests path from the API. It copies the reply into the value of v if that is an
// io.Writer, and decodes it as JSON otherwise. It reports whether the reply with etag
// is unchanged. It retries failures of the provider; its errors are *source.SyncError
// or ctx's own.
func (s *session) get(ctx context.Context, path, accept, etag string, v func() any) (newTag string, unchanged bool, err error) {
	err = s.retry(ctx, attempts, func() (err error) {
		newTag, unchanged, err = s.once(ctx, path, accept, etag, v())
		return err
	})
	return newTag, unchanged, err
}

// retry calls send up to most times, until it does not fail because of the provider. Its errors are those of get.
func (s *session) retry(ctx context.Context, most int, send func() error) error {
	for attempt := 1; ; attempt++ {
		err := send()
		if err == nil {
			return nil
		}
		failed := s.failure(err)
		if failed.Code != source.Unreadable || attempt == most || ctx.Err() != nil {
			return failed
		}
		if err := s.Pause(ctx, firstPause<<(attempt-1)); err != nil {
			return err
		}
	}
}

// failure returns the *source.SyncError for an error of the API.
func (s *session) failure(err error) *source.SyncError {
	var known *source.SyncError
	var answered *statusError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, fetch.ErrBlocked):
		return &source.SyncError{Code: source.Blocked, Detail: "The address of the API is not public.", AllParts: true, Cause: err}
	case errors.As(err, &answered):
		return s.refusal(answered, err)
	default:
		return &source.SyncError{Code: source.Unreadable, Detail: "GitHub could not be reached, or its reply was incomplete.", Cause: err}
	}
}

func (s *session) refusal(answered *statusError, err error) *source.SyncError {
	if wait, limited := answered.wait(s.Now()); limited {
		return s.limited(s.Now().Add(wait), err)
	}
	switch status := answered.status; {
	case status == http.StatusUnauthorized:
		return &source.SyncError{Code: source.Unauthorized, Detail: "GitHub does not accept the access token.", AllParts: true, Cause: err}
	case status == http.StatusForbidden:
		return &source.SyncError{Code: source.Unauthorized, Detail: "The access token may not read this part of the repository." + answered.missing(), Cause: err}
	case status == http.StatusNotFound || status == http.StatusGone || status == http.StatusUnavailableForLegalReasons:
		return &source.SyncError{Code: source.NotThere, Detail: "Not found on GitHub, or not visible to this access token." + answered.missing(), Cause: err}
	case status >= http.StatusInternalServerError:
		return &source.SyncError{Code: source.Unreadable, Detail: fmt.Sprintf("GitHub failed with status %d.", status), Cause: err}
	default:
		return &source.SyncError{Code: "provider-refused", Detail: fmt.Sprintf("GitHub refused the request with status %d.", status), Cause: err}
	}
}

// limited returns the error that interrupts a sync until GitHub accepts requests again.
func (s *session) limited(until time.Time, err error) *source.SyncError {
	now := s.Now()
	if until.Before(now) {
		until = now.Add(unnamedPause)
	}
	return &source.SyncError{Code: source.RateLimited, RetryAt: until, AllParts: true, Cause: err,
		Detail: "GitHub allows no more requests before " + until.UTC().Format(time.RFC3339) + "."}
}
