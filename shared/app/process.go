package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"docent/shared/answer"
	"docent/shared/httpapi"
	"docent/shared/memory"
	"docent/shared/pause"
	"docent/shared/queue"
)

// process is a standing process that serves the API and does the work of all queues, on any
// engines.
type process struct {
	*services
	pollEvery time.Duration                 // the longest pause between two reads of a long poll
	stopping  chan struct{}                 // closed to end long polls
	room      *memory.Room                  // of the requests
	ended     atomic.Pointer[chan struct{}] // closed when this process has finished a question, and replaced
}

// start joins the services of p on b.
func (p *process) start(b base, parts Parts, pollEvery time.Duration) {
	first := make(chan struct{})
	p.ended.Store(&first)
	p.stopping, p.pollEvery, p.room = make(chan struct{}), pollEvery, httpapi.NewRoom()
	b.wait, b.onFinished = p.wait, p.wake
	p.services = newServices(b, parts)
	p.index.PartsBytes = indexBytes(partsShare)
	// Writes at the same time share a sync of the disk. One after the other, those for 30,000 waiting documents take minutes.
	p.sweeper.Parallel = sweepParallel
}

var errStopping = errors.New("stopping")

// wake ends the pause of every long poll: the answer of one may be finished.
func (p *process) wake(context.Context, answer.Answer) {
	next := make(chan struct{})
	close(*p.ended.Swap(&next))
}

// wait pauses a long poll until a question is finished or the process stops.
func (p *process) wait(ctx context.Context) error {
	pause := time.NewTimer(p.pollEvery)
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-*p.ended.Load():
		return nil
	case <-p.stopping:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Handler serves the API under /v1, and GET /healthz.
// baseURL is the address of the API as clients reach it.
func (p *process) Handler(baseURL string) http.Handler {
	surface := p.surface(strings.TrimSuffix(baseURL, "/"), 0, nil)
	surface.Room = p.room
	api := httpapi.New(surface, httpapi.Areas()...)
	if p.parts.Pages == nil {
		return root(api)
	}
	return withHome(root(withPages(p.parts.Pages, api)))
}

// place has the parts of a process that depend on where its data is.
type place struct {
	work  func(ctx context.Context, workers *sync.WaitGroup, log *slog.Logger) // starts work that ends with ctx
	greet func(ctx context.Context, c ServeConfig) error                       // prints where the API is
}

// serve serves the API and works until ctx ends, then drains within drainTime.
func (p *process) serve(ctx context.Context, c ServeConfig, at place) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if c.Alone {
		boundProcess()
	}
	if c.BaseURL == "" {
		c.BaseURL = baseOf(listener.Addr())
	}
	server := &http.Server{
		Handler:           p.Handler(c.BaseURL),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: replyTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	var workers sync.WaitGroup
	at.work(working, &workers, c.Log)
	if c.Alone && os.Getenv("GOMEMLIMIT") == "" {
		workers.Go(func() { followIndex(working, p.index.Cached, debug.SetMemoryLimit) })
	}
	failed := make(chan error, 1)
	listener = answerUnparsed(server, newBoundedListener(listener))
	go func() { failed <- server.Serve(listener) }()
	if err = at.greet(ctx, c); err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	close(p.stopping)
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	stopWork()
	if shut := server.Shutdown(draining); shut != nil {
		c.Log.Warn("requests were cut off", "err", shut)
		shut = server.Close()
		err = errors.Join(err, shut)
	}
	workers.Wait()
	if flush := p.usage.Flush(draining); flush != nil {
		c.Log.Warn("latency not counted", "err", flush)
	}
	return err
}

// baseOf returns the base URL of the API that listens at address, as this machine reaches it: nobody
// reaches the wildcard address.
func baseOf(address net.Addr) string {
	if at, ok := address.(*net.TCPAddr); ok && at.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d/v1", at.Port)
	}
	return "http://" + address.String() + "/v1"
}

// workOptions are how the queues of a process are worked off.
type workOptions struct {
	gather time.Duration                               // wait of a batch of documents for more of them
	extend time.Duration                               // see queue.WorkOptions
	turn   func(ctx context.Context, log *slog.Logger) // tidies up, every minute
}

// work starts the workers and the sweeper; they end with ctx.
func (p *process) work(ctx context.Context, workers *sync.WaitGroup, o workOptions, log *slog.Logger) {
	options := queue.WorkOptions{Wait: queue.MaxWait, Grace: drainTime, Extend: o.extend, Log: log}
	background := func(work func()) { workers.Go(func() { inBackground(work) }) }
	e := p.engines
	for range answerWorkers {
		workers.Go(func() { queue.Work(ctx, e.questions, p.answering.Batch, options) })
	}
	batches := options
	batches.Batch, batches.Gather = queue.MaxBatch, o.gather
	for range min(indexWorkers, max(runtime.NumCPU()-1, 1)) { // one processor is left for requests
		background(func() { queue.Work(ctx, e.documents, p.indexing.Batch, batches) })
	}
	// One file at a time, so that of a reader's memory there is one.
	background(func() { queue.Work(ctx, e.extractions, p.extracting.Batch, options) })
	for range syncWorkers {
		workers.Go(func() { queue.Work(ctx, e.syncs, p.turn, options) })
	}
	p.delivering.Workers = hookWorkers
	for range hookWorkers {
		workers.Go(func() { queue.Work(ctx, e.deliveries, p.delivering.Batch, options) })
	}
	if p.parts.Embedder != nil {
		vectors := batches
		vectors.Grace = vectorsGrace
		embeds := p.resting(p.embeds(serveRebuildTurn, pause.For))
		for range max(runtime.NumCPU()/2, 1) { // a model in the process computes on the worker's thread
			background(func() { queue.Work(ctx, e.embeddings, embeds, vectors) })
		}
	}
	background(func() { queue.Work(ctx, e.rebuilds, p.rebuilder(serveRebuildTurn, pause.For).Batch, options) })
	workers.Go(func() {
		every := time.NewTicker(sweepEvery)
		defer every.Stop()
		for { // pending work was sent when the data was opened
			o.turn(ctx, log)
			select {
			case <-every.C:
				p.sweep(ctx, log)
			case <-ctx.Done():
				return
			}
		}
	})
}

// resting returns h with rests while requests use the processors; see memory.Rest.
func (p *process) resting(h queue.Handler) queue.Handler {
	return func(ctx context.Context, batch []queue.Message) []string {
		return h(memory.WithRests(ctx, p.room), batch)
	}
}

// sweepEvery is the time between two sweeps.
const sweepEvery = time.Minute

// sweep sends pending work again.
func (p *process) sweep(ctx context.Context, log *slog.Logger) {
	result, err := p.sweeper.Sweep(ctx)
	if result.Sent+result.GivenUp > 0 {
		log.InfoContext(ctx, "swept", "sent", result.Sent, "givenUp", result.GivenUp, "oldest", result.Oldest)
	}
	if err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "sweep failed", "err", err)
	}
}
