package local

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/embed"
	"docent/shared/embed/local/internal/kernel"
	"docent/testkit/weights"
)

// common are words of one token each.
var common = strings.Fields(`the server starts after it has read its settings from a file in which each line names one value and when that
file is missing or empty every value has a default so that a new user can begin at once without any work of this kind`)

// passage returns a text of that many words, and as many tokens.
func passage(r *rand.Rand, words int) string {
	text := make([]string, words)
	for i := range text {
		text[i] = common[r.IntN(len(common))]
	}
	return strings.Join(text, " ")
}

// eachEngine runs a benchmark with each kind of kernels.
func eachEngine(b *testing.B, run func(b *testing.B, e *Engine)) {
	folder := weights.Folder(b)
	for _, kernels := range kernel.Sets() {
		b.Run(kernels.Name(), func(b *testing.B) {
			e := newEngine(folder, MiniLM, kernels)
			if err := e.Load(); err != nil {
				b.Fatal(err)
			}
			run(b, e)
		})
	}
}

func embedOne(b *testing.B, e *Engine, text string, purpose embed.Purpose) {
	if _, err := e.Embed(context.Background(), []string{text}, purpose); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPassage embeds passages of 140 to 256 tokens, 198 in the mean, one after the other.
func BenchmarkPassage(b *testing.B) {
	eachEngine(b, func(b *testing.B, e *Engine) {
		r := rand.New(rand.NewPCG(1, 2))
		began := processorTime()
		for b.Loop() {
			embedOne(b, e, passage(r, 138+r.IntN(117)), embed.Passage)
		}
		b.ReportMetric(float64(b.N)/(processorTime()-began).Seconds(), "passages/CPU-s")
	})
}

// BenchmarkQuestion embeds questions of 6 to 16 words.
func BenchmarkQuestion(b *testing.B) {
	eachEngine(b, func(b *testing.B, e *Engine) {
		r := rand.New(rand.NewPCG(3, 4))
		var times []time.Duration
		for b.Loop() {
			text := passage(r, 6+r.IntN(11))
			began := time.Now()
			embedOne(b, e, text, embed.Question)
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2].Seconds()*1000, "p50-ms")
		b.ReportMetric(times[len(times)*99/100].Seconds()*1000, "p99-ms")
	})
}

// BenchmarkLoad reads the model and embeds a first question.
func BenchmarkLoad(b *testing.B) {
	folder := weights.Folder(b)
	for _, kernels := range kernel.Sets() {
		b.Run(kernels.Name(), func(b *testing.B) {
			for b.Loop() {
				embedOne(b, newEngine(folder, MiniLM, kernels), "Where is it?", embed.Question)
			}
		})
	}
}
