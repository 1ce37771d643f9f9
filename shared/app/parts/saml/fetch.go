package saml

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/fetch"
	"docent/shared/team"
)

// fetchTime is how long a provider may take to send its metadata.
const fetchTime = 10 * time.Second

var errNotHTTPS = errors.New("a redirect leads to an address without TLS")

// Fetcher returns the function that reads metadata at an https address, which must be public.
// It returns what Parse does, with the address, and the text. Whoever controls the address
// decides who signs in, so neither it nor a redirect may lead to plain http.
func Fetcher() func(ctx context.Context, address string) (team.SAMLProvider, []byte, error) {
	return fetcher(fetch.New(nil))
}

func fetcher(f *fetch.Fetcher) func(ctx context.Context, address string) (team.SAMLProvider, []byte, error) {
	client := f.Brief().Client(fetchTime)
	check := client.CheckRedirect
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" {
			return errNotHTTPS
		}
		return check(r, via)
	}
	return func(ctx context.Context, address string) (team.SAMLProvider, []byte, error) {
		text, err := get(ctx, client, address)
		if err != nil {
			return team.SAMLProvider{}, nil, err
		}
		provider, err := Parse(text)
		var refused *apierr.Error
		if errors.As(err, &refused) && refused.Kind == apierr.Invalid {
			err = apierr.BadField("/url", "what is there cannot be used: %s", strings.TrimSuffix(refused.Detail, "."))
		}
		provider.MetadataURL = address
		return provider, text, err
	}
}

// get returns the text at address, at most one byte more than Parse accepts.
func get(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(address) > maxURL {
		return nil, apierr.BadField("/url", "must be an https address of at most %d bytes, without a user", maxURL)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, apierr.BadField("/url", "is not an address").WithCause(err)
	}
	request.Header.Set("User-Agent", fetch.UserAgent)
	request.Header.Set("Accept", "application/samlmetadata+xml, application/xml, text/xml")
	reply, err := client.Do(request)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, apierr.BadField("/url", "the server answered with status %d", reply.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, team.MaxSAMLBytes+1))
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	return text, nil
}

// unreachable says why a request failed.
func unreachable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	detail := fetch.Reason(err)
	if errors.Is(err, errNotHTTPS) {
		detail = "it redirects to an address without TLS"
	}
	return apierr.BadField("/url", "%s", detail).WithCause(err)
}
