// Package rest sends the requests of a connector to a provider's JSON API. It sends them
// one at a time, retries what the provider fails to answer, waits for short rate limits,
// bounds replies, and returns failures as *source.SyncError.
package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"docent/shared/fetch"
	"docent/shared/source"
)

// Bounds of a request.
const (
	MaxReply    = 64 << 20 // bytes of a reply that is read as a whole
	maxErrorLen = 64 << 10 // bytes of an error's body
	attempts    = 3        // of a request that the provider fails to answer
	requestTime = time.Minute
	firstPause  = time.Second
	slowPause   = time.Second // between requests when a rate limit is near
)

// The types of replies that are asked for.
const (
	jsonType = "application/json"
	anyType  = "*/*"
)

// What is wrong with a reply that is a success.
var (
	errTooLarge  = errors.New("the reply is too large")
	errElsewhere = errors.New("the file is on another host")
)

// API is the API of a provider, as one source reads it. It is not safe for concurrent use.
type API struct {
	Provider string // its name, for messages
	Base     string // URL, with a slash at the end
	// Header is sent to Base only, not to redirects to another host.
	Header http.Header
	HTTP   *http.Client // reaches no private address
	Now    func() time.Time
	Pause  func(ctx context.Context, d time.Duration) error // before a retry
	// Refusal returns the failure for a reply that needs a message of its own; nil, or a
	// nil result: the general one.
	Refusal func(*StatusError) *source.SyncError
	// About says what the next request is about, for messages; empty: nothing.
	About string
	// Most bounds a reply that is decoded, in bytes; 0: MaxReply.
	Most int64
	// Follow reports whether a request for a file may be redirected to a host other than Base's;
	// nil: to any that HTTP reaches.
	Follow func(host string) bool

	slow bool // a rate limit is near
}

// Get requests path and decodes the reply.
func Get[T any](ctx context.Context, a *API, path string) (T, http.Header, error) {
	return call[T](ctx, a, http.MethodGet, path, nil)
}

// Post sends body as JSON to path, which must read only, and decodes the reply.
func Post[T any](ctx context.Context, a *API, path string, body any) (T, http.Header, error) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // every body of a connector can be encoded
	}
	return call[T](ctx, a, http.MethodPost, path, text)
}

func call[T any](ctx context.Context, a *API, method, path string, body []byte) (T, http.Header, error) {
	var v *T
	header, err := a.retried(ctx, func(ctx context.Context) (http.Header, error) {
		v = nil // a failed attempt may have filled it in part
		reply, err := a.send(ctx, method, path, jsonType, body)
		if err != nil {
			return nil, err
		}
		defer reply.Body.Close()
		if isWebPage(reply.Header) {
			return nil, &StatusError{Status: reply.StatusCode, Header: reply.Header}
		}
		bounded := &io.LimitedReader{R: reply.Body, N: a.most() + 1}
		err = json.NewDecoder(bounded).Decode(&v)
		switch {
		case bounded.N == 0:
			return nil, errTooLarge
		case err == nil && v == nil:
			err = errors.New("null")
		}
		return reply.Header, err
	})
	if err != nil {
		return *new(T), nil, err
	}
	return *v, header, nil
}

// TooMany returns the failure for a list of n entries of which at most that many were asked for, or nil. The work for a
// list may grow faster than its length.
func (a *API) TooMany(n, most int) error {
	if n <= most {
		return nil
	}
	return &source.SyncError{Code: source.Unreadable, Detail: fmt.Sprintf("%s sent a list of %d entries%s, of which at most %d were asked for.", a.Provider, n, a.about(), most)}
}

func (a *API) most() int64 { return cmp.Or(a.Most, MaxReply) }

// Text requests path and returns the body of the reply. If that has more than limit
// bytes, Text returns nil. A web page is an error: it is in place of the text, to ask for a login.
func (a *API) Text(ctx context.Context, path string, limit int64) (text []byte, err error) {
	_, err = a.retried(ctx, func(ctx context.Context) (http.Header, error) {
		reply, err := a.send(ctx, http.MethodGet, path, anyType, nil)
		if err != nil {
			return nil, err
		}
		defer reply.Body.Close()
		if isWebPage(reply.Header) {
			return nil, &StatusError{Status: reply.StatusCode, Header: reply.Header}
		}
		text, err = io.ReadAll(io.LimitReader(reply.Body, limit+1))
		return reply.Header, err
	})
	if err != nil || int64(len(text)) > limit {
		return nil, err
	}
	return text, nil
}

// Stream requests path once, and returns the body of the reply without a bound or a
// limit of time.
func (a *API) Stream(ctx context.Context, path string) (io.ReadCloser, error) {
	reply, err := a.send(ctx, http.MethodGet, path, anyType, nil)
	if err != nil {
		return nil, a.failure(err)
	}
	if isWebPage(reply.Header) {
		_ = reply.Body.Close()
		return nil, a.failure(&StatusError{Status: reply.StatusCode, Header: reply.Header})
	}
	return reply.Body, nil
}

// retried calls once until it succeeds, fails permanently, or has failed too often. Its
// errors are *source.SyncError, or ctx's own.
func (a *API) retried(ctx context.Context, once func(context.Context) (http.Header, error)) (http.Header, error) {
	for attempt := 1; ; attempt++ {
		if a.slow {
			if err := a.Pause(ctx, slowPause); err != nil {
				return nil, err
			}
		}
		timed, cancel := context.WithTimeout(ctx, requestTime)
		header, err := once(timed)
		cancel()
		if err == nil {
			return header, nil
		}
		failed := a.failure(err)
		pause := firstPause << (attempt - 1)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case attempt == attempts:
			return nil, failed
		case failed.Code == source.RateLimited && failed.RetryAt.Sub(a.Now()) <= shortWait:
			pause = max(failed.RetryAt.Sub(a.Now()), firstPause)
		case failed.Code != source.Unreadable:
			return nil, failed
		}
		if err := a.Pause(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// send sends a request and returns a reply that is a success; any other is a
// *StatusError.
func (a *API) send(ctx context.Context, method, path, accept string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, a.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", accept)
	r.Header.Set("User-Agent", fetch.UserAgent)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	base, err := url.Parse(a.Base)
	if err != nil {
		return nil, err
	}
	client := *a.HTTP
	client.Transport = &guard{a.HTTP.Transport, base.Scheme, base.Host, a.Header}
	if accept == anyType && a.Follow != nil {
		client.CheckRedirect = a.follow
	}
	reply, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	a.slow = strings.EqualFold(reply.Header.Get("X-RateLimit-NearLimit"), "true")
	if reply.StatusCode >= 200 && reply.StatusCode <= 299 {
		return reply, nil
	}
	defer reply.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(reply.Body, maxErrorLen)) // what arrived of it
	return nil, &StatusError{reply.StatusCode, reply.Header, text}
}

// follow refuses redirects that Follow does not allow, and those that are not encrypted.
func (a *API) follow(r *http.Request, via []*http.Request) error {
	if r.URL.Scheme != "https" || r.URL.Host != via[0].URL.Host && !a.Follow(r.URL.Host) {
		return errElsewhere
	}
	return a.HTTP.CheckRedirect(r, via)
}

// guard adds the header to requests to the API, not to redirects elsewhere.
type guard struct {
	next         http.RoundTripper
	scheme, host string
	header       http.Header
}

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == g.host && r.URL.Scheme == g.scheme {
		r = r.Clone(r.Context())
		for name, values := range g.header {
			r.Header[name] = values
		}
	}
	return g.next.RoundTrip(r)
}

// failure returns the *source.SyncError for an error of a request.
func (a *API) failure(err error) *source.SyncError {
	var known *source.SyncError
	var answered *StatusError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, fetch.ErrBlocked):
		return &source.SyncError{Code: source.Blocked, Detail: "The address of the API is not public.", AllParts: true, Cause: err}
	case errors.Is(err, errTooLarge):
		return &source.SyncError{Code: source.TooLarge, Detail: fmt.Sprintf("The reply of %s%s is larger than %d MB.", a.Provider, a.about(), a.most()>>20), Cause: err}
	case errors.As(err, &answered):
		return a.refusal(answered)
	default:
		return &source.SyncError{Code: source.Unreadable, Detail: a.Provider + " could not be reached, or its reply was incomplete" + a.about() + ".", Cause: err}
	}
}

func (a *API) about() string {
	if a.About == "" {
		return ""
	}
	return " for " + a.About
}

func (a *API) refusal(e *StatusError) *source.SyncError {
	if wait, limited := e.wait(a.Now()); limited {
		until := a.Now().Add(wait)
		return &source.SyncError{Code: source.RateLimited, RetryAt: until, AllParts: true, Cause: e,
			Detail: a.Provider + " allows no more requests before " + until.UTC().Format(time.RFC3339) + "."}
	}
	if a.Refusal != nil {
		if failed := a.Refusal(e); failed != nil {
			failed.Cause = e
			return failed
		}
	}
	switch {
	case e.IsWebPage():
		return &source.SyncError{Code: source.Unreadable, Detail: a.Provider + " sent a web page instead of data" + a.about() + ".", Cause: e}
	case e.Status == http.StatusUnauthorized:
		return &source.SyncError{Code: source.Unauthorized, Detail: a.Provider + " does not accept the access token.", AllParts: true, Cause: e}
	case e.Status == http.StatusForbidden:
		return &source.SyncError{Code: source.Unauthorized, Detail: "The access token may not read this.", Cause: e}
	case e.Status == http.StatusNotFound || e.Status == http.StatusGone || e.Status == http.StatusUnavailableForLegalReasons:
		return &source.SyncError{Code: source.NotThere, Detail: "Not found, or not visible to this access token.", Cause: e}
	case e.Status >= http.StatusInternalServerError || e.Status == http.StatusConflict || e.Status == http.StatusRequestTimeout:
		return &source.SyncError{Code: source.Unreadable, Detail: fmt.Sprintf("%s failed with status %d.", a.Provider, e.Status), Cause: e}
	default:
		return &source.SyncError{Code: source.Refused, Detail: fmt.Sprintf("%s refused the request with status %d.", a.Provider, e.Status), Cause: e}
	}
}
