// Package fetch reads pages from the public web as Markdown, for clients that may name
// any URL. It reaches public addresses only: every connection is checked when it is
// made, by its IP address. So neither a redirect nor a name that later resolves to
// another address leads to a private network or a cloud's metadata. Size, time,
// redirects and media types are limited.
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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of one page.
const (
	MaxBytes     = 2 << 20 // uncompressed
	MaxTime      = 10 * time.Second
	maxRedirects = 5
	maxHeader    = 64 << 10
	MaxURL       = 2048 // bytes of an address
)

// UserAgent is the User-Agent header. In robots.txt sites call it Docent.
const UserAgent = "Docent/1.0"

// Timeouts of a provider's API.
const (
	headerTime = 30 * time.Second
	idleTime   = 90 * time.Second
	briefly    = time.Second // see Brief
)

// The codes of an Error.
const (
	Unsupported = "unsupported-url"
	Blocked     = "blocked-url"
	Failed      = "fetch-failed"
	TimedOut    = "timeout"
)

// Page is the content of a web page.
type Page struct {
	Title   string
	Content string // Markdown
	NoIndex bool   // its header or its HTML asks robots not to index it
}

// Error says why a page could not be read. Clients see Code and Detail.
type Error struct {
	Code   string
	Detail string
	Cause  error // for the log; may be nil
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Detail, e.Cause)
	}
	return e.Code + ": " + e.Detail
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// ErrBlocked means that an address must not be reached.
var ErrBlocked = errors.New("the address is not public")

// ErrTooLarge means that a reply of Raw is larger than its limit.
var ErrTooLarge = errors.New("the content is too large")

// Fetcher fetches pages. It is safe for concurrent use.
type Fetcher struct {
	pages  *http.Client
	dialer *net.Dialer
	roots  *x509.CertPool // nil: the system's
	read   Reader
	any    bool          // host names are not checked, only the addresses they resolve to
	idle   time.Duration // how long a Client keeps a connection that it does not use
	most   int64         // bytes of a reply to a Client; 0: the caller bounds them
}

// Reader converts the body of the page at a URL to text; page.Read is one.
type Reader func(ctx context.Context, body []byte, contentType, media string, at *url.URL) (Page, error)

// New returns a Fetcher that uses the system's resolver.
func New(read Reader) *Fetcher { return newFetcher(read, nil, Public) }

// NewReaching returns a Fetcher that reaches the addresses that allowed accepts, for
// tests with their own servers. If there are trusted certificates, it trusts only
// them.
func NewReaching(read Reader, allowed func(netip.AddrPort) bool, trusted ...*x509.Certificate) *Fetcher {
	f := newFetcher(read, nil, allowed, trusted...)
	f.any = true
	return f
}

// newFetcher returns a Fetcher with a resolver, nil for the system's, and a rule for
// addresses.
func newFetcher(read Reader, resolver *net.Resolver, allowed func(netip.AddrPort) bool, trusted ...*x509.Certificate) *Fetcher {
	dialer := &net.Dialer{Timeout: MaxTime, Resolver: resolver, Control: func(network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || network != "tcp4" && network != "tcp6" || !allowed(to) {
			return ErrBlocked
		}
		return nil
	}}
	f := &Fetcher{dialer: dialer, read: read, idle: idleTime}
	for _, certificate := range trusted {
		if f.roots == nil {
			f.roots = x509.NewCertPool()
		}
		f.roots.AddCert(certificate)
	}
	f.pages = f.Client(MaxTime)
	f.pages.Transport.(*http.Transport).DisableKeepAlives = true // so that every page checks its address again
	return f
}

// Brief returns a Fetcher that reaches the same, and whose Clients keep connections for a second only. It is for what asks
// servers that a request names: each request may name another one, and would leave a connection for longer.
func (f *Fetcher) Brief() *Fetcher {
	brief := *f
	brief.idle = briefly
	return &brief
}

// AtMost returns a Fetcher that reaches the same, and whose Clients read at most n bytes of a reply. Reading more is ErrTooLarge.
func (f *Fetcher) AtMost(n int64) *Fetcher {
	bounded := *f
	bounded.most = n
	return &bounded
}

// bounded ends the bodies of replies with ErrTooLarge after most bytes.
type bounded struct {
	*http.Transport
	most int64
}

// RoundTrip sends r.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := b.Transport.RoundTrip(r)
	if err == nil {
		reply.Body = &boundedBody{reply.Body, b.most}
	}
	return reply, err
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read reads at most one byte more than may be read.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}

// Client returns a client for a provider's API that reaches only what f reaches, also
// by redirects. A request takes at most limit; 0: no limit. The caller must bound the
// size of replies.
func (f *Fetcher) Client(limit time.Duration) *http.Client {
	client := &http.Client{
		Timeout: limit,
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy would bypass the check of addresses
			DialContext:            f.dialer.DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: f.roots, MinVersion: tls.VersionTLS12},
			MaxResponseHeaderBytes: maxHeader,
			TLSHandshakeTimeout:    MaxTime,
			ResponseHeaderTimeout:  headerTime,
			IdleConnTimeout:        f.idle,
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
	if transport, ok := client.Transport.(*http.Transport); ok && f.most > 0 {
		client.Transport = bounded{transport, f.most}
	}
	return client
}

// Get returns the page at address. Its errors are *Error, or ctx's own if ctx was
// canceled.
func (f *Fetcher) Get(ctx context.Context, address string) (Page, error) {
	return f.GetBy(ctx, address, nil)
}

// GetBy is Get that follows only redirects for which follow returns no error; nil: all. Its own error then wraps that of follow.
func (f *Fetcher) GetBy(ctx context.Context, address string, follow func(to *url.URL) error) (Page, error) {
	u, err := url.Parse(address)
	if err != nil || len(address) > MaxURL {
		return Page{}, &Error{Code: Unsupported, Detail: "This is not an absolute http or https URL."}
	}
	if err := f.check(u); err != nil {
		return Page{}, err
	}
	page, err := f.get(ctx, u, follow)
	if err = f.failure(ctx, err); err != nil {
		return Page{}, err
	}
	return page, nil
}

// failure returns err as an *Error, or ctx's own.
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

// Reason says why a request of a Client failed, in words that may be shown: "the server did not answer in time".
func Reason(err error) string {
	var resolving *net.DNSError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, ErrBlocked):
		return "it leads to an address that is not public"
	case errors.As(err, &untrusted):
		return "the server's certificate is not trusted"
	case errors.As(err, &resolving):
		return "the name of the server could not be resolved"
	case timedOut(err):
		return "the server did not answer in time"
	}
	return "the server could not be reached, or broke off"
}

func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

func blocked() *Error {
	return &Error{Code: Blocked, Detail: "Only public addresses may be fetched."}
}

// StatusError is the cause of an Error if the server replied with a status other than
// success.
type StatusError struct {
	Status     int
	RetryAfter string // the header
}

func (e *StatusError) Error() string { return "status " + strconv.Itoa(e.Status) }

// Raw is the unchanged reply of a server.
type Raw struct {
	Status     int
	Body       []byte
	RetryAfter string // the header
}

// Raw returns the reply at address unchanged, whatever its status. More than limit
// bytes are an error. It returns the errors of Get.
func (f *Fetcher) Raw(ctx context.Context, address string, limit int64) (Raw, error) {
	u, err := url.Parse(address)
	if err != nil || len(address) > MaxURL {
		return Raw{}, &Error{Code: Unsupported, Detail: "This is not an absolute http or https URL."}
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
		return Raw{}, &Error{Unsupported, "This is not an absolute http or https URL.", err}
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
		return Raw{}, &Error{Failed, fmt.Sprintf("The content is larger than %d bytes.", limit), ErrTooLarge}
	}
	return Raw{reply.StatusCode, body, reply.Header.Get("Retry-After")}, nil
}

func (f *Fetcher) get(ctx context.Context, u *url.URL, follow func(to *url.URL) error) (Page, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, &Error{Unsupported, "This is not an absolute http or https URL.", err}
	}
	request.Header.Set("Accept", "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9")
	request.Header.Set("User-Agent", UserAgent)
	client := *f.pages
	if follow != nil {
		client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
			if err := f.pages.CheckRedirect(r, via); err != nil {
				return err
			}
			return follow(r.URL)
		}
	}
	reply, err := client.Do(request)
	if err != nil {
		return Page{}, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return Page{}, &Error{Failed, "The page returned status " + strconv.Itoa(reply.StatusCode) + ".", &StatusError{reply.StatusCode, reply.Header.Get("Retry-After")}}
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
	page, err := f.read(ctx, body, reply.Header.Get("Content-Type"), media, reply.Request.URL)
	page.NoIndex = page.NoIndex || slices.ContainsFunc(reply.Header.Values("X-Robots-Tag"), NoIndex)
	return page, err
}

// NoIndex reports whether a value of the header X-Robots-Tag, or the content of a meta element for robots, asks Docent not to index
// the page. Directives after the name of a robot are for that one.
func NoIndex(directives string) bool {
	robot := ""
	for one := range strings.SplitSeq(strings.ToLower(directives), ",") {
		if name, rest, found := strings.Cut(one, ":"); found {
			if name = strings.TrimSpace(name); name == "unavailable_after" || strings.HasPrefix(name, "max-") { // a directive with a value
				continue
			}
			robot, one = name, rest
		}
		if one = strings.TrimSpace(one); (one == "noindex" || one == "none") && (robot == "" || robot == "*" || robot == "docent") {
			return true
		}
	}
	return false
}

// readable are the supported media types.
var readable = map[string]bool{"text/html": true, "application/xhtml+xml": true, "text/plain": true, "text/markdown": true}

// check returns an error for URLs that are invalid or obviously not public. The
// dialer checks the addresses that a host resolves to.
func (f *Fetcher) check(u *url.URL) error {
	if scheme := strings.ToLower(u.Scheme); scheme != "http" && scheme != "https" || u.Host == "" || u.Opaque != "" {
		return &Error{Code: Unsupported, Detail: "Only absolute http and https URLs can be read."}
	}
	if u.User != nil {
		return &Error{Code: Unsupported, Detail: "A URL must not contain a user or password."}
	}
	if !validPort(u.Port()) {
		return &Error{Code: Unsupported, Detail: "The URL has no valid port."}
	}
	if !f.any && blockedHost(u.Hostname()) {
		return blocked()
	}
	return nil
}

// validPort reports whether port is empty, or a number that TCP has.
func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}
