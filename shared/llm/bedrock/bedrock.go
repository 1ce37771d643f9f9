// Package bedrock writes drafts with the models of Amazon Bedrock, through its Converse and
// ConverseStream operations.
package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"

	"docent/shared/llm"
)

// citing are parts of the ids of models that take search results and cite them: Claude
// Opus 4.1 and 4, Sonnet 4.5, 4 and 3.7, Haiku 3.5.
var citing = []string{"anthropic.claude-opus-4-1-", "anthropic.claude-opus-4-2025", "anthropic.claude-sonnet-4-5-",
	"anthropic.claude-sonnet-4-2025", "anthropic.claude-3-7-sonnet-", "anthropic.claude-3-5-haiku-"}

// Client is an llm.Composer on one model.
type Client struct {
	runtime *bedrockruntime.Client
	model   string
	cites   bool
}

var _ llm.Composer = (*Client)(nil)

// New returns a client of a model by its id, or by the id or ARN of an inference
// profile. The runtime must stop retrying after three attempts.
func New(runtime *bedrockruntime.Client, model string) *Client {
	c := &Client{runtime: runtime, model: model}
	for _, part := range citing {
		c.cites = c.cites || strings.Contains(model, part)
	}
	return c
}

// Compose implements llm.Composer. A model that cites receives each passage as a search
// result, named by its number alone. Any other model receives text.
func (c *Client) Compose(ctx context.Context, r llm.Request) (llm.Draft, error) {
	var content []types.ContentBlock
	if c.cites {
		for i, p := range r.Passages {
			number := strconv.Itoa(i + 1)
			content = append(content, &types.ContentBlockMemberSearchResult{Value: types.SearchResultBlock{
				Source: &number, Title: aws.String("Document " + number),
				Content:   []types.SearchResultContentBlock{{Text: aws.String(strings.ToValidUTF8(p, "�"))}},
				Citations: &types.CitationsConfig{Enabled: aws.Bool(true)},
			}})
		}
		content = append(content, &types.ContentBlockMemberText{Value: llm.Ask(r)})
	} else {
		content = append(content, &types.ContentBlockMemberText{Value: llm.Prompt(r)})
	}
	system := []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: r.System()}}
	messages := []types.Message{{Role: types.ConversationRoleUser, Content: content}}
	inference := &types.InferenceConfiguration{MaxTokens: aws.Int32(llm.MaxOutputTokens), Temperature: aws.Float32(0)}
	if r.Partial != nil {
		out, err := c.runtime.ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{
			ModelId: &c.model, System: system, Messages: messages, InferenceConfig: inference})
		if err != nil {
			return llm.Draft{}, described(ctx, err)
		}
		return streamed(ctx, out.GetStream(), c.cites, r.Partial)
	}
	out, err := c.runtime.Converse(ctx, &bedrockruntime.ConverseInput{
		ModelId: &c.model, System: system, Messages: messages, InferenceConfig: inference})
	if err != nil {
		return llm.Draft{}, described(ctx, err)
	}
	return draft(out)
}

func draft(out *bedrockruntime.ConverseOutput) (llm.Draft, error) {
	var parts []llm.Part
	if message, ok := out.Output.(*types.ConverseOutputMemberMessage); ok {
		parts = partsOf(message.Value.Content)
	}
	return drafted(parts, out.StopReason, out.Usage)
}

// drafted returns the draft of a message that ended for the given reason.
func drafted(parts []llm.Part, stop types.StopReason, usage *types.TokenUsage) (llm.Draft, error) {
	var d llm.Draft
	if usage != nil {
		d.InputTokens, d.OutputTokens = int(aws.ToInt32(usage.InputTokens)), int(aws.ToInt32(usage.OutputTokens))
	}
	switch stop {
	case types.StopReasonGuardrailIntervened, types.StopReasonContentFiltered:
		return d, llm.ErrRefused
	case types.StopReasonToolUse:
		return d, fmt.Errorf("%w: it calls a tool, and none was given", llm.ErrReply)
	case types.StopReasonMaxTokens, types.StopReasonModelContextWindowExceeded:
		d.Cut = true
	}
	if len(parts) == 0 {
		return d, fmt.Errorf("%w: it holds no message", llm.ErrReply)
	}
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(p.Text)
	}
	if len(llm.TextDraft(all.String()).Parts) > 0 {
		d.Parts = parts
	}
	return d, nil
}

// partsOf returns the text and the cited content of a message, in order. Thoughts and calls of
// tools are no part of an answer.
func partsOf(blocks []types.ContentBlock) []llm.Part {
	var parts []llm.Part
	for _, b := range blocks {
		switch b := b.(type) {
		case *types.ContentBlockMemberText:
			parts = append(parts, llm.Part{Text: b.Value})
		case *types.ContentBlockMemberCitationsContent:
			parts = append(parts, cited(b.Value))
		}
	}
	return parts
}

func cited(b types.CitationsContentBlock) llm.Part {
	var p llm.Part
	for _, c := range b.Content {
		if text, ok := c.(*types.CitationGeneratedContentMemberText); ok {
			p.Text += text.Value
		}
	}
	for _, c := range b.Citations {
		p.Cites = append(p.Cites, number(c.Source, c.Location))
		for _, s := range c.SourceContent {
			if text, ok := s.(*types.CitationSourceContentMemberText); ok {
				p.Quotes = append(p.Quotes, text.Value)
			}
		}
	}
	return p
}

// number returns the passage that a citation names, or 0 if it is unknown. No passage has that
// number, so what cites it is dropped.
func number(source *string, location types.CitationLocation) int {
	if n, err := strconv.Atoi(aws.ToString(source)); err == nil {
		return n
	}
	if at, ok := location.(*types.CitationLocationMemberSearchResultLocation); ok && at.Value.SearchResultIndex != nil {
		return int(*at.Value.SearchResultIndex) + 1
	}
	return 0
}

// described returns err without anything that a server or a document said.
func described(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("ask the model: %w", ctx.Err())
	}
	var throttled *types.ThrottlingException
	var status *awshttp.ResponseError
	var ended smithy.APIError
	switch {
	case errors.As(err, &throttled), errors.As(err, &status) && status.HTTPStatusCode() == http.StatusTooManyRequests:
		return llm.ErrThrottled
	case errors.As(err, &status) && status.HTTPStatusCode() >= http.StatusBadRequest:
		return fmt.Errorf("ask the model: status %d", status.HTTPStatusCode())
	case errors.As(err, &status):
		return llm.ErrReply
	case errors.As(err, &ended):
		return errors.New("ask the model: the server ended its reply with an error")
	}
	return errors.New("ask the model: the server cannot be reached")
}
