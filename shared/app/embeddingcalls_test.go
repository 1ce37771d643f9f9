package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/httpapi"
)

// failingEmbedder fails with the errors in their order; nil: it embeds.
type failingEmbedder struct {
	embed.Engine
	errs *[]error
}

func (e failingEmbedder) Embed(ctx context.Context, texts []string, purpose embed.Purpose) ([]embed.Vector, error) {
	err := (*e.errs)[0]
	if *e.errs = (*e.errs)[1:]; err != nil {
		return nil, err
	}
	return e.Engine.Embed(ctx, texts, purpose)
}

// TestFailuresOfAnEmbeddingModelAreMeasured checks the metric of each line of a function, for its calls since the line before. One
// metric for all functions is enough, and an installation with the model in the process has none.
func TestFailuresOfAnEmbeddingModelAreMeasured(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for name, c := range map[string]struct {
		provider string
		calls    []error
		want     any // of the metric; nil: it is not written
	}{
		"all fail":              {EmbeddingOfBedrock, []error{away, embed.ErrModel}, 1.0},
		"one of two fails":      {EmbeddingOfOpenAI, []error{away, nil}, 0.5},
		"too slow":              {EmbeddingOfOpenAI, []error{context.DeadlineExceeded}, 1.0},
		"none fails":            {EmbeddingOfBedrock, []error{nil}, 0.0},
		"none was made":         {EmbeddingOfBedrock, nil, nil},
		"texts that none takes": {EmbeddingOfBedrock, []error{embed.ErrInvalid}, nil},
		"a client left":         {EmbeddingOfBedrock, []error{context.Canceled}, nil},
		"in the process":        {EmbeddingLocal, []error{away}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := c.calls
			f := joinOnAWS(Config{Service: "docent-test", Embedding: Embedding{Provider: c.provider}},
				Parts{Embedder: failingEmbedder{embedtest.New(embed.Model{Name: "words", Size: 64}), &calls}}, slog.New(slog.DiscardHandler))
			lines := map[string]func() []slog.Attr{
				"batch":   func() []slog.Attr { return f.delivered("embedding", time.Now(), nil, 0) },
				"search":  func() []slog.Attr { return f.served("context")(httpapi.Served{Route: "POST /context/search"}) },
				"answers": func() []slog.Attr { return f.served("answers")(httpapi.Served{}) },
			}
			for of, line := range lines {
				calls = c.calls
				for range c.calls {
					_, _ = f.index.Embedder.Embed(t.Context(), []string{"text"}, embed.Passage) // as planned
				}
				for _, want := range []any{c.want, nil} { // the second line has no calls
					values, dimensions := measuredBy(t, line())
					if got := values["EmbeddingFailures"]; got != want {
						t.Errorf("%s: %v, want %v", of, got, want)
					}
					if want != nil && (len(dimensions) != 1 || dimensions[0] != "service") {
						t.Errorf("%s: dimensions %q", of, dimensions)
					}
					if values["service"] != "docent-test" {
						t.Errorf("%s: of the service %v", of, values["service"])
					}
				}
			}
		})
	}
}

// measuredBy returns the members of a log line and the dimensions of its metrics.
func measuredBy(t *testing.T, attributes []slog.Attr) (members map[string]any, dimensions []string) {
	t.Helper()
	var text bytes.Buffer
	slog.New(slog.NewJSONHandler(&text, nil)).LogAttrs(t.Context(), slog.LevelInfo, "line", attributes...)
	var metrics struct {
		AWS struct {
			CloudWatchMetrics []struct{ Dimensions [][]string }
		} `json:"_aws"`
	}
	if err := errors.Join(json.Unmarshal(text.Bytes(), &members), json.Unmarshal(text.Bytes(), &metrics)); err != nil {
		t.Fatal(err)
	}
	for _, m := range metrics.AWS.CloudWatchMetrics {
		dimensions = append(dimensions, m.Dimensions[0]...)
	}
	return members, dimensions
}
