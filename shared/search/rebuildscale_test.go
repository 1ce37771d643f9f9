package search_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/blob"
	"docent/shared/blob/dir"
	"docent/shared/document"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/search"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

// The durations in the installation of the proof, on the clock of a synctest bubble, which does
// not advance during computations.
const (
	proofCall       = 5 * time.Millisecond    // of every request to table, blobs and queue
	proofAnalysis   = 1500 * time.Microsecond // of a processor, for each document that is rebuilt
	proofTurn       = 118 * time.Second       // of a worker of rebuilds, before it is stopped
	proofWorkers    = 2                       // of rebuilds
	proofVisibility = 12 * time.Minute        // of a message that a killed worker took
	proofPutEvery   = 20 * time.Second
	proofFoundIn    = time.Minute
	proofCalls      = 0.1 // a document; 1.2 are allowed
	proofSource     = "5d1c1c5e-0000-4000-8000-000000000002"
)

// TestARebuildEndsWhileDocumentsAreIndexed rebuilds a source of an older analysis, whose workers are
// killed at random, while documents are put. With BENCH_FULL=1 the source has 200,000
// documents, which takes some minutes.
func TestARebuildEndsWhileDocumentsAreIndexed(t *testing.T) {
	t.Parallel()
	documents := 5000
	if os.Getenv("BENCH_FULL") == "1" {
		documents = 200_000
	}
	synctest.Test(t, func(t *testing.T) { newProof(t, documents).run() })
}

// installation counts and slows down the requests of some of its workers, or of one that
// may be killed.
type installation struct {
	table.Store
	blobs    blob.Store
	requests *atomic.Int64
	killed   *atomic.Bool // nil: never
}

var errKilled = errors.New("the process is gone")

// call makes a call of this many parallel requests.
func (i installation) call(requests int, do func() error) error {
	i.requests.Add(int64(requests))
	time.Sleep(proofCall)
	if i.killed != nil && i.killed.Load() {
		return errKilled
	}
	return do()
}

func (i installation) Get(ctx context.Context, k table.Key, o ...table.ReadOption) (item table.Item, err error) {
	err = i.call(1, func() (err error) { item, err = i.Store.Get(ctx, k, o...); return err })
	return item, err
}

func (i installation) BatchGet(ctx context.Context, keys []table.Key, o ...table.ReadOption) (items []table.Item, err error) {
	err = i.call((len(keys)+99)/100, func() (err error) { items, err = i.Store.BatchGet(ctx, keys, o...); return err })
	return items, err
}

func (i installation) Query(ctx context.Context, q table.Query) (page table.Page, err error) {
	err = i.call(1, func() (err error) { page, err = i.Store.Query(ctx, q); return err })
	return page, err
}

func (i installation) Add(ctx context.Context, a table.Add) (item table.Item, err error) {
	err = i.call(1, func() (err error) { item, err = i.Store.Add(ctx, a); return err })
	return item, err
}

func (i installation) Write(ctx context.Context, ops ...table.Op) error {
	return i.call(1, func() error { return i.Store.Write(ctx, ops...) })
}

// slowBlobs is the installation's blob store.
type slowBlobs struct{ installation }

func (b slowBlobs) Put(ctx context.Context, name string, data []byte) error {
	return b.call(1, func() error { return b.blobs.Put(ctx, name, data) })
}

func (b slowBlobs) Get(ctx context.Context, name string) (data []byte, err error) {
	err = b.call(1, func() (err error) { data, err = b.blobs.Get(ctx, name); return err })
	return data, err
}

func (b slowBlobs) GetRange(ctx context.Context, name string, offset, length int64) (data []byte, err error) {
	err = b.call(1, func() (err error) { data, err = b.blobs.GetRange(ctx, name, offset, length); return err })
	return data, err
}

func (b slowBlobs) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return b.blobs.List(ctx, prefix)
}

func (b slowBlobs) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return b.blobs.ListAfter(ctx, prefix, after)
}

func (b slowBlobs) Delete(ctx context.Context, names ...string) error {
	return b.call(1, func() error { return b.blobs.Delete(ctx, names...) })
}

// analysing is a corpus whose documents take one processor some time.
type analysing struct {
	search.Corpus
	processor chan struct{}
}

func (a analysing) Read(ctx context.Context, teamID string, ids []uuid.UUID) iter.Seq2[search.Document, error] {
	return func(yield func(search.Document, error) bool) {
		for d, err := range a.Corpus.Read(ctx, teamID, ids) {
			a.processor <- struct{}{}
			time.Sleep(proofAnalysis)
			<-a.processor
			if !yield(d, err) {
				return
			}
		}
	}
}

// proof is the installation at work.
type proof struct {
	t         *testing.T
	documents int
	quick     installation // without delays, for the test itself
	changed   *local.Queue
	rebuilds  *local.Queue
	log       *slog.Logger

	ingest, rebuild atomic.Int64 // requests
	turns, kills    atomic.Int64
	puts            []document.Input
	slowest         time.Duration // from a put to its being found
}

func newProof(t *testing.T, documents int) *proof {
	t.Helper()
	blobs, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &proof{t: t, documents: documents, log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	p.quick = installation{Store: bolttest.OpenAt(t, time.Now), blobs: blobs}
	p.changed, p.rebuilds = local.New(local.Options{Visibility: proofVisibility}), local.New(local.Options{Visibility: proofVisibility})
	if err := p.quick.Store.Write(t.Context(), table.Put{Item: table.Item{Key: sourceKey(team, proofSource)}}); err != nil {
		t.Fatal(err)
	}
	return p
}

func sourceKey(teamID, source string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID, Sort: source}
}

// service and index are an area on an installation.
func (p *proof) service(store table.Store) *document.Service {
	return &document.Service{Table: store, Work: p.changed, Now: time.Now, Random: func() uint16 { return uint16(rand.Uint32()) },
		SourceKey: sourceKey, Connected: func(table.Item) bool { return false },
		DefaultAccess: func(table.Item) *access.Rule { return nil },
		Sources: func(context.Context, string) (map[string]*access.Rule, error) {
			return map[string]*access.Rule{proofSource: nil}, nil
		},
		Warn: func(w pending.Work, err error) { p.t.Errorf("%v: %v", w, err) }}
}

func (p *proof) index(store table.Store, blobs blob.Store) *search.Index {
	return &search.Index{Table: store, Blobs: blobs, Corpus: document.Corpus{Service: p.service(store)}, Now: time.Now,
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() }, Rebuilds: p.rebuilds,
		OnFault: func(_ context.Context, err error) { p.t.Errorf("left out: %v", err) }}
}

func (p *proof) quickIndex() *search.Index { return p.index(p.quick.Store, p.quick.blobs) }

// input returns a document, the only one with word.
func (p *proof) input(word string) document.Input {
	return document.Input{Fields: document.Fields{CollectionID: proofSource, Title: "Page " + word, URI: "https://wiki.test/" + word},
		Body:  "The zebra " + word + " lives in the grass with lions and antelopes, and drinks in the evening.",
		Match: func(int64) error { return nil }, Who: document.Anyone()}
}

func (p *proof) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// fill puts and indexes the documents, and makes their segments older.
func (p *proof) fill() {
	ctx := p.t.Context()
	x, service := p.quickIndex(), p.service(p.quick.Store)
	service.Work = nowhere{}
	corpus := document.Corpus{Service: service}
	for first := 0; first < p.documents; first += 90 {
		var ids []uuid.UUID
		for i := first; i < min(first+90, p.documents); i++ {
			id, _, err := service.Put(ctx, team, p.input(fmt.Sprintf("w%dx", i)))
			p.must(err)
			ids = append(ids, uuid.MustParse(id))
		}
		var docs []search.Document
		var done []table.Op
		for d, err := range corpus.Read(ctx, team, ids) {
			p.must(err)
			docs = append(docs, d)
			done = append(done, pending.Work{Kind: pending.IndexDocument, TeamID: team, ID: d.ID.String(), Version: d.Version, At: d.Version >> 16}.Complete())
		}
		p.must(x.Publish(ctx, team, docs, done))
		if _, err := x.Merge(ctx, team); err != nil {
			p.t.Fatal(err)
		}
	}
	p.must(x.SetAnalysis(ctx, team, search.AnalysisVersion-1))
}

// nowhere is a queue that accepts messages and delivers none.
type nowhere struct{ queue.Queue }

func (nowhere) Send(context.Context, ...queue.Outgoing) error { return nil }

// run plays it until everything is rebuilt.
func (p *proof) run() {
	p.fill()
	ctx, stop := context.WithCancel(p.t.Context())
	began := time.Now()
	p.workers(ctx)
	p.putUntilRebuilt(ctx)
	took := time.Since(began)
	stop()
	synctest.Wait()

	p.check()
	a := float64(p.rebuild.Load()) / float64(p.documents)
	p.t.Logf("%d documents rebuilt in %v by %d turns, %d of them killed; %.4f requests a document; %d documents put in parallel, found after at most %v",
		p.documents, took.Round(time.Second), p.turns.Load(), p.kills.Load(), a, len(p.puts), p.slowest)
	if a > proofCalls {
		p.t.Errorf("%.4f requests a document, at most %.1f", a, proofCalls)
	}
	if p.slowest > proofFoundIn {
		p.t.Errorf("a document was found after %v", p.slowest)
	}
	if p.kills.Load() == 0 || len(p.puts) < 3 {
		p.t.Errorf("%d turns were killed, %d documents put", p.kills.Load(), len(p.puts))
	}
}

// workers starts the workers of both queues and the sweeper, which run in parallel with the puts.
func (p *proof) workers(ctx context.Context) {
	slow := installation{Store: p.quick.Store, blobs: p.quick.blobs, requests: &p.ingest}
	indexing := &document.Worker{Service: p.service(slow), Index: p.index(slow, slowBlobs{slow}), Log: p.log}
	go queue.Work(ctx, p.changed, indexing.Batch, queue.WorkOptions{Batch: queue.MaxBatch, Log: p.log})
	for n := range proofWorkers {
		go p.rebuildTurns(ctx, rand.New(rand.NewPCG(1, uint64(n))))
	}
	sweeper := &pending.Sweeper{Table: p.quick.Store, Now: time.Now, Queues: map[string]queue.Queue{table.Documents: p.changed, table.Index: p.rebuilds},
		Patience: func(pending.Kind) time.Duration { return 0 }}
	go func() {
		for ctx.Err() == nil {
			if _, err := sweeper.Sweep(ctx); err != nil && ctx.Err() == nil {
				p.t.Error(err)
			}
			wait(ctx, time.Minute)
		}
	}()
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// rebuildTurns works off the queue of rebuilds in turns. Two of three are killed at a
// random time, if they are still at work then.
func (p *proof) rebuildTurns(ctx context.Context, random *rand.Rand) {
	processor := make(chan struct{}, 1)
	for ctx.Err() == nil {
		batch, err := p.rebuilds.Receive(ctx, 1, queue.MaxWait)
		if err != nil || len(batch) == 0 {
			continue
		}
		killed := &atomic.Bool{}
		own := installation{Store: p.quick.Store, blobs: p.quick.blobs, requests: &p.rebuild, killed: killed}
		x := p.index(own, slowBlobs{own})
		x.Corpus = analysing{x.Corpus, processor}
		turn, end := context.WithTimeout(ctx, proofTurn)
		life := proofTurn
		if random.IntN(3) > 0 {
			life = time.Duration(random.Int64N(int64(proofTurn) / 2))
		}
		death := time.AfterFunc(life, func() {
			killed.Store(true)
			p.kills.Add(1)
			end()
		})
		failed := (&search.Rebuilder{Index: x, Log: p.log, Turn: 80 * time.Second}).Batch(turn, batch)
		p.turns.Add(1)
		end()
		if death.Stop() && len(failed) == 0 { // a killed worker reports nothing to the queue
			if err := p.rebuilds.Done(ctx, batch...); err != nil && ctx.Err() == nil {
				p.t.Error(err)
			}
		}
	}
}

// putUntilRebuilt puts a document now and then, and waits for each to be found.
func (p *proof) putUntilRebuilt(ctx context.Context) {
	service, x := p.service(p.quick.Store), p.quickIndex()
	for n := 0; ; n++ {
		in := p.input(fmt.Sprintf("late%dx", n))
		if n%3 == 1 { // one of those that are being rebuilt
			in.URI = fmt.Sprintf("https://wiki.test/w%dx", n*7919%p.documents)
		}
		put := time.Now()
		id, version, err := service.Put(ctx, team, in)
		p.must(err)
		p.puts = append(p.puts, in)
		for !p.found(x, fmt.Sprintf("late%dx", n), id, version) {
			time.Sleep(time.Second)
		}
		p.slowest = max(p.slowest, time.Since(put))
		planned, err := x.PendingRebuilds(ctx, team)
		p.must(err)
		if len(planned) == 0 && n > 0 {
			return
		}
		if time.Since(put) > 48*time.Hour {
			p.t.Fatal("it does not end")
		}
		time.Sleep(proofPutEvery)
	}
}

func (p *proof) found(x *search.Index, word, id string, version int64) bool {
	r, err := x.Search(p.t.Context(), team, search.Query{Reader: access.Everything(), Text: word})
	p.must(err)
	return slices.ContainsFunc(r.Hits, func(h search.Hit) bool { return h.Document.String() == id && h.Version == version })
}

// check fails the test unless the index contains each document once, in its current version.
func (p *proof) check() {
	p.t.Helper()
	want := p.documents
	for n := range p.puts {
		if n%3 != 1 {
			want++
		}
	}
	x := p.quickIndex()
	r, err := x.Check(p.t.Context(), team)
	if err != nil || len(r.Damaged) > 0 || len(r.Current) != want || r.Documents-r.Stale != want {
		p.t.Errorf("%d documents: %d current, %d in segments, %d of them stale, damaged %v: %v", want, len(r.Current), r.Documents, r.Stale, r.Damaged, err)
	}
	if reasons := outdated(p.t, x); len(reasons) != 1 || reasons[""] == 0 {
		p.t.Errorf("segments: %v", reasons)
	}
	if left := pendingItems(p.t, x); len(left) > 0 {
		p.t.Errorf("still pending: %v", left)
	}
}
