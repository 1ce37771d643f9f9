// Package jsonpost sends JSON to one address of a server, and repeats requests that may succeed later. It is the
// client of servers that speak OpenAI's API: OpenAI's own library for Go adds 15 MiB to every binary.
package jsonpost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"docent/shared/pause"
)

// Bounds of repeated requests.
const (
	maxAttempts  = 3
	firstBackoff = time.Second / 2 // before the second attempt; each later one waits twice as long
)

// Client sends requests to one address. Its fields do not change.
type Client struct {
	Address   string            // from Address
	Key       string            // sent as a bearer token; empty: none
	Transport http.RoundTripper // nil: http.DefaultTransport
	MaxReply  int64             // bytes of a reply
	MaxWait   time.Duration     // a server that asks for a longer pause before another attempt is not asked again
}

// ErrReply means that a reply with a status of success was cut off or too large.
var ErrReply = errors.New("the reply cannot be read")

// StatusError is a reply without a status of success. Its text says nothing of the reply.
type StatusError struct {
	Status int
	Body   []byte // may be cut off
}

func (e *StatusError) Error() string { return "status " + strconv.Itoa(e.Status) }

// Address returns the address of a path below baseURL, which must be a plain http or https URL.
func Address(baseURL string, path ...string) (string, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" {
		return "", errors.New("the address of the model's server is not a plain http or https URL")
	}
	return base.JoinPath(path...).String(), nil
}

// failure is a request that failed.
type failure struct {
	err   error
	again bool          // another attempt may succeed
	wait  time.Duration // before that attempt, as the server asks; negative: it asks for nothing
}

// Do sends body, at most maxAttempts times, and returns the body of the first reply with a status of success. It
// stops early if the server asks for a longer pause than ctx or MaxWait allows. Every request goes to the
// address: a redirect is a StatusError, as is any other reply.
func (c *Client) Do(ctx context.Context, body []byte) ([]byte, error) {
	return c.repeat(ctx, func() ([]byte, *failure) { return c.post(ctx, body, nil) })
}

// Stream is Do for a request whose reply may be a stream of events (text/event-stream): take
// receives the data of each event, and the body is nil then. A stream that has begun is not
// repeated: if it breaks off, or take returns an error, that is the error.
func (c *Client) Stream(ctx context.Context, body []byte, take func(data []byte) error) ([]byte, error) {
	return c.repeat(ctx, func() ([]byte, *failure) { return c.post(ctx, body, take) })
}

// repeat makes attempts as Do says.
func (c *Client) repeat(ctx context.Context, post func() ([]byte, *failure)) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		reply, failed := post()
		if failed == nil {
			return reply, nil
		}
		wait := failed.wait
		if wait < 0 {
			wait = firstBackoff << (attempt - 1)
			wait -= rand.N(wait / 4) //nolint:gosec // it spreads the retries of clients that failed together
		}
		err := ctx.Err()
		if err == nil {
			if !failed.again || attempt == maxAttempts || !c.fits(ctx, wait) {
				return nil, failed.err
			}
			err = pause.For(ctx, wait)
		}
		if err != nil {
			return nil, err
		}
	}
}

// fits reports whether time for a request is left after a pause of d.
func (c *Client) fits(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return d < c.MaxWait && (!ok || d < time.Until(deadline))
}

// post makes one request. It goes to the transport itself, which follows no redirect.
// Events go to take, which may be nil.
func (c *Client) post(ctx context.Context, body []byte, take func([]byte) error) ([]byte, *failure) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Address, bytes.NewReader(body))
	if err != nil {
		return nil, &failure{err: err}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	if take != nil {
		request.Header.Set("Accept", "text/event-stream, application/json")
	}
	request.Header.Set("User-Agent", "Docent")
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	transport := c.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	reply, err := transport.RoundTrip(request)
	if err != nil {
		return nil, &failure{err: err, again: true, wait: -1}
	}
	defer func() { _ = reply.Body.Close() }()
	if take != nil && reply.StatusCode == http.StatusOK && isEvents(reply) {
		if err := readEvents(io.LimitReader(reply.Body, c.MaxReply), take); err != nil {
			return nil, &failure{err: err}
		}
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, c.MaxReply+1))
	if reply.StatusCode >= 200 && reply.StatusCode < 300 {
		switch {
		case err != nil:
			return nil, &failure{err: ErrReply}
		case int64(len(text)) > c.MaxReply:
			return nil, &failure{err: fmt.Errorf("%w: it has more than %d bytes", ErrReply, c.MaxReply)}
		}
		return text, nil
	}
	return nil, &failure{err: &StatusError{reply.StatusCode, text}, again: mayRetry(reply), wait: c.retryAfter(reply.Header)}
}

// mayRetry reports whether the same request may succeed later. A header of OpenAI's
// servers says so; otherwise the status decides.
func mayRetry(reply *http.Response) bool {
	switch reply.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch reply.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return reply.StatusCode >= http.StatusInternalServerError
}

// retryAfter returns the pause that a server asks for, in milliseconds by OpenAI's
// header or as RFC 9110 section 10.2.3 has it, and -1 when it asks for none. A pause
// too long for a Duration is MaxWait, which is not waited for either.
func (c *Client) retryAfter(h http.Header) time.Duration {
	for _, by := range []struct {
		header string
		unit   time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(h.Get(by.header), 64); n >= 0 && (err == nil || errors.Is(err, strconv.ErrRange)) {
			return time.Duration(min(n*float64(by.unit), float64(c.MaxWait)))
		}
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, time.Until(at))
	}
	return -1
}
