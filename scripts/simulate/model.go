package simulate

import (
	"context"
	"time"

	"docent/shared/llm"
)

// modelLatency is how long a language model writes an answer of some hundred tokens; providers publish tokens a second,
// from about 50 to 150.
var modelLatency = Latency{4 * time.Second, 10 * time.Second}

// Model is a language model that takes its time and cites the first passage.
type Model struct{ Chance *Chance }

// Compose implements llm.Composer.
func (m Model) Compose(ctx context.Context, r llm.Request) (llm.Draft, error) {
	if err := m.Chance.take(ctx, modelLatency); err != nil {
		return llm.Draft{}, err
	}
	if r.Task != llm.WriteAnswer || len(r.Passages) == 0 {
		return llm.Draft{}, nil
	}
	return llm.Draft{Parts: []llm.Part{{Text: r.Passages[0] + " [1]", Cites: []int{1}}}, InputTokens: 1000, OutputTokens: 300}, nil
}
