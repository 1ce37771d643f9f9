// Package clients reads the descriptions of programs that ask for access by OAuth: Client ID Metadata Documents.
package clients

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"docent/shared/app/parts/reach"
	"docent/shared/fetch"
	"docent/shared/oauth"
)

// readTime is how long a server may take to send a description.
const readTime = 3 * time.Second

// Reader returns the function that reads a description at a public address, for oauth.Service. The description is what stands
// at that very address, so no redirect is followed.
func Reader() func(ctx context.Context, address string) ([]byte, error) {
	return reader(reach.Public(nil))
}

func reader(f *fetch.Fetcher) func(ctx context.Context, address string) ([]byte, error) {
	client := f.Brief().Client(readTime)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(ctx context.Context, address string) ([]byte, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, oauth.Unreadable(address, "it is not an address")
		}
		request.Header.Set("User-Agent", fetch.UserAgent)
		request.Header.Set("Accept", "application/json")
		reply, err := client.Do(request)
		if err != nil {
			return nil, unreachable(ctx, address, err)
		}
		defer reply.Body.Close()
		if reply.StatusCode != http.StatusOK {
			return nil, oauth.Unreadable(address, "the server answered with status "+strconv.Itoa(reply.StatusCode))
		}
		if media, _, err := mime.ParseMediaType(reply.Header.Get("Content-Type")); err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
			return nil, oauth.Unreadable(address, "the server does not say that it is JSON")
		}
		text, err := io.ReadAll(io.LimitReader(reply.Body, oauth.MaxDocument+1))
		if err != nil {
			return nil, unreachable(ctx, address, err)
		}
		return text, nil
	}
}

// unreachable returns the error of a request that failed.
func unreachable(ctx context.Context, address string, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	return oauth.Unreadable(address, fetch.Reason(err))
}
