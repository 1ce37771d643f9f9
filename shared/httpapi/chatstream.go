package httpapi

import "context"

// chunk is one event of a completion.
type chunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int64         `json:"created"`
	Model   string        `json:"model"`
	Choices []chunkChoice `json:"choices"`
	// Usage is absent from all chunks if the client does not ask for it. If it does, the last chunk has it,
	// and the others have null.
	Usage **completionUsage `json:"usage,omitempty"`
}

type chunkChoice struct {
	Index        int        `json:"index"`
	Delta        chunkDelta `json:"delta"`
	FinishReason *string    `json:"finish_reason"`
}

type chunkDelta struct {
	Role        string               `json:"role,omitempty"`
	Content     string               `json:"content,omitempty"`
	Annotations []completionCitation `json:"annotations,omitempty"`
}

// stream replies with a completion in events, for which there is room.
func (h *chats) stream(ctx context.Context, q accepted, withUsage bool) {
	events := openEvents(ctx)
	next := chunk{ID: q.ID, Object: "chat.completion.chunk", Created: h.created(), Model: chatModel}
	if withUsage {
		next.Usage = new(*completionUsage)
	}
	send := func(delta chunkDelta, finish *string) {
		next.Choices = []chunkChoice{{Delta: delta, FinishReason: finish}}
		events.send("", "", next)
	}
	send(chunkDelta{Role: "assistant"}, nil)
	w, failed := h.tell(ctx, q, events, func(text string) { send(chunkDelta{Content: text}, nil) })
	if failed != nil {
		events.send("", "", map[string]any{"error": chatErrorOf(failed)})
		return
	}
	if len(w.citations) > 0 {
		send(chunkDelta{Annotations: completionCitations(w.citations)}, nil)
	}
	send(chunkDelta{}, &w.finish)
	if withUsage {
		used := usageOf(q.promptTokens, w.text)
		next.Choices, *next.Usage = []chunkChoice{}, &used
		events.send("", "", next)
	}
	events.write([]byte("data: [DONE]\n\n"))
}
