package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"docent/shared/filter"
)

// The states of an answer.
const (
	StateProcessing = "processing"
	StateComplete   = "complete"
	StateFailed     = "failed"
)

// waitSeconds is the longest that the server holds a poll open.
const waitSeconds = 20

// Answer is a question and its result.
type Answer struct {
	QuestionID string `json:"questionId"`
	Question   string `json:"question"`
	State      string `json:"state"`
	Result     *struct {
		Answer     string      `json:"answer"` // Markdown
		References []Reference `json:"references"`
	} `json:"result"`
	Error *struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"error"`
	Raw json.RawMessage `json:"-"` // the whole object as the server wrote it
}

// Reference is a document that an answer uses.
type Reference struct {
	HTMLURL string `json:"htmlUrl"`
	Title   string `json:"title"` // may be empty
}

// Question is the input of Ask.
type Question struct {
	Text   string         `json:"question"`
	Filter *filter.Filter `json:"filter,omitempty"` // nil: everything
}

// Ask submits a question under a UUID that the caller chooses. Asking the same question again under the same id
// changes nothing.
func (c *Client) Ask(ctx context.Context, id string, q Question) error {
	body, err := marshal(q)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, call{method: http.MethodPut, path: "/answers/" + url.PathEscape(id), body: body})
	return err
}

// Await polls until the answer leaves processing or ctx ends. If the server does not hold the poll open, Await
// pauses as long as the server asks.
func (c *Client) Await(ctx context.Context, id string) (Answer, error) {
	for {
		r, err := c.do(ctx, call{
			method: http.MethodGet, path: "/answers/" + url.PathEscape(id),
			header: http.Header{"Prefer": {fmt.Sprintf("wait=%d", waitSeconds)}},
		})
		if err != nil {
			return Answer{}, err
		}
		a := Answer{Raw: r.body}
		if err := decode(r, &a); err != nil {
			return Answer{}, err
		}
		if a.State != StateProcessing {
			return a, nil
		}
		rest := retryAfter(r.header.Get("Retry-After"), c.Now())
		if rest == 0 {
			rest = 2 * time.Second
		}
		if rest = min(rest, maxWait) - r.took; rest > 0 {
			if err := c.Pause(ctx, rest); err != nil {
				return Answer{}, err
			}
		}
	}
}
