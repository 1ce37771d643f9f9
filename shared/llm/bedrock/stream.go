package bedrock

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"docent/shared/llm"
)

// message is a reply that arrives in pieces of its blocks.
type message struct {
	parts []llm.Part
	of    int32 // the block of the last part
	open  bool  // whether that block may continue
	size  int   // bytes of text
	stop  types.StopReason
	usage *types.TokenUsage
}

// streamed reads a reply to its end, and calls partial with the draft so far each time that it has grown. The draft of
// a model that cites grows by whole blocks, because the citations of a block follow its text.
func streamed(ctx context.Context, stream *bedrockruntime.ConverseStreamEventStream, cites bool, partial func(llm.Draft)) (llm.Draft, error) {
	defer stream.Close()
	var m message
	for event := range stream.Events() {
		grown, err := m.take(event, cites)
		if err != nil {
			return m.counted(), err
		}
		if grown {
			partial(llm.Draft{Parts: m.parts})
		}
	}
	if err := stream.Err(); err != nil || ctx.Err() != nil {
		return m.counted(), described(ctx, err)
	}
	if m.stop == "" {
		return m.counted(), fmt.Errorf("%w: it has no end", llm.ErrReply)
	}
	return drafted(m.parts, m.stop, m.usage)
}

// counted returns a draft with the tokens alone.
func (m *message) counted() llm.Draft {
	d, _ := drafted(nil, "", m.usage)
	return d
}

// take adds one event and reports whether the draft has grown.
func (m *message) take(event types.ConverseStreamOutput, cites bool) (grown bool, err error) {
	switch e := event.(type) {
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		return m.delta(e.Value, cites)
	case *types.ConverseStreamOutputMemberContentBlockStop:
		grown = cites && m.open && aws.ToInt32(e.Value.ContentBlockIndex) == m.of
		m.open = false
	case *types.ConverseStreamOutputMemberMessageStop:
		m.stop = e.Value.StopReason
	case *types.ConverseStreamOutputMemberMetadata:
		m.usage = e.Value.Usage
	}
	return grown, nil
}

func (m *message) delta(e types.ContentBlockDeltaEvent, cites bool) (grown bool, err error) {
	switch d := e.Delta.(type) {
	case *types.ContentBlockDeltaMemberText:
		if m.size += len(d.Value); m.size > llm.MaxReply {
			return false, fmt.Errorf("%w: it is too long", llm.ErrReply)
		}
		m.part(e.ContentBlockIndex).Text += d.Value
		return !cites && d.Value != "", nil
	case *types.ContentBlockDeltaMemberCitation:
		p := m.part(e.ContentBlockIndex)
		p.Cites = append(p.Cites, number(d.Value.Source, d.Value.Location))
		for _, s := range d.Value.SourceContent {
			if s.Text != nil {
				if m.size += len(*s.Text); m.size > llm.MaxReply {
					return false, fmt.Errorf("%w: it is too long", llm.ErrReply)
				}
				p.Quotes = append(p.Quotes, *s.Text)
			}
		}
	}
	return false, nil
}

// part returns the part of a block, which is the last one.
func (m *message) part(index *int32) *llm.Part {
	if of := aws.ToInt32(index); !m.open || of != m.of {
		m.parts, m.of, m.open = append(m.parts, llm.Part{}), of, true
	}
	return &m.parts[len(m.parts)-1]
}
