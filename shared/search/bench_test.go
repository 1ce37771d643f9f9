package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/search"
)

// zipfText draws words as language does: few very often, most rarely.
type zipfText struct {
	zipf   *rand.Zipf
	random *rand.Rand
}

func newZipfText() *zipfText {
	random := rand.New(rand.NewPCG(3, 4))
	return &zipfText{rand.NewZipf(random, 1.1, 20, 200_000), random}
}

func (z *zipfText) words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		w := z.zipf.Uint64()
		fmt.Fprintf(&b, "%c%c%c%d", 'b'+w%20, 'a'+w/20%20, 'c'+w/400%20, w/8000)
	}
	return b.String()
}

func (z *zipfText) docs(n, words int) []search.Document {
	docs := make([]search.Document, n)
	for i := range docs {
		docs[i] = doc("wiki", fmt.Sprint("title", i), z.words(words), 1)
	}
	return docs
}

func BenchmarkBuild(b *testing.B) {
	docs := newZipfText().docs(3000, 180)
	for b.Loop() {
		if _, err := search.BuildSegment(search.Documentation, docs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(3000*b.N)/b.Elapsed().Seconds(), "passages/s")
}

// BenchmarkBuildDifferentWords builds the segment of a document of the largest size in which no word
// occurs twice.
func BenchmarkBuildDifferentWords(b *testing.B) {
	var body strings.Builder
	for n := uint64(0); body.Len() < 10_000_000; n++ {
		body.WriteString(strconv.FormatUint(n*0x9e3779b97f4a7c15>>32, 36))
		body.WriteByte(' ')
	}
	docs := []search.Document{doc("wiki", "title", body.String(), 1)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := search.BuildSegment(search.Documentation, docs); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRank150k(b *testing.B) {
	text := newZipfText()
	data, err := search.BuildSegment(search.Documentation, text.docs(150_000, 120))
	if err != nil {
		b.Fatal(err)
	}
	opened := time.Now()
	rank, err := search.Ranker(data)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(opened).Microseconds()), "open-µs")
	b.ReportMetric(float64(len(data))/150_000, "B/passage")
	questions := make([]string, 500)
	for i := range questions {
		questions[i] = text.words(3 + i%5)
	}
	var took []time.Duration
	i := 0
	for b.Loop() {
		start := time.Now()
		if err := rank(questions[i%len(questions)]); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
