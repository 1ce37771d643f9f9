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

	"golang.org/x/net/idna"
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
	host := ""
	if err == nil {
		host, err = asciiHost(u.Hostname())
	}
	switch {
	case err != nil || u.Host == "" || u.Opaque != "" || u.Fragment != "":
		return errors.New("must be an https URL")
	case u.User != nil:
		return errors.New("must not contain a user or password")
	case local && loopback(host):
	case u.Scheme != "https":
		return errors.New("must be an https URL")
	case blockedHost(host):
		return errors.New("must be an address on the public internet")
	}
	f := Fetcher{any: true}
	if f.check(u) != nil {
		return errors.New("must be an https URL")
	}
	return nil
}

// hostNames are the names that resolvers take: of mapped characters (UTS 46), with the lengths of the DNS.
var hostNames = idna.New(idna.MapForLookup(), idna.VerifyDNSLength(true), idna.StrictDomainName(false))

// asciiHost returns a host as it is resolved. A host that cannot be resolved is an error.
func asciiHost(host string) (string, error) {
	if _, err := netip.ParseAddr(host); err == nil {
		return host, nil
	}
	return hostNames.ToASCII(strings.TrimSuffix(host, "."))
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
