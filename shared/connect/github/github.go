// Package github reads repositories from GitHub or a server that speaks its API:
// issues and pull requests, the comments on both, documentation in Markdown and
// code.
//
// Records are read by the time of their last change, oldest first, each page from
// the last time of the page before on. So what changes while it is read comes again
// later instead of shifting something else out of a page, and a sync goes on where
// the last one ended. Files come as one archive of a commit, and later as the
// difference between two commits.
//
// Requests go one after the other, as GitHub asks for. A limit ends the sync until
// the time that GitHub names.
package github

import (
	"context"
	"encoding/json"
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
	maxReply     = 64 << 20 // bytes of one answer of the API
	attempts     = 3        // of a request that fails for no reason of its own
	requestTime  = time.Minute
	firstPause   = time.Second
	unnamedPause = time.Minute // after a secondary limit that names no time
)

// Connector reads repositories. It is safe for concurrent use.
type Connector struct {
	HTTP  *http.Client // reaches no private address
	Now   func() time.Time
	Pause func(ctx context.Context, d time.Duration) error // before a request is tried again
}

// The parts of a repository.
const (
	issues   = "issues" // and pull requests
	comments = "comments"
	reviews  = "review comments"
	files    = "files"
)

// Parts are four of each repository.
func (c *Connector) Parts(s source.Settings) []string {
	var parts []string
	for _, repository := range s.List(repositories) {
		for _, kind := range []string{issues, comments, reviews, files} {
			parts = append(parts, repository+" "+kind)
		}
	}
	return parts
}

// place is how far a part is read.
type place struct {
	Since  time.Time `json:"since,omitzero"` // records: up to this change
	Page   int       `json:"page,omitempty"` // records: of those since then; 0: the first
	ETag   string    `json:"etag,omitempty"` // of what was read last, when it was all
	Name   string    `json:"name,omitempty"` // records: what the repository is called now, when it is another name
	Commit string    `json:"commit,omitempty"`
	Branch string    `json:"branch,omitempty"`
	Target string    `json:"target,omitempty"` // files: the commit that is being read
	Skip   int       `json:"skip,omitempty"`   // files: of it that were read
	Whole  bool      `json:"whole,omitempty"`  // files: it is read from an archive
}

func (p place) encoded() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // it has no field that can fail to encode
	}
	return text
}

// Read yields what there is of a part.
func (c *Connector) Read(ctx context.Context, a source.Access, part string, at []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(page func(source.SyncPage) bool) error {
		repository, kind, _ := strings.Cut(part, " ")
		s, err := c.open(a, repository)
		if err != nil {
			return err
		}
		var p place
		if at != nil {
			if err := json.Unmarshal(at, &p); err != nil {
				return err
			}
		}
		if kind == files {
			return s.readFiles(ctx, p, at == nil, page)
		}
		return s.readRecords(ctx, kind, p, page)
	})
}

// session reads one repository.
type session struct {
	*Connector
	client     *http.Client
	base       string // of the API, with a slash at the end
	repository string // owner/name
	html       string // of its pages, with a slash at the end
	branch     string // that files are shown of
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
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	client := *c.HTTP
	client.Transport = &guard{c.HTTP.Transport, u.Scheme, u.Host, a.Secrets[accessToken]}
	return &session{Connector: c, client: &client, base: base, repository: repository, html: html + repository + "/"}, nil
}

// guard gives the token to the API and to nobody it redirects to, and bounds
// answers.
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

// get asks the API for path and decodes the answer into v, an io.Writer or what JSON
// is decoded into. etag is of the answer that is known; unchanged tells that it is
// still the same. A request that fails for no reason of its own is tried again.
func (s *session) get(ctx context.Context, path, accept, etag string, v func() any) (newTag string, unchanged bool, err error) {
	for attempt := 1; ; attempt++ {
		newTag, unchanged, err := s.once(ctx, path, accept, etag, v())
		if err == nil {
			return newTag, unchanged, nil
		}
		failed := s.failure(err)
		if failed.Code != source.Unreadable || attempt == attempts || ctx.Err() != nil {
			return "", false, failed
		}
		if err := s.Pause(ctx, firstPause<<(attempt-1)); err != nil {
			return "", false, err
		}
	}
}

// failure tells what an error of the API means.
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
		return &source.SyncError{Code: source.Unreadable, Detail: "GitHub could not be reached, or gave no whole answer.", Cause: err}
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
		return &source.SyncError{Code: source.Unauthorized, Detail: "The access token may not read this part of the repository.", Cause: err}
	case status == http.StatusNotFound || status == http.StatusGone || status == http.StatusUnavailableForLegalReasons:
		return &source.SyncError{Code: source.NotThere, Detail: "GitHub does not have it, or does not show it to this access token.", Cause: err}
	case status >= http.StatusInternalServerError:
		return &source.SyncError{Code: source.Unreadable, Detail: fmt.Sprintf("GitHub failed with status %d.", status), Cause: err}
	default:
		return &source.SyncError{Code: "provider-refused", Detail: fmt.Sprintf("GitHub refused the request with status %d.", status), Cause: err}
	}
}

// limited ends a sync until GitHub wants to be asked again.
func (s *session) limited(until time.Time, err error) *source.SyncError {
	now := s.Now()
	if until.Before(now) {
		until = now.Add(unnamedPause)
	}
	return &source.SyncError{Code: source.RateLimited, RetryAt: until, AllParts: true, Cause: err,
		Detail: "GitHub allows no more requests before " + until.UTC().Format(time.RFC3339) + "."}
}
