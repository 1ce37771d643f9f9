// Package openai has drafts written by any server that speaks OpenAI's Chat
// Completions.
package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"docent/shared/llm"
)

// Client is an llm.Composer on one server and one model.
type Client struct {
	model string
	chat  openai.ChatCompletionService

	// What the server has refused before. Models that think before they write take
	// neither a temperature nor the older name of the bound.
	noTemperature, newBound atomic.Bool
}

var _ llm.Composer = (*Client)(nil)

// Options changes a Client. The zero value is for the default transport and no key.
type Options struct {
	Key       string            // sent as a bearer token; empty: none
	Transport http.RoundTripper // nil: http.DefaultTransport
}

// New returns a client of the server at baseURL, whose Chat Completions are at
// baseURL/chat/completions. It reads nothing from the environment. Requests go to
// that scheme and host alone: a redirect is an error.
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
	client := &http.Client{Transport: confined{base, o.Transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	options := []option.RequestOption{option.WithBaseURL(baseURL), option.WithHTTPClient(client), option.WithMaxRetries(2)}
	if o.Key != "" {
		options = append(options, option.WithAPIKey(o.Key))
	}
	return &Client{model: model, chat: openai.NewChatCompletionService(options...)}, nil
}

// confined lets requests through to one server, and of its replies llm.MaxReply
// bytes. A redirect is made an error here, so that it is not asked for again.
type confined struct {
	base *url.URL
	next http.RoundTripper
}

func (c confined) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != c.base.Scheme || r.URL.Host != c.base.Host {
		return nil, errors.New("a request to another server")
	}
	reply, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode >= 300 && reply.StatusCode < 400 {
		reply.StatusCode = http.StatusBadRequest
	}
	reply.Body = &bounded{reply.Body, llm.MaxReply}
	return reply, nil
}

// bounded fails when more is read than is left.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errors.New("the reply is too long")
	}
	return n, err
}

// Compose implements llm.Composer.
func (c *Client) Compose(ctx context.Context, r llm.Request) (llm.Draft, error) {
	for {
		completion, err := c.chat.New(ctx, c.params(r))
		var refused *openai.Error
		if errors.As(err, &refused) && refused.StatusCode == http.StatusBadRequest && c.adapt(refused.Param) {
			continue
		}
		if err != nil {
			return llm.Draft{}, described(ctx, err)
		}
		return draft(completion)
	}
}

func (c *Client) params(r llm.Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: c.model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(r.System()), openai.UserMessage(llm.Prompt(r))}}
	if !c.noTemperature.Load() {
		p.Temperature = openai.Float(0)
	}
	if c.newBound.Load() {
		p.MaxCompletionTokens = openai.Int(llm.MaxOutputTokens)
	} else {
		p.MaxTokens = openai.Int(llm.MaxOutputTokens) // the one name that every compatible server knows
	}
	return p
}

// adapt leaves out what the server refuses. It tells whether it is worth to ask
// again, which it is once for each parameter.
func (c *Client) adapt(param string) bool {
	switch param {
	case "temperature":
		return c.noTemperature.CompareAndSwap(false, true)
	case "max_tokens":
		return c.newBound.CompareAndSwap(false, true)
	}
	return false
}

func draft(completion *openai.ChatCompletion) (llm.Draft, error) {
	d := llm.Draft{}
	var err error
	if len(completion.Choices) == 0 {
		err = fmt.Errorf("%w: it holds no choice", llm.ErrReply)
	} else {
		switch choice := completion.Choices[0]; {
		case choice.FinishReason == "content_filter" || choice.Message.Refusal != "":
			err = llm.ErrRefused
		case len(choice.Message.ToolCalls) > 0:
			err = fmt.Errorf("%w: it calls a tool, and none was given", llm.ErrReply)
		default:
			d = llm.TextDraft(choice.Message.Content)
			d.Cut = choice.FinishReason == "length"
		}
	}
	d.InputTokens, d.OutputTokens = int(completion.Usage.PromptTokens), int(completion.Usage.CompletionTokens)
	return d, err
}

// described is err without anything that a server or a document said.
func described(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("ask the model: %w", ctx.Err())
	}
	var status *openai.Error
	var connection *url.Error
	switch {
	case errors.As(err, &status) && status.StatusCode == http.StatusTooManyRequests:
		return llm.ErrThrottled
	case errors.As(err, &status):
		return fmt.Errorf("ask the model: status %d", status.StatusCode)
	case errors.As(err, &connection):
		return fmt.Errorf("ask the model: %w", connection.Err)
	}
	return llm.ErrReply
}
