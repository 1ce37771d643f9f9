package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"docent/shared/llm"
	"docent/shared/pause"
)

// Bounds of repeated requests.
const (
	maxAttempts  = 3
	firstBackoff = time.Second / 2 // before the second attempt; each later one waits twice as long
)

// failure is a request without a completion.
type failure struct {
	err   error         // says nothing of the request or of the reply
	param string        // the parameter that the server refused; empty: none
	again bool          // another attempt may succeed
	wait  time.Duration // before that attempt, as the server asks; negative: it asks for nothing
}

// ask sends body until it receives a completion, at most maxAttempts times. It stops
// early if the server asks for a longer pause than ctx or llm.MaxTime allows.
func (c *Client) ask(ctx context.Context, body []byte) ([]byte, *failure) {
	for attempt := 1; ; attempt++ {
		reply, failed := c.post(ctx, body)
		if failed == nil {
			return reply, nil
		}
		wait := failed.wait
		if wait < 0 {
			wait = firstBackoff << (attempt - 1)
			wait -= rand.N(wait / 4) //nolint:gosec // it spreads the retries of clients that failed together
		}
		err := ctx.Err()
		if err == nil {
			if !failed.again || attempt == maxAttempts || !fits(ctx, wait) {
				return nil, failed
			}
			err = pause.For(ctx, wait)
		}
		if err != nil {
			return nil, &failure{err: fmt.Errorf("ask the model: %w", err)}
		}
	}
}

// fits reports whether time for a request is left after a pause of d.
func fits(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return d < llm.MaxTime && (!ok || d < time.Until(deadline))
}

// post makes one request and returns the body of a reply with a status of success.
// It goes to the transport itself, which follows no redirect.
func (c *Client) post(ctx context.Context, body []byte) ([]byte, *failure) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return nil, &failure{err: fmt.Errorf("ask the model: %w", err)}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "Docent")
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	reply, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, &failure{err: fmt.Errorf("ask the model: %w", err), again: true, wait: -1}
	}
	defer func() { _ = reply.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(reply.Body, llm.MaxReply+1))
	if reply.StatusCode >= 200 && reply.StatusCode < 300 {
		if err != nil || len(text) > llm.MaxReply {
			return nil, &failure{err: llm.ErrReply}
		}
		return text, nil
	}
	failed := &failure{err: fmt.Errorf("ask the model: status %d", reply.StatusCode),
		again: mayRetry(reply), wait: retryAfter(reply.Header)}
	switch reply.StatusCode {
	case http.StatusTooManyRequests:
		failed.err = llm.ErrThrottled
	case http.StatusBadRequest:
		failed.param = refusedParam(text)
	}
	return nil, failed
}

// mayRetry reports whether the same request may succeed later. A header of OpenAI's
// servers says so; otherwise the status decides.
func mayRetry(reply *http.Response) bool {
	switch reply.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch reply.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return reply.StatusCode >= http.StatusInternalServerError
}

// retryAfter returns the pause that a server asks for, in milliseconds by OpenAI's
// header or as RFC 9110 section 10.2.3 has it, and -1 when it asks for none. A pause
// too long for a Duration is llm.MaxTime, which is not waited for either.
func retryAfter(h http.Header) time.Duration {
	for _, by := range []struct {
		header string
		unit   time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(h.Get(by.header), 64); n >= 0 && (err == nil || errors.Is(err, strconv.ErrRange)) {
			return time.Duration(min(n*float64(by.unit), float64(llm.MaxTime)))
		}
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, time.Until(at))
	}
	return -1
}

// refusedParam returns the parameter that the body of an error names, or "".
func refusedParam(body []byte) string {
	var refused struct {
		Error struct {
			Param string `json:"param"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &refused) != nil {
		return ""
	}
	return refused.Error.Param
}
