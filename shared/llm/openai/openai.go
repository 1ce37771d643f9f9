// Package openai writes drafts with any server that speaks OpenAI's Chat Completions.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"docent/shared/jsonpost"
	"docent/shared/llm"
)

// Client is an llm.Composer on one server and one model.
type Client struct {
	model  string
	server jsonpost.Client

	// Parameters that the server has rejected. Models that think before they write take
	// neither a temperature nor the older name of the bound.
	noTemperature, newBound, noUsage atomic.Bool
}

var _ llm.Composer = (*Client)(nil)

// Options changes a Client. The zero value has the default transport and no key.
type Options struct {
	Key       string            // sent as a bearer token; empty: none
	Transport http.RoundTripper // nil: http.DefaultTransport
}

// New returns a client of the server at baseURL, whose Chat Completions are at
// baseURL/chat/completions. It reads nothing from the environment. Every request
// goes to that address: a redirect is an error.
func New(baseURL, model string, o Options) (*Client, error) {
	address, err := jsonpost.Address(baseURL, "chat", "completions")
	if err != nil {
		return nil, err
	}
	if model == "" {
		return nil, errors.New("no model is named")
	}
	return &Client{model: model, server: jsonpost.Client{Address: address, Key: o.Key, Transport: o.Transport, MaxReply: llm.MaxReply, MaxWait: llm.MaxTime}}, nil
}

// Compose implements llm.Composer. A parameter that the server rejects is left out of
// the next request and of all later ones.
func (c *Client) Compose(ctx context.Context, r llm.Request) (llm.Draft, error) {
	for {
		body, err := json.Marshal(c.chat(r))
		if err != nil {
			return llm.Draft{}, fmt.Errorf("ask the model: %w", err)
		}
		d, err := c.ask(ctx, r, body)
		var refused *jsonpost.StatusError
		if !errors.As(err, &refused) {
			return d, err
		}
		if !c.adapt(refusedParam(err)) {
			return llm.Draft{}, described(err)
		}
	}
}

// ask sends body once and reads the reply. It returns a *jsonpost.StatusError unchanged.
func (c *Client) ask(ctx context.Context, r llm.Request, body []byte) (llm.Draft, error) {
	var s streamed
	var reply []byte
	var err error
	if r.Partial == nil {
		reply, err = c.server.Do(ctx, body)
	} else {
		reply, err = c.server.Stream(ctx, body, func(data []byte) error { return s.take(data, r.Partial) })
	}
	var refused *jsonpost.StatusError
	switch {
	case errors.As(err, &refused):
		return llm.Draft{}, err
	case err != nil:
		return s.tokens(llm.Draft{}), described(err)
	case reply == nil:
		return s.draft()
	}
	return draft(reply)
}

// described returns err as one of llm's where there is one.
func described(err error) error {
	var refused *jsonpost.StatusError
	switch {
	case errors.Is(err, jsonpost.ErrReply), errors.Is(err, llm.ErrReply):
		return llm.ErrReply
	case errors.Is(err, llm.ErrRefused):
		return err
	case errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests:
		return llm.ErrThrottled
	}
	return fmt.Errorf("ask the model: %w", err)
}

// refusedParam returns the parameter that the server refused, or "".
func refusedParam(err error) string {
	var status *jsonpost.StatusError
	if !errors.As(err, &status) || status.Status != http.StatusBadRequest {
		return ""
	}
	var refused struct {
		Error struct {
			Param string `json:"param"`
		} `json:"error"`
	}
	if json.Unmarshal(status.Body, &refused) != nil {
		return ""
	}
	return refused.Error.Param
}

// chat is the body of a request. MaxTokens is the only name of the bound that every
// compatible server knows.
type chat struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Temperature         *float64  `json:"temperature,omitempty"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	Stream              bool      `json:"stream,omitempty"`
	StreamOptions       *options  `json:"stream_options,omitempty"`
}

// options ask a stream for its usage.
type options struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (c *Client) chat(r llm.Request) chat {
	body := chat{Model: c.model, Messages: []message{{Role: "system", Content: r.System()}, {Role: "user", Content: llm.Prompt(r)}}}
	if !c.noTemperature.Load() {
		body.Temperature = new(0.0)
	}
	if c.newBound.Load() {
		body.MaxCompletionTokens = llm.MaxOutputTokens
	} else {
		body.MaxTokens = llm.MaxOutputTokens
	}
	if body.Stream = r.Partial != nil; body.Stream && !c.noUsage.Load() {
		body.StreamOptions = &options{IncludeUsage: true}
	}
	return body
}

// adapt leaves out the parameter that the server rejected. It reports whether to ask
// again, which it does once per parameter.
func (c *Client) adapt(param string) bool {
	switch param {
	case "temperature":
		return c.noTemperature.CompareAndSwap(false, true)
	case "max_tokens":
		return c.newBound.CompareAndSwap(false, true)
	case "stream_options":
		return c.noUsage.CompareAndSwap(false, true)
	}
	return false
}

// completion is the part of a reply that is read.
type completion struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content   string            `json:"content"`
			Refusal   string            `json:"refusal"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

func draft(reply []byte) (llm.Draft, error) {
	var read completion
	if json.Unmarshal(reply, &read) != nil {
		return llm.Draft{}, llm.ErrReply
	}
	d := llm.Draft{}
	var err error
	if len(read.Choices) == 0 {
		err = fmt.Errorf("%w: it holds no choice", llm.ErrReply)
	} else {
		switch choice := read.Choices[0]; {
		case choice.FinishReason == "content_filter" || choice.Message.Refusal != "":
			err = llm.ErrRefused
		case len(choice.Message.ToolCalls) > 0:
			err = fmt.Errorf("%w: it calls a tool, and none was given", llm.ErrReply)
		default:
			d = llm.TextDraft(choice.Message.Content)
			d.Cut = choice.FinishReason == "length"
		}
	}
	d.InputTokens, d.OutputTokens = read.Usage.PromptTokens, read.Usage.CompletionTokens
	return d, err
}
