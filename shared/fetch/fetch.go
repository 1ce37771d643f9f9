// Package fetch reads pages from the public web as Markdown, on behalf of clients
// who name any address. It reaches public addresses only: every connection is
// checked at the moment it is made, by the address that it goes to, so neither a
// name that resolves to something else the second time nor a redirect leads to a
// private network or to a cloud's metadata. Size, time, redirects and media types
// are bounded.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of one page.
const (
	MaxBytes     = 2 << 20 // unpacked
	MaxTime      = 10 * time.Second
	maxRedirects = 5
	maxHeader    = 64 << 10
	maxURL       = 2048
)

// UserAgent is what pages are asked for as; sites name it in robots.txt as Docent.
const UserAgent = "Docent/1.0"

// Times of a provider's API.
const (
	headerTime = 30 * time.Second
	idleTime   = 90 * time.Second
)

// The codes of an Error.
const (
	Unsupported = "unsupported-url"
	Blocked     = "blocked-url"
	Failed      = "fetch-failed"
	TimedOut    = "timeout"
)

// Page is what was read.
type Page struct {
	Title   string
	Content string // Markdown
}

// Error is why a page could not be read, in words for the client.
type Error struct {
	Code   string
	Detail string
	Cause  error // for the log; nil where there is none
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Detail, e.Cause)
	}
	return e.Code + ": " + e.Detail
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// ErrBlocked means that an address is not one that may be reached.
var ErrBlocked = errors.New("the address is not public")

// Fetcher fetches pages. It is safe for concurrent use.
type Fetcher struct {
	pages  *http.Client
	dialer *net.Dialer
	roots  *x509.CertPool // nil: the system's
	read   Reader
	any    bool // no name is refused for itself; what it leads to may be
}

// Reader turns the body of a page at an address into text; page.Read is one.
type Reader func(body []byte, contentType, media string, at *url.URL) (Page, error)

// New returns a Fetcher that uses the system's resolver.
func New(read Reader) *Fetcher { return newFetcher(read, nil, Public) }

// NewReaching is New with another rule than Public of what is reached, for a test
// with servers of its own. Where certificates of such servers are given, no other
// server is trusted.
func NewReaching(read Reader, allowed func(netip.AddrPort) bool, trusted ...*x509.Certificate) *Fetcher {
	f := newFetcher(read, nil, allowed, trusted...)
	f.any = true
	return f
}

// newFetcher is New with another resolver and rule, for tests.
func newFetcher(read Reader, resolver *net.Resolver, allowed func(netip.AddrPort) bool, trusted ...*x509.Certificate) *Fetcher {
	dialer := &net.Dialer{Timeout: MaxTime, Resolver: resolver, Control: func(network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || network != "tcp4" && network != "tcp6" || !allowed(to) {
			return ErrBlocked
		}
		return nil
	}}
	f := &Fetcher{dialer: dialer, read: read}
	for _, certificate := range trusted {
		if f.roots == nil {
			f.roots = x509.NewCertPool()
		}
		f.roots.AddCert(certificate)
	}
	f.pages = f.Client(MaxTime)
	f.pages.Transport.(*http.Transport).DisableKeepAlives = true // a connection serves the one page that it was checked for
	return f
}

// Client returns a client for the API of a provider, which reaches what f reaches,
// redirects included, and whose exchanges take at most limit. How large an answer
// may be is for the caller to bound.
func (f *Fetcher) Client(limit time.Duration) *http.Client {
	return &http.Client{
		Timeout: limit,
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy would connect for us, past the check
			DialContext:            f.dialer.DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: f.roots, MinVersion: tls.VersionTLS12},
			MaxResponseHeaderBytes: maxHeader,
			TLSHandshakeTimeout:    MaxTime,
			ResponseHeaderTimeout:  headerTime,
			IdleConnTimeout:        idleTime,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errors.New("too many redirects")
			}
			r.Header.Del("Referer")
			return f.check(r.URL)
		},
	}
}

// Get reads the page at address. Its errors are of type *Error, or ctx's own.
func (f *Fetcher) Get(ctx context.Context, address string) (Page, error) {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxURL {
		return Page{}, &Error{Code: Unsupported, Detail: "This is no absolute http or https URL."}
	}
	if err := f.check(u); err != nil {
		return Page{}, err
	}
	page, err := f.get(ctx, u)
	if err = f.failure(ctx, err); err != nil {
		return Page{}, err
	}
	return page, nil
}

// failure is err as an *Error, or ctx's own.
func (f *Fetcher) failure(ctx context.Context, err error) error {
	var known *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, ErrBlocked):
		return blocked()
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case timedOut(err):
		return &Error{TimedOut, "The page did not arrive in time.", err}
	default:
		return &Error{Failed, "The page could not be fetched.", err}
	}
}

func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

func blocked() *Error {
	return &Error{Code: Blocked, Detail: "Only public addresses may be fetched."}
}

// StatusError is the cause of a failure that the server has answered with a status.
type StatusError struct{ Status int }

func (e *StatusError) Error() string { return "status " + strconv.Itoa(e.Status) }

// Raw is what an address answered.
type Raw struct {
	Status int
	Body   []byte
}

// Raw reads what is at address as it is, at most limit bytes of it, whatever the
// status. More is an error, as is what may not be reached; they are those of Get.
func (f *Fetcher) Raw(ctx context.Context, address string, limit int64) (Raw, error) {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxURL {
		return Raw{}, &Error{Code: Unsupported, Detail: "This is no absolute http or https URL."}
	}
	if err := f.check(u); err != nil {
		return Raw{}, err
	}
	raw, err := f.raw(ctx, u, limit)
	return raw, f.failure(ctx, err)
}

func (f *Fetcher) raw(ctx context.Context, u *url.URL, limit int64) (Raw, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Raw{}, &Error{Unsupported, "This is no absolute http or https URL.", err}
	}
	request.Header.Set("User-Agent", UserAgent)
	reply, err := f.pages.Do(request)
	if err != nil {
		return Raw{}, err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, limit+1))
	if err != nil {
		return Raw{}, err
	}
	if int64(len(body)) > limit {
		return Raw{}, &Error{Code: Failed, Detail: fmt.Sprintf("What is there is larger than %d bytes.", limit)}
	}
	return Raw{reply.StatusCode, body}, nil
}

func (f *Fetcher) get(ctx context.Context, u *url.URL) (Page, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, &Error{Unsupported, "This is no absolute http or https URL.", err}
	}
	request.Header.Set("Accept", "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9")
	request.Header.Set("User-Agent", UserAgent)
	reply, err := f.pages.Do(request)
	if err != nil {
		return Page{}, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return Page{}, &Error{Failed, "The page was answered with status " + strconv.Itoa(reply.StatusCode) + ".", &StatusError{reply.StatusCode}}
	}
	media, _, err := mime.ParseMediaType(reply.Header.Get("Content-Type"))
	if err != nil || !readable[media] {
		return Page{}, &Error{Code: Failed, Detail: "The page is neither HTML nor text."}
	}
	body, err := io.ReadAll(io.LimitReader(reply.Body, MaxBytes+1))
	if err != nil {
		return Page{}, err
	}
	if len(body) > MaxBytes {
		return Page{}, &Error{Code: Failed, Detail: "The page is larger than 2 MB."}
	}
	return f.read(body, reply.Header.Get("Content-Type"), media, reply.Request.URL)
}

// readable are the media types that are read.
var readable = map[string]bool{"text/html": true, "application/xhtml+xml": true, "text/plain": true, "text/markdown": true}

// check refuses what can be told from a URL alone. That an address is public is
// checked when it is dialled.
func (f *Fetcher) check(u *url.URL) error {
	if scheme := strings.ToLower(u.Scheme); scheme != "http" && scheme != "https" || u.Host == "" || u.Opaque != "" {
		return &Error{Code: Unsupported, Detail: "Only absolute http and https URLs can be read."}
	}
	if u.User != nil {
		return &Error{Code: Unsupported, Detail: "A URL may not carry a user or password."}
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return &Error{Code: Unsupported, Detail: "The URL has no valid port."}
		}
	}
	if !f.any && blockedHost(u.Hostname()) {
		return blocked()
	}
	return nil
}
