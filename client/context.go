package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"docent/shared/filter"
)

// Source is a piece of content that a search found.
type Source struct {
	Content    string `json:"content"`
	Title      string `json:"title"`
	URL        string `json:"url"`
	SourceType string `json:"sourceType"`
	Provider   string `json:"provider"`

	Explanation *Explanation `json:"explanation"` // with SearchRequest.Explain
}

// Explanation says why a source is where it is. The API describes its members.
type Explanation struct {
	Score        float64  `json:"score"`
	Words        float64  `json:"words"`
	Cosine       *float64 `json:"cosine"`
	CosineWeight float64  `json:"cosineWeight"`
	Confidence   float64  `json:"confidence"`
	Heading      string   `json:"heading"`
	Terms        []struct {
		Term   string  `json:"term"`
		Times  int     `json:"times"`
		Weight float64 `json:"weight"`
	} `json:"terms"`
}

// Found is the result of a search or a research. Raw is the reply as received.
type Found struct {
	Answer  string          `json:"answer"`
	Sources []Source        `json:"sources"`
	Raw     json.RawMessage `json:"-"`
}

// SearchRequest says what to search for. An empty Space means all of them. Only Research uses Effort.
type SearchRequest struct {
	Query       string `json:"query"`
	Instruction string `json:"instruction,omitempty"`
	Limit       int    `json:"limit,omitempty"`
	Effort      string `json:"effort,omitempty"`
	Explain     bool   `json:"explain,omitempty"`
	// Filter selects documents; nil: all.
	Filter *filter.Filter `json:"filter,omitempty"`
	// DataSourceIDs are the data sources, such as collections, to search; nil: all.
	DataSourceIDs []string `json:"dataSourceIds,omitempty"`
	Space         string   `json:"-"`
}

// Search searches one space or all of them.
func (c *Client) Search(ctx context.Context, w SearchRequest) (Found, error) {
	path := "/context/search"
	if w.Space != "" {
		path += "/" + w.Space
	}
	return c.find(ctx, path, w, 0)
}

// researchTime bounds a research; the server works on it for up to 25 seconds.
const researchTime = 2 * time.Minute

// Research answers a question and returns its sources.
func (c *Client) Research(ctx context.Context, w SearchRequest) (Found, error) {
	return c.find(ctx, "/context/research", w, researchTime)
}

func (c *Client) find(ctx context.Context, path string, w SearchRequest, limit time.Duration) (Found, error) {
	var out Found
	body, err := marshal(w)
	if err != nil {
		return out, err
	}
	r, err := c.do(ctx, call{method: http.MethodPost, path: path, body: body, limit: limit})
	if err != nil {
		return out, err
	}
	out.Raw = r.body
	return out, decode(r, &out)
}

// Got is the content of a URL, or the reason why there is none.
type Got struct {
	URL       string `json:"url"`
	Title     string `json:"title"`
	Content   string `json:"content"`
	Truncated bool   `json:"truncated"`
	Error     *struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"error"`
}

// Get returns the content of URLs, in their order, and the reply as received.
func (c *Client) Get(ctx context.Context, urls []string) ([]Got, json.RawMessage, error) {
	body, err := marshal(map[string][]string{"urls": urls})
	if err != nil {
		return nil, nil, err
	}
	r, err := c.do(ctx, call{method: http.MethodPost, path: "/context/get", body: body, limit: researchTime})
	if err != nil {
		return nil, nil, err
	}
	var out struct{ Results []Got }
	return out.Results, r.body, decode(r, &out)
}
