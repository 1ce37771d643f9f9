package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// Text receives the text of an answer while it is written: what follows the text so far, or, with
// replace, a text in place of it.
type Text func(text string, replace bool)

// AskStreaming asks a question and gives to its text while it is written. If the stream breaks off
// before the answer is complete, it waits as Await does; to does not receive the rest then. Asking
// the same question again under the same id changes nothing.
func (c *Client) AskStreaming(ctx context.Context, id string, q Question, to Text) (Answer, error) {
	body, err := marshal(q)
	if err != nil {
		return Answer{}, err
	}
	req, err := c.request(ctx, call{method: http.MethodPut, path: "/answers/" + url.PathEscape(id), body: body,
		header: http.Header{"Accept": {"text/event-stream"}}})
	if err != nil {
		return Answer{}, err
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return Answer{}, err
		}
		return c.askAndAwait(ctx, id, q)
	}
	defer res.Body.Close()
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); res.StatusCode != http.StatusOK || media != "text/event-stream" {
		return c.askAndAwait(ctx, id, q) // repeats what may be repeated, and has the words for a refusal
	}
	if a, err := readAnswer(res.Body, to); err != nil || a.State != "" {
		return a, err
	}
	return c.Await(ctx, id)
}

func (c *Client) askAndAwait(ctx context.Context, id string, q Question) (Answer, error) {
	if err := c.Ask(ctx, id, q); err != nil {
		return Answer{}, err
	}
	return c.Await(ctx, id)
}

// readAnswer reads the events of an answer. The answer is empty if they end too early.
func readAnswer(from io.Reader, to Text) (Answer, error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxReply)
	name := ""
	for lines.Scan() {
		line := lines.Text()
		if value, ok := strings.CutPrefix(line, "event: "); ok {
			name = value
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		switch name {
		case "text.delta", "text.replace":
			var d struct {
				Text string `json:"text"`
			}
			if json.Unmarshal([]byte(data), &d) == nil {
				to(d.Text, name == "text.replace")
			}
		case "answer.completed":
			a := Answer{Raw: json.RawMessage(data)}
			if err := json.Unmarshal(a.Raw, &a); err != nil {
				return Answer{}, fmt.Errorf("read the answer: %w", err)
			}
			return a, nil
		case "error":
			return Answer{}, nil // the answer itself says why
		}
	}
	return Answer{}, nil // the connection broke; the answer is stored
}
