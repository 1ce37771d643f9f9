package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Usage is a usage report, its pages joined.
type Usage struct {
	Granularity string        `json:"granularity"`
	TimeZone    string        `json:"timeZone"`
	DataThrough string        `json:"dataThrough"` // RFC 3339
	Buckets     []UsageBucket `json:"buckets"`
}

// UsageBucket is a period of time and what was counted in it.
type UsageBucket struct {
	Start   string                       `json:"start"` // RFC 3339
	End     string                       `json:"end"`
	Results []map[string]json.RawMessage `json:"results"` // dimensions, and metrics
}

const usagePath = "/usage"

// Usage returns the report of query, all its pages.
func (c *Client) Usage(ctx context.Context, query url.Values) (Usage, error) {
	var all Usage
	err := c.usagePages(ctx, query, "application/json", func(r reply) error {
		page := Usage{}
		if err := decode(r, &page); err != nil {
			return err
		}
		page.Buckets = append(all.Buckets, page.Buckets...)
		all = page
		return nil
	})
	return all, err
}

// UsageCSV passes each page of the report of query to each, as CSV with its own line of column names. A page
// without rows is empty.
func (c *Client) UsageCSV(ctx context.Context, query url.Values, each func(page []byte) error) error {
	return c.usagePages(ctx, query, "text/csv", func(r reply) error { return each(r.body) })
}

func (c *Client) usagePages(ctx context.Context, query url.Values, accept string, each func(reply) error) error {
	for target := usagePath + "?" + query.Encode(); target != ""; {
		r, err := c.do(ctx, call{method: http.MethodGet, path: target, header: http.Header{"Accept": {accept}}})
		if err != nil {
			return err
		}
		if err := each(r); err != nil {
			return err
		}
		if target, err = next(r.header, usagePath, query); err != nil {
			return err
		}
	}
	return nil
}
