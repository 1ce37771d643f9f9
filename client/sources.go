package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// DataSource is a collection or a connected data source.
type DataSource struct {
	ID            string     `json:"id"`
	Provider      string     `json:"provider"`
	Name          string     `json:"name"`
	State         string     `json:"state"`
	LastSync      *time.Time `json:"lastSync,omitempty"`
	WebhookSecret string     `json:"webhookSecret,omitempty"` // only when it was just created
	LastError     *struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"lastError,omitempty"`
	Sync *struct {
		State   string `json:"state"`
		Part    string `json:"part,omitempty"`
		Read    int    `json:"read"`
		Removed int    `json:"removed"`
	} `json:"sync,omitempty"`
	Raw json.RawMessage `json:"-"`
}

// NewSource is a data source to connect. Settings include the provider's secrets.
type NewSource struct {
	Provider string         `json:"provider"`
	Name     string         `json:"name"`
	Settings map[string]any `json:"settings"`
}

const sourcesPath = "/data-sources"

// DataSources returns all data sources, newest first.
func (c *Client) DataSources(ctx context.Context) ([]DataSource, error) {
	all := []DataSource{}
	return all, pages(ctx, c, sourcesPath, url.Values{"limit": {"200"}}, func(page []DataSource) { all = append(all, page...) })
}

// AddSource connects a data source. It is sent once: a repeat would connect another one.
func (c *Client) AddSource(ctx context.Context, s NewSource) (DataSource, error) {
	var out DataSource
	body, err := marshal(s)
	if err != nil {
		return out, err
	}
	r, err := c.once(ctx, call{method: http.MethodPost, path: sourcesPath, body: body})
	if err != nil {
		return out, err
	}
	out.Raw = r.body
	return out, decode(r, &out)
}

// SourceChange is a change of a data source. Members that are nil stay. Settings include
// the provider's secrets; nil removes one.
type SourceChange struct {
	Name     *string        `json:"name,omitempty"`
	Paused   *bool          `json:"paused,omitempty"`
	Settings map[string]any `json:"settings,omitempty"`
}

// ChangeSource changes a connected data source. A repeat changes nothing.
func (c *Client) ChangeSource(ctx context.Context, id string, change SourceChange) (DataSource, error) {
	var out DataSource
	body, err := marshal(change)
	if err != nil {
		return out, err
	}
	r, err := c.do(ctx, call{method: http.MethodPatch, path: sourcesPath + "/" + url.PathEscape(id), body: body})
	if err != nil {
		return out, err
	}
	out.Raw = r.body
	return out, decode(r, &out)
}

// RemoveSource removes a connected data source with all its items.
func (c *Client) RemoveSource(ctx context.Context, id string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: sourcesPath + "/" + url.PathEscape(id)})
	return err
}

// Imported is the result of an import. Errors name lines, counted from 1.
type Imported struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
	Errors   []struct {
		Line   int    `json:"line"`
		Detail string `json:"detail"`
	} `json:"errors"`
}

// Import imports items as JSON Lines. A repeat changes nothing.
func (c *Client) Import(ctx context.Context, id string, lines []byte) (Imported, error) {
	var out Imported
	r, err := c.do(ctx, call{method: http.MethodPost, path: sourcesPath + "/" + url.PathEscape(id) + "/items", body: lines,
		header: http.Header{"Content-Type": {"application/x-ndjson"}}})
	if err != nil {
		return out, err
	}
	return out, decode(r, &out)
}
