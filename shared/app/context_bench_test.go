package app

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/source"
)

const (
	// benchItems is the number of items that BenchmarkContext searches, in five spaces, if
	// DOCENT_BENCH_ITEMS is not set.
	benchItems = 10_000
	// benchCall is the duration of a call while sequential calls are counted: longer than any
	// computation between them.
	benchCall = 500 * time.Millisecond
)

// BenchmarkContext measures the context operations over imported items of five spaces: p50 and
// p99 through the real handler, and the engine calls of an operation whose segments are in
// memory. No query is repeated.
func BenchmarkContext(b *testing.B) {
	items := benchItems
	if text := os.Getenv("DOCENT_BENCH_ITEMS"); text != "" {
		var err error
		if items, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	p := &pace{}
	c := newCosts(b, 0, p, paced)
	words := newItemWords()
	c.importItems(items, words)
	query := func() map[string]any { return map[string]any{"query": words.query()} }
	for _, operation := range []struct {
		name, path string
		body       func() map[string]any
	}{
		{"search, all spaces", "/context/search", query},
		{"search, code", "/context/search/code", query},
		{"search, documentation", "/context/search/documentation", query},
		{"search, issues", "/context/search/issues", query},
		{"search, messages", "/context/search/messages", query},
		{"search, prs", "/context/search/prs", query},
		{"query issues, text", "/context/query/issues", func() map[string]any { return map[string]any{"query": "open issues about " + words.query()} }},
		{"query issues, filters", "/context/query/issues", func() map[string]any { return map[string]any{"query": "open issues", "limit": 20} }},
		{"query prs, text", "/context/query/prs", func() map[string]any { return map[string]any{"query": "merged PRs about " + words.query()} }},
		{"research, low", "/context/research", query},
		{"research, medium", "/context/research", func() map[string]any { return map[string]any{"query": words.query(), "effort": "medium"} }},
		{"research, high", "/context/research", func() map[string]any { return map[string]any{"query": words.query(), "effort": "high"} }},
		{"get, 1 URL", "/context/get", func() map[string]any { return map[string]any{"urls": []string{itemURI(words.random.IntN(items))}} }},
	} {
		b.Run(operation.name, func(b *testing.B) {
			ask := func() { c.do(c.teamKey, "POST", operation.path, operation.body(), http.StatusOK) }
			ask()
			p.takes = benchCall
			got := p.measure(ask)
			p.takes = 0
			var took []time.Duration
			for b.Loop() {
				body := operation.body()
				start := time.Now()
				c.do(c.teamKey, "POST", operation.path, body, http.StatusOK)
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			milliseconds := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
			b.ReportMetric(milliseconds(took[len(took)/2]), "p50-ms")
			b.ReportMetric(milliseconds(took[len(took)*99/100]), "p99-ms")
			b.ReportMetric(float64(got.RoundTrips), "trips")
			b.ReportMetric(got.ReadUnits, "read-units")
		})
	}
	b.Run("first event of a stream", func(b *testing.B) { benchFirstEvent(b, c, words) })
}

// firstEvent is a reply that notes when the first event arrived that says what was found.
type firstEvent struct {
	*httptest.ResponseRecorder
	begun time.Time
	took  time.Duration
}

func (w *firstEvent) Write(text []byte) (int, error) {
	if w.took == 0 && strings.HasPrefix(string(text), "event: sources\n") {
		w.took = time.Since(w.begun)
	}
	return w.ResponseRecorder.Write(text)
}

// benchFirstEvent measures the time from a request for a stream to the event that says what was
// found.
func benchFirstEvent(b *testing.B, c *costs, words *itemWords) {
	var took []time.Duration
	for b.Loop() {
		body, err := json.Marshal(map[string]any{"query": words.query()})
		if err != nil {
			b.Fatal(err)
		}
		r := httptest.NewRequestWithContext(b.Context(), "POST", "/v1/context/research", strings.NewReader(string(body)))
		r.Header.Set("Authorization", "Bearer "+c.teamKey)
		r.Header.Set("Accept", "text/event-stream")
		w := &firstEvent{ResponseRecorder: httptest.NewRecorder(), begun: time.Now()}
		c.handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.took == 0 {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
		took = append(took, w.took)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/float64(time.Millisecond), "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100])/float64(time.Millisecond), "p99-ms")
}

func itemURI(n int) string { return fmt.Sprint("https://tracker.test/", n) }

// importItems connects a data source and imports that many items, indexed as they come.
func (c *costs) importItems(items int, words *itemWords) {
	c.t.Helper()
	var made struct{ ID string }
	if err := json.Unmarshal(c.do(c.personalKey, "POST", "/data-sources", map[string]string{"provider": "jira", "name": "tracker"}, 201), &made); err != nil {
		c.t.Fatal(err)
	}
	for from := 0; from < items; from += source.MaxLines {
		var lines strings.Builder
		count := min(source.MaxLines, items-from)
		for n := from; n < from+count; n++ {
			line, err := json.Marshal(words.item(n))
			if err != nil {
				c.t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
		r := httptest.NewRequestWithContext(c.t.Context(), "POST", "/v1/data-sources/"+made.ID+"/items", strings.NewReader(lines.String()))
		r.Header.Set("Authorization", "Bearer "+c.personalKey)
		r.Header.Set("Content-Type", "application/x-ndjson")
		w := httptest.NewRecorder()
		c.handler.ServeHTTP(w, r)
		var done source.ImportResult
		if err := json.Unmarshal(w.Body.Bytes(), &done); err != nil || w.Code != http.StatusOK || done.Accepted != count {
			c.t.Fatalf("%d %s %v", w.Code, w.Body, err)
		}
		c.work()
	}
}

// itemWords makes items and queries of words as unevenly used as those of prose.
type itemWords struct {
	random *rand.Rand
	zipf   *rand.Zipf
}

func newItemWords() *itemWords {
	random := rand.New(rand.NewPCG(11, 12))
	return &itemWords{random, rand.NewZipf(random, 1.1, 8, 50_000)}
}

// word is the n-th most used of the words.
func word(n uint64) string {
	const consonants, vowels = "bdfgklmnprst", "aeiou"
	var text strings.Builder
	for n += 60; n > 0; n /= 60 {
		text.WriteByte(consonants[n%60/5])
		text.WriteByte(vowels[n%5])
	}
	return text.String()
}

func (w *itemWords) text(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = word(w.zipf.Uint64())
	}
	return strings.Join(words, " ")
}

// query is three words, of which the rarest is in one to eight of a thousand items.
func (w *itemWords) query() string {
	return "Why does " + word(w.random.Uint64N(100)) + " " + word(100+w.random.Uint64N(900)) + " " + word(1000+w.random.Uint64N(4000)) + "?"
}

// item is an item of each space in turn, of eighty words.
func (w *itemWords) item(n int) map[string]any {
	item := map[string]any{"uri": itemURI(n), "title": w.text(6), "body": w.text(40) + ".\n\n" + w.text(34) + ".", "author": word(w.random.Uint64N(50)),
		"createdAt": time.Unix(1_700_000_000+int64(n)*60, 0).UTC()}
	switch n % 5 {
	case 0:
		item["sourceType"], item["state"], item["number"] = "issue", []string{"open", "closed"}[w.random.IntN(2)], strconv.Itoa(n)
	case 1:
		item["sourceType"], item["state"], item["number"] = "pull_request", []string{"open", "merged"}[w.random.IntN(2)], strconv.Itoa(n)
	default:
		item["sourceType"] = []string{"code", "documentation", "message"}[n%5-2]
	}
	return item
}
