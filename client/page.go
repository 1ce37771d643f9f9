package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// pages passes every page of the list at path to each, following the Link header (RFC 8288). A page may be short or
// empty without being the last.
func pages[T any](ctx context.Context, c *Client, path string, query url.Values, each func([]T)) error {
	seen := map[string]bool{}
	for target := path + "?" + query.Encode(); target != ""; {
		if seen[target] {
			return errors.New("the server's page links form a loop")
		}
		seen[target] = true
		r, err := c.do(ctx, call{method: http.MethodGet, path: target})
		if err != nil {
			return err
		}
		var page []T
		if err := decode(r, &page); err != nil {
			return err
		}
		each(page)
		if target, err = next(r.header, path, query); err != nil {
			return err
		}
	}
	return nil
}

// next returns the path and query of the next page, or "" on the last page. It takes only the parameters of a link,
// on top of those of the first page. The link's host is the one that the server is configured with: the caller may
// reach the server by another, and the key must not be sent anywhere else.
func next(h http.Header, path string, query url.Values) (string, error) {
	for _, line := range h.Values("Link") {
		for link := range strings.SplitSeq(line, ",") {
			target, params, ok := strings.Cut(strings.TrimSpace(link), ">")
			if !ok || !strings.HasPrefix(target, "<") || !isNext(params) {
				continue
			}
			u, err := url.Parse(target[1:])
			if err != nil {
				return "", fmt.Errorf("read the link to the next page: %w", err)
			}
			merged := url.Values{}
			for _, from := range []url.Values{query, u.Query()} {
				for name, values := range from {
					merged[name] = values
				}
			}
			return path + "?" + merged.Encode(), nil
		}
	}
	return "", nil
}

func isNext(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "rel") && strings.Trim(value, `"`) == "next" {
			return true
		}
	}
	return false
}
