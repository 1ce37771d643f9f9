// Package atlassian has what the connectors of Confluence and Jira share: the client of
// their REST APIs, the settings of a site, and the readers of content.
package atlassian

import (
	"context"
	"encoding/base64"
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

// Bounds of requests.
const (
	maxReply     = 32 << 20 // bytes
	maxErrorLen  = 64 << 10 // bytes of an error's body
	attempts     = 3        // of a request that the provider fails to answer
	requestTime  = time.Minute
	firstPause   = time.Second
	slowPause    = time.Second // between requests when a rate limit is near
	unnamedPause = time.Minute // after a rate limit that names no time
)

// Client has what every connector of an Atlassian product needs.
type Client struct {
	HTTP  *http.Client // reaches no private address
	Now   func() time.Time
	Pause func(ctx context.Context, d time.Duration) error // before a retry
	// Stores reports whether files of a site of the Cloud may be downloaded from a host; nil: from Atlassian's own.
	Stores func(host string) bool
}

// Site is one installation of a product, as one account sees it. It is not safe for
// concurrent use.
type Site struct {
	Client
	Product string            // its name, for messages
	Base    string            // URL without a slash at the end
	Cloud   bool              // otherwise it is a Data Center
	Notice  *source.SyncError // what the team's admins should know; nil: nothing
	slow    bool              // a rate limit is near
}

// Open returns the site of a source. An account with an email address is one of the
// Cloud; its token is sent as a password, that of a Data Center by itself.
func (c Client) Open(product string, a source.Access) (*Site, error) {
	base := strings.TrimRight(a.Settings.Text(BaseURL), "/")
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	s := &Site{Client: c, Product: product, Base: base, Cloud: a.Settings.Text(Email) != ""}
	credentials := "Bearer " + a.Secrets[AccessToken]
	if s.Cloud {
		credentials = "Basic " + base64.StdEncoding.EncodeToString([]byte(a.Settings.Text(Email)+":"+a.Secrets[AccessToken]))
	}
	client := *c.HTTP
	client.Transport = &guard{c.HTTP.Transport, u.Scheme, u.Host, credentials}
	s.HTTP = &client
	return s, nil
}

// guard adds the credentials to requests to the site, not to redirects.
type guard struct {
	next                      http.RoundTripper
	scheme, host, credentials string
}

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == g.host && r.URL.Scheme == g.scheme {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", g.credentials)
	}
	return g.next.RoundTrip(r)
}

// Get requests path with query from s and decodes the reply. It retries failures of the
// provider. Its errors are *source.SyncError, whose text says that what could not be
// read, or ctx's own.
func Get[T any](ctx context.Context, s *Site, what, path string, query url.Values) (T, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var v *T
	err := s.retried(ctx, what, func(ctx context.Context) error {
		v = new(T) // a failed attempt may have filled it in part
		return s.once(ctx, path, v)
	})
	if err != nil {
		return *new(T), err
	}
	return *v, nil
}

// retried calls once until it succeeds, fails for good, or has failed too often.
func (s *Site) retried(ctx context.Context, what string, once func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		if s.slow {
			if err := s.Pause(ctx, slowPause); err != nil {
				return err
			}
		}
		timed, cancel := context.WithTimeout(ctx, requestTime)
		err := once(timed)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed := s.failure(what, err)
		if failed.Code != source.Unreadable || attempt == attempts {
			return failed
		}
		if err := s.Pause(ctx, firstPause<<(attempt-1)); err != nil {
			return err
		}
	}
}

// once sends one request and decodes its reply into v.
func (s *Site) once(ctx context.Context, path string, v any) error {
	reply, err := s.send(ctx, s.HTTP, path, "application/json")
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err := readAll(reply, maxReply)
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(reply.Header.Get("Content-Type"), "text/html"):
		return errWebPage
	}
	return json.Unmarshal(text, v)
}

// send sends one request and returns its reply, if that is a success.
func (s *Site) send(ctx context.Context, client *http.Client, path, accept string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Base+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", accept)
	r.Header.Set("User-Agent", fetch.UserAgent)
	reply, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	s.slow = strings.EqualFold(reply.Header.Get("X-RateLimit-NearLimit"), "true")
	if reply.StatusCode < 200 || reply.StatusCode > 299 {
		defer reply.Body.Close()
		return nil, statusErrorOf(reply)
	}
	return reply, nil
}

// readAll reads a reply of at most limit bytes.
func readAll(reply *http.Response, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(reply.Body, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, errTooLarge
	}
	return text, err
}

var (
	errWebPage  = errors.New("the reply is a web page")
	errTooLarge = errors.New("the reply is too large")
)

// failure returns the *source.SyncError for an error of once.
func (s *Site) failure(what string, err error) *source.SyncError {
	var answered *statusError
	switch {
	case errors.Is(err, fetch.ErrBlocked):
		return &source.SyncError{Code: source.Blocked, Detail: "The base address is not public.", AllParts: true, Cause: err}
	case errors.Is(err, errWebPage):
		return &source.SyncError{Code: Refused, Cause: err,
			Detail: s.Product + " sent a web page instead of data. Check the base address: it must be the one of the product itself, without a page."}
	case errors.Is(err, errElsewhere):
		return &source.SyncError{Code: Refused, Detail: s.Product + " leads to another host for " + what + ".", Cause: err}
	case errors.Is(err, errTooLarge):
		return &source.SyncError{Code: source.TooLarge, Detail: fmt.Sprintf("The reply of %s for %s is larger than %d MB.", s.Product, what, maxReply>>20), Cause: err}
	case errors.As(err, &answered):
		return s.refusal(what, answered)
	default:
		return &source.SyncError{Code: source.Unreadable, Cause: err,
			Detail: fmt.Sprintf("%s could not be reached, or its reply was incomplete, for %s.", s.Product, what)}
	}
}
