package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Bounds of one post.
const (
	MaxPostTime  = 15 * time.Second
	maxPostReply = 16 << 10 // bytes that are read of a reply, and thrown away
)

// CheckPost returns an error for a URL that Post is not called with: one that is not https, or
// obviously not public. With local, a loopback address may also be http.
func CheckPost(address string, local bool) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("must be an https URL")
	case u.Fragment != "":
		return errors.New("must have no fragment")
	case u.User != nil:
		return errors.New("must not contain a user or password")
	case !resolvable(u.Hostname()):
		return errors.New("must have a host name of ASCII characters, such as hooks.example or xn--bcher-kva.example")
	case !validPort(u.Port()):
		return errors.New("must have a port from 1 to 65535, or none")
	case local && loopback(u.Hostname()):
	case u.Scheme != "https":
		return errors.New("must be an https URL")
	case blockedHost(u.Hostname()):
		return errors.New("must be an address on the public internet")
	}
	f := Fetcher{any: true}
	if f.check(u) != nil {
		return errors.New("must be an https URL")
	}
	return nil
}

// resolvable reports whether host is an address, or a name as the DNS has them (RFC 1035, section 2.3.4). Names in other
// scripts have an ASCII form, which begins with xn-- (RFC 5890): some characters of other scripts are read as digits.
func resolvable(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	host = strings.TrimSuffix(host, ".")
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return len(host) <= 253 && strings.IndexFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// Posted is the reply to a post, without its body.
type Posted struct {
	Status     int
	RetryAfter string // the header
}

// Post posts body to address and returns the reply. It follows no redirects and takes at most
// MaxPostTime. Each post makes its own connection, so that its address is checked. Its errors are
// those of Get; none contains the address.
func (f *Fetcher) Post(ctx context.Context, address string, header map[string]string, body []byte) (Posted, error) {
	ctx, cancel := context.WithTimeout(ctx, MaxPostTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return Posted{}, &Error{Code: Unsupported, Detail: "This is not an absolute http or https URL."}
	}
	if err := f.check(request.URL); err != nil {
		return Posted{}, err
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	request.Header.Set("User-Agent", UserAgent)
	client := http.Client{Transport: f.pages.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	reply, err := client.Do(request)
	var with *url.Error
	if errors.As(err, &with) {
		err = with.Err // the address may contain a secret
	}
	if err != nil {
		return Posted{}, f.failure(ctx, err)
	}
	defer reply.Body.Close()
	_, _ = io.CopyN(io.Discard, reply.Body, maxPostReply) // the status is what counts
	return Posted{Status: reply.StatusCode, RetryAfter: reply.Header.Get("Retry-After")}, nil
}
