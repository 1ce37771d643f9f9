// Package openai writes drafts with any server that speaks OpenAI's Chat Completions.
// It is a client of that one operation on net/http: OpenAI's own library for Go adds 15
// MiB to every binary that links it.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"

	"docent/shared/llm"
)

// Client is an llm.Composer on one server and one model.
type Client struct {
	model     string
	address   string // of Chat Completions
	key       string
	transport http.RoundTripper

	// Parameters that the server has rejected. Models that think before they write take
	// neither a temperature nor the older name of the bound.
	noTemperature, newBound atomic.Bool
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
	base, err := url.Parse(baseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" {
		return nil, errors.New("the address of the model's server is not a plain http or https URL")
	}
	if model == "" {
		return nil, errors.New("no model is named")
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	return &Client{model: model, address: base.JoinPath("chat", "completions").String(), key: o.Key, transport: o.Transport}, nil
}

// Compose implements llm.Composer. A parameter that the server rejects is left out of
// the next request and of all later ones.
func (c *Client) Compose(ctx context.Context, r llm.Request) (llm.Draft, error) {
	for {
		body, err := json.Marshal(c.chat(r))
		if err != nil {
			return llm.Draft{}, fmt.Errorf("ask the model: %w", err)
		}
		reply, failed := c.ask(ctx, body)
		if failed != nil && c.adapt(failed.param) {
			continue
		}
		if failed != nil {
			return llm.Draft{}, failed.err
		}
		return draft(reply)
	}
}

// chat is the body of a request. MaxTokens is the only name of the bound that every
// compatible server knows.
type chat struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Temperature         *float64  `json:"temperature,omitempty"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
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
