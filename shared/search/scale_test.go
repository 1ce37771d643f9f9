package search_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/blob"
	"docent/shared/blob/dir"
	"docent/shared/search"
	"docent/shared/search/text"
	"docent/shared/table/bolt/bolttest"
)

// counting counts the reads of a blob store.
type counting struct {
	blob.Store
	bytes, requests atomic.Int64
}

func (c *counting) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := c.Store.Get(ctx, name)
	c.bytes.Add(int64(len(data)))
	c.requests.Add(1)
	return data, err
}

func (c *counting) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	data, err := c.Store.GetRange(ctx, name, offset, length)
	c.bytes.Add(int64(len(data)))
	c.requests.Add(1)
	return data, err
}

// percentiles returns the median and the 99th percentile of durations.
func percentiles(d []time.Duration) (p50, p99 float64) {
	slices.Sort(d)
	return float64(d[len(d)/2].Microseconds()) / 1000, float64(d[len(d)*99/100].Microseconds()) / 1000
}

// BenchmarkScale builds collections of several sizes with Publish and Merge and searches them.
// Times are processor time of the whole process, in ms. Each size is one round.
func BenchmarkScale(b *testing.B) {
	for _, passages := range []int{10_000, 100_000, 150_000, 1_000_000} {
		b.Run(fmt.Sprint(passages), func(b *testing.B) { benchmarkScale(b, passages) })
	}
}

func benchmarkScale(b *testing.B, passages int) {
	g := &generated{read: map[search.Ref]search.Text{}}
	folder, err := dir.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	blobs := &counting{Store: folder}
	index := func(cache int64) *search.Index {
		return &search.Index{Blobs: blobs, Corpus: g, Now: time.Now, CacheBytes: cache,
			NewID:   func() string { return uuid.Must(uuid.NewV7()).String() },
			OnFault: func(_ context.Context, err error) { b.Errorf("left out: %v", err) }}
	}
	x := index(256 << 20)
	x.Table = bolttest.OpenAt(b, time.Now)
	made, size, words := fill(b, x, g, passages)
	b.ReportMetric(float64(made)/words.Seconds(), "passages/s")
	b.ReportMetric(float64(size)/float64(made), "B/passage")

	files := segmentFiles(b, folder)
	started := cpuTime()
	whole, err := search.OpenFiles(files...)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64((cpuTime()-started).Microseconds())/1000, "open-whole-ms")
	started = cpuTime()
	for f, err := range folder.List(b.Context(), "") {
		if err != nil {
			b.Fatal(err)
		}
		if _, err := search.OpenRanged(b.Context(), folder, f.Name, f.Size, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime()-started).Microseconds())/1000, "open-ranged-ms")
	b.ReportMetric(float64(len(files)), "segments")

	const questions = 1000
	var took []time.Duration
	read, of := 0, 0
	for i := range questions {
		started := cpuTime()
		_, some, all, err := whole.Best(b.Context(), g.question(i), 100)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, cpuTime()-started)
		read, of = read+some, of+all
	}
	p50, p99 := percentiles(took)
	b.ReportMetric(p50, "rank-p50-ms")
	b.ReportMetric(p99, "rank-p99-ms")
	b.ReportMetric(float64(read)/questions, "postings/query")
	b.ReportMetric(float64(read)/float64(of)*100, "%postings-read")

	warmScale(b, func() *search.Index {
		warm := index(256 << 20)
		warm.Table = x.Table
		return warm
	}, g)
	coldScale(b, blobs, func() *search.Index {
		cold := index(64 << 20)
		cold.Table = x.Table
		return cold
	}, g)
	b.ReportMetric(0, "ns/op") // a round takes longer than -benchtime, so there is one
}

// fill publishes documents until there are this many passages, and merges. It returns the number
// of passages, the bytes of all segments and the processor time of building and merging.
func fill(b *testing.B, x *search.Index, g *generated, passages int) (made, size int, took time.Duration) {
	batch := min(passages, max(passages/10, 10_000))
	if passages == 1_000_000 {
		batch = 10_000
	}
	for made < passages {
		var docs []search.Document
		for n := 0; n < min(batch, passages-made); {
			d := g.document(g.n)
			d.Chunks = text.Cut(d.Body)
			for _, c := range d.Chunks {
				n += len(c.Passages)
			}
			docs = append(docs, d)
			g.n++
		}
		for _, d := range docs {
			for _, c := range d.Chunks {
				made += len(c.Passages)
			}
		}
		started := cpuTime()
		if err := x.Publish(b.Context(), team, docs, nil); err != nil {
			b.Fatal(err)
		}
		took += cpuTime() - started
		started = cpuTime()
		if _, err := x.Merge(b.Context(), team); err != nil {
			b.Fatal(err)
		}
		took += cpuTime() - started
	}
	x.Now = func() time.Time { return time.Now().Add(2 * time.Hour) } // what was merged is due
	if _, err := x.Clean(b.Context()); err != nil {
		b.Fatal(err)
	}
	for f, err := range x.Blobs.List(b.Context(), "") {
		if err != nil {
			b.Fatal(err)
		}
		size += int(f.Size)
	}
	return made, size, took
}

func segmentFiles(b *testing.B, blobs blob.Store) (files [][]byte) {
	for f, err := range blobs.List(b.Context(), "") {
		if err != nil {
			b.Fatal(err)
		}
		data, err := blobs.Get(b.Context(), f.Name)
		if err != nil {
			b.Fatal(err)
		}
		files = append(files, data)
	}
	return files
}

// warmScale reports whole searches, with proximity, whose data is in memory, and the size of that
// memory.
func warmScale(b *testing.B, open func() *search.Index, g *generated) {
	const questions = 300
	ask := func(x *search.Index) (took []time.Duration) {
		for i := range questions {
			started := cpuTime()
			if _, err := x.Search(b.Context(), team, search.Query{Reader: access.Everything(), Text: g.question(i)}); err != nil {
				b.Fatal(err)
			}
			took = append(took, cpuTime()-started)
		}
		return took
	}
	ask(open()) // so that the texts are made up
	before := heap()
	x := open()
	ask(x)
	b.ReportMetric(float64(heap()-before)/(1<<20), "resident-MiB")
	p50, p99 := percentiles(ask(x))
	b.ReportMetric(p50, "search-p50-ms")
	b.ReportMetric(p99, "search-p99-ms")
	runtime.KeepAlive(x)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// coldScale reports what a search reads from blobs if nothing is in memory.
func coldScale(b *testing.B, blobs *counting, open func() *search.Index, g *generated) {
	const questions = 40
	var all, most, requests int64
	for i := range questions {
		blobs.bytes.Store(0)
		blobs.requests.Store(0)
		if _, err := open().Search(b.Context(), team, search.Query{Reader: access.Everything(), Text: g.question(i)}); err != nil {
			b.Fatal(err)
		}
		all += blobs.bytes.Load()
		requests += blobs.requests.Load()
		most = max(most, blobs.bytes.Load())
	}
	b.ReportMetric(float64(all)/questions/(1<<20), "cold-MiB")
	b.ReportMetric(float64(most)/(1<<20), "cold-most-MiB")
	b.ReportMetric(float64(requests)/questions, "cold-requests")
}
