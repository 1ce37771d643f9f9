package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// EventPage is a page of the security event feed. Events are JSON objects as received.
type EventPage struct {
	Events     []json.RawMessage `json:"events"`
	NextCursor string            `json:"nextCursor"`
	HasMore    bool              `json:"hasMore"`
	Poll       time.Duration     `json:"-"` // how long to wait before the next page, if this one is empty
}

// maxEvents is the maximum number of events per page.
const maxEvents = 200

// Events returns the page of the feed after a cursor, or the first page. since is a time or an event id, for the
// first page; format is empty or "ocsf".
func (c *Client) Events(ctx context.Context, after, since, format string) (EventPage, error) {
	query := url.Values{"limit": {strconv.Itoa(maxEvents)}}
	for name, value := range map[string]string{"after": after, "since": since, "format": format} {
		if value != "" {
			query.Set(name, value)
		}
	}
	r, err := c.do(ctx, call{method: http.MethodGet, path: "/security-events?" + query.Encode()})
	if err != nil {
		return EventPage{}, err
	}
	var page EventPage
	if err := decode(r, &page); err != nil {
		return EventPage{}, err
	}
	page.Poll = retryAfter(r.header.Get("Retry-After"), c.Now())
	return page, nil
}
