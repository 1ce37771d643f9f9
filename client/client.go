// Package client calls Docent's HTTP API from Go programs, as the command line does: collections, documents, answers,
// searches, data sources, security events, usage and the team. It repeats calls that are safe to repeat, waits when the
// server asks for it, and turns problem objects into one-line errors. VerifyWebhook is for receivers of webhooks.
//
// The methods are those that programs need most; openapi.yaml describes every operation.
package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"docent/shared/pause"
)

// DefaultServer is the base URL of a server started by docent serve.
const DefaultServer = "http://127.0.0.1:8080/v1"

// maxReply is how many bytes are read of one reply: an answer or a page of 200 items.
const maxReply = 32 << 20

// gzipFrom is the size in bytes from which a body is compressed.
const gzipFrom = 1024

// Client calls one server with one key. It is safe for concurrent use once its
// fields are set.
type Client struct {
	base string // ends in /v1, no slash at the end
	key  string

	// UserAgent is sent with every request.
	UserAgent string
	// As is the user that a team key acts for, by userName or id; empty: nobody.
	As string

	// HTTP sends the requests. Every call has its own time limit.
	HTTP *http.Client
	// Pause waits for d, or until ctx ends and then returns the error of ctx.
	Pause func(ctx context.Context, d time.Duration) error
	// Retrying, unless it is nil, learns why a call is about to be repeated. Calls of several goroutines call it at once.
	Retrying func(err error)
	// Now returns the time, to measure waits.
	Now func() time.Time
}

// ErrNoKey means that the key is empty.
var ErrNoKey = errors.New("no API key")

// New returns a client of the API at server, an absolute http or https URL; without a path, /v1 is added. Blanks and
// line ends around the key, which is often read from a file, are left out. It returns ErrNoKey if the key is empty.
func New(server, key string) (*Client, error) {
	if key = strings.TrimSpace(key); key == "" {
		return nil, ErrNoKey
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the API key has a character that no key has, such as a blank or a line end; is it one key, and nothing else?")
	}
	base, err := BaseURL(server)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	return &Client{
		base:      base,
		key:       key,
		UserAgent: "docent-client-go",
		HTTP:      &http.Client{Transport: transport, CheckRedirect: followUnchanged},
		Pause:     pause.For,
		Now:       time.Now,
	}, nil
}

// BaseURL returns the base URL of the API at server, as New takes it.
func BaseURL(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("the server %q is not an http or https URL such as %s", server, DefaultServer)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", fmt.Errorf("the server %q has no port from 1 to 65535", server)
		}
	}
	if u.User != nil {
		return "", errors.New("the address of the server must not contain a user and a password; the key identifies the caller")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("the server %q must not have a query or a fragment; the address of the API is such as %s", server, DefaultServer)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// maxRedirects bounds the redirects of one request.
const maxRedirects = 10

// followUnchanged follows a redirect only if the same request is sent again, and not without the TLS that it had. A DELETE
// that becomes a GET would seem to have succeeded.
func followUnchanged(next *http.Request, sent []*http.Request) error {
	first := sent[0]
	if len(sent) >= maxRedirects || next.Method != first.Method || first.URL.Scheme == "https" && next.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	return nil
}

// Base returns the URL that every path is relative to.
func (c *Client) Base() string { return c.base }

// call is one operation. Every operation the client makes is safe to repeat.
type call struct {
	method string
	path   string // below base, or an absolute URL of the same server from a Link
	header http.Header
	body   []byte // JSON, unless header names another Content-Type; nil for none
	limit  time.Duration
}

// reply is a 2xx reply, read completely.
type reply struct {
	header http.Header
	body   []byte
	took   time.Duration
}

// once sends k once. A status other than 2xx is returned as *Error.
func (c *Client) once(ctx context.Context, k call) (reply, error) {
	limit := k.limit
	if limit == 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := c.request(ctx, k)
	if err != nil {
		return reply{}, err
	}
	start := c.Now()
	res, err := c.HTTP.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	if err != nil {
		return reply{}, fmt.Errorf("read the reply: %w", err)
	}
	if len(data) > maxReply {
		return reply{}, &Error{Status: res.StatusCode, Detail: fmt.Sprintf("The reply is over %d MB.", maxReply>>20)}
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return reply{}, problem(res, data, c.Now())
	}
	return reply{header: res.Header, body: data, took: c.Now().Sub(start)}, nil
}

func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	target := k.path
	if strings.HasPrefix(target, "/") {
		target = c.base + target
	}
	header := k.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	var body io.Reader
	if k.body != nil {
		data := k.body
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "application/json")
			if small := squeeze(data); small != nil {
				header.Set("Content-Encoding", "gzip")
				data = small
			}
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	header.Set("Authorization", "Bearer "+c.key)
	if header.Get("Accept") == "" {
		header.Set("Accept", "application/json")
	}
	header.Set("User-Agent", c.UserAgent)
	if c.As != "" {
		header.Set("Docent-User", c.As)
	}
	req.Header = header
	return req, nil
}

// squeeze returns data compressed by gzip, or nil if that saves nothing.
func squeeze(data []byte) []byte {
	if len(data) < gzipFrom {
		return nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	// Writes to a bytes.Buffer cannot fail.
	_, _ = z.Write(data)
	_ = z.Close()
	if b.Len() >= len(data) {
		return nil
	}
	return b.Bytes()
}

// marshal writes v as JSON without the escapes that only HTML needs, which would make a document larger.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func decode(r reply, into any) error {
	if err := json.Unmarshal(r.body, into); err != nil {
		return fmt.Errorf("the reply is not the JSON that was expected; is the server's address that of the API? %w", err)
	}
	return nil
}
