// Package embedtest has the contract suite of embed.Engine, which every engine passes, and an engine for the tests of
// what uses one.
package embedtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"docent/shared/embed"
)

// near is the cosine from which two vectors count as equal: services round.
const near = 0.9999

// Run tests an engine, which all cases share.
func Run(t *testing.T, e embed.Engine) {
	cases := []struct {
		name string
		run  func(t *testing.T, e embed.Engine)
	}{
		{"a vector for each text, of the model's size and of length 1", vectors},
		{"texts about the same thing are nearer", nearness},
		{"the other texts of a call change nothing", batchMates},
		{"concurrent calls", concurrent},
		{"texts at the bounds", bounds},
		{"invalid texts", invalid},
		{"cancelled context", cancelled},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, e)
		})
	}
}

var samples = []string{
	"The cat sat on the mat.",
	"A cat is on the mat.",
	"Quarterly revenue grew by nine percent.",
	"東京は日本の首都です。",
	"!?",
	"Ein Hund läuft über die Straße.",
	"👍🏽",
	strings.Repeat("A long text about storage engines. ", 100),
}

func embedAll(t *testing.T, e embed.Engine, purpose embed.Purpose, texts ...string) []embed.Vector {
	t.Helper()
	got, err := e.Embed(t.Context(), texts, purpose)
	if err != nil {
		t.Fatalf("Embed(%.80q): %v", texts, err)
	}
	if len(got) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(got), len(texts))
	}
	for i, text := range texts {
		v := got[i]
		if len(v) != e.Model().Size {
			t.Fatalf("%.40q: %d numbers, want %d", text, len(v), e.Model().Size)
		}
		if length := embed.Cosine(v, v); !(math.Abs(length-1) < 1e-4) {
			t.Fatalf("%.40q: length squared %v, want 1", text, length)
		}
	}
	return got
}

func vectors(t *testing.T, e embed.Engine) {
	if m := e.Model(); m.Name == "" || m.Size < 1 {
		t.Fatalf("model %+v", m)
	}
	for _, purpose := range []embed.Purpose{embed.Passage, embed.Question} {
		embedAll(t, e, purpose, samples...)
		embedAll(t, e, purpose, samples[0])
	}
}

func nearness(t *testing.T, e embed.Engine) {
	passages := embedAll(t, e, embed.Passage, samples...)
	question := embedAll(t, e, embed.Question, "Where is the cat? On the mat?")[0]
	if same, other := embed.Cosine(passages[0], passages[1]), embed.Cosine(passages[0], passages[2]); same <= other {
		t.Errorf("cosine %.3f of two texts about a cat, %.3f of one and a text about revenue", same, other)
	}
	if right, wrong := embed.Cosine(question, passages[0]), embed.Cosine(question, passages[2]); right <= wrong {
		t.Errorf("cosine %.3f of a question and its passage, %.3f of another", right, wrong)
	}
}

func batchMates(t *testing.T, e embed.Engine) {
	together := embedAll(t, e, embed.Passage, samples...)
	for i, text := range samples {
		alone := embedAll(t, e, embed.Passage, text)[0]
		if c := embed.Cosine(alone, together[i]); c < near {
			t.Errorf("%.40q: cosine %v of its vectors alone and in a batch", text, c)
		}
	}
}

func concurrent(t *testing.T, e embed.Engine) {
	want := embedAll(t, e, embed.Passage, samples...)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			got, err := e.Embed(t.Context(), samples, embed.Passage)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range got {
				if c := embed.Cosine(got[i], want[i]); c < near {
					t.Errorf("%.40q: cosine %v of its vectors of two calls", samples[i], c)
				}
				clear(got[i]) // a vector is the caller's
			}
		})
	}
	wait.Wait()
}

func bounds(t *testing.T, e embed.Engine) {
	embedAll(t, e, embed.Passage, slices.Repeat([]string{"a"}, embed.MaxTexts)...)
	embedAll(t, e, embed.Passage, strings.Repeat("word ", embed.MaxBytes/5))
	embedAll(t, e, embed.Passage, strings.Repeat("w", embed.MaxBytes))
	embedAll(t, e, embed.Passage, "\x00", "\ufffd", "a\u0000b")
}

func invalid(t *testing.T, e embed.Engine) {
	for _, texts := range [][]string{
		nil, slices.Repeat([]string{"a"}, embed.MaxTexts+1), {"a", ""}, {"\t \n"}, {"a\xff"}, {strings.Repeat("a", embed.MaxBytes+1)},
	} {
		if got, err := e.Embed(t.Context(), texts, embed.Passage); got != nil || !errors.Is(err, embed.ErrInvalid) {
			t.Errorf("Embed(%.40q): %d vectors, error %v, want %v", texts, len(got), err, embed.ErrInvalid)
		}
	}
}

func cancelled(t *testing.T, e embed.Engine) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, samples, embed.Passage); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
