package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"docent/shared/llm"
)

// chunk is the part of one event of a stream that is read.
type chunk struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Delta        struct {
			Content   string            `json:"content"`
			Refusal   string            `json:"refusal"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// streamed is a reply that arrives in events.
type streamed struct {
	text          strings.Builder
	finish        string // the reason; empty: not finished
	input, output int    // tokens
}

// take adds one event, and gives partial the text so far if it has grown.
func (s *streamed) take(data []byte, partial func(llm.Draft)) error {
	if string(data) == "[DONE]" {
		return nil
	}
	var c chunk
	if json.Unmarshal(data, &c) != nil || len(c.Error) > 0 && string(c.Error) != "null" {
		return llm.ErrReply
	}
	if c.Usage != nil {
		s.input, s.output = c.Usage.PromptTokens, c.Usage.CompletionTokens
	}
	if len(c.Choices) == 0 {
		return nil
	}
	choice := c.Choices[0]
	if choice.FinishReason != "" {
		s.finish = choice.FinishReason
	}
	switch delta := choice.Delta; {
	case s.finish == "content_filter" || delta.Refusal != "":
		return llm.ErrRefused
	case len(delta.ToolCalls) > 0:
		return fmt.Errorf("%w: it calls a tool, and none was given", llm.ErrReply)
	case delta.Content != "":
		s.text.WriteString(delta.Content)
		partial(llm.Draft{Parts: []llm.Part{{Text: s.text.String()}}})
	}
	return nil
}

// draft returns the whole reply. It returns llm.ErrReply for a stream that ended too early.
func (s *streamed) draft() (llm.Draft, error) {
	if s.finish == "" {
		return s.tokens(llm.Draft{}), fmt.Errorf("%w: it has no end", llm.ErrReply)
	}
	d := llm.TextDraft(s.text.String())
	d.Cut = s.finish == "length"
	return s.tokens(d), nil
}

func (s *streamed) tokens(d llm.Draft) llm.Draft {
	d.InputTokens, d.OutputTokens = s.input, s.output
	return d
}
