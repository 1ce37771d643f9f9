package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"docent/shared/httpapi"
	"docent/shared/pause"
	"docent/shared/queue"
)

// ServeConfig says how Docent is served on one machine.
type ServeConfig struct {
	DataDir string
	Addr    string       // HOST:PORT; port 0 chooses a free port
	Program string       // the command that starts this program, for examples
	BaseURL string       // of the API as clients reach it; empty: http://Addr/v1
	Parts   Parts        // all but the Vault, which the data directory has
	Demo    bool         // create a demo team with a sample collection if there is no team yet
	Out     io.Writer    // for people: the address, the demo's keys
	Log     *slog.Logger // one line per request and batch
}

// Bounds of the server. A document of 10 MB may arrive over a slow line, and a reply may
// wait for an answer.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = 2 * time.Minute
	replyTimeout   = 3 * time.Minute
	idleTimeout    = 2 * time.Minute
	headerBytes    = 64 << 10
	drainTime      = 8 * time.Second       // of requests and work in progress when the process stops
	gatherTime     = 10 * time.Millisecond // wait for more documents, since every batch costs a segment with its syncs and merges
	answerWorkers  = 4
	indexWorkers   = 2
	syncWorkers    = 2
	// serveRebuildTurn is less than half of drainTime, so that stopping loses no slice. The
	// one worker that rebuilds rests after each slice for as long as the slice took.
	serveRebuildTurn = 2 * time.Second
)

// Serve runs the whole of Docent until ctx ends, then drains within 10 seconds.
func Serve(ctx context.Context, c ServeConfig) error {
	l, err := OpenLocal(ctx, c.DataDir, LocalOptions{Parts: c.Parts, Log: c.Log})
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return errors.Join(fmt.Errorf("listen: %w", err), l.Close())
	}
	address := "http://" + listener.Addr().String()
	boundProcess()
	if c.BaseURL == "" {
		c.BaseURL = address + "/v1"
	}
	if l.resumed > 0 {
		c.Log.Info("resumed pending work", "sent", l.resumed)
	}
	server := &http.Server{
		Handler:           l.Handler(c.BaseURL),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: replyTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	var workers sync.WaitGroup
	l.work(working, &workers, c.Log)
	failed := make(chan error, 1)
	listener = answerUnparsed(server, newBoundedListener(listener))
	go func() { failed <- server.Serve(listener) }()
	if err = l.greet(ctx, c); err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	close(l.stopping)
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	stopWork()
	if shut := server.Shutdown(draining); shut != nil {
		c.Log.Warn("requests were cut off", "err", shut)
		shut = server.Close()
		err = errors.Join(err, shut)
	}
	workers.Wait()
	if flush := l.usage.Flush(draining); flush != nil {
		c.Log.Warn("latency not counted", "err", flush)
	}
	return errors.Join(err, l.Close())
}

// work starts the workers and the sweeper; they end with ctx.
func (l *Local) work(ctx context.Context, workers *sync.WaitGroup, log *slog.Logger) {
	options := queue.WorkOptions{Wait: 20 * time.Second, Grace: drainTime, Log: log}
	background := func(work func()) { workers.Go(func() { inBackground(work) }) }
	workers.Go(func() { boundFiles(ctx, l.store.DropResident, log) })
	for range answerWorkers {
		workers.Go(func() { queue.Work(ctx, l.questionQueue, l.answering.Batch, options) })
	}
	batches := options
	batches.Batch, batches.Gather = queue.MaxBatch, gatherTime
	for range min(indexWorkers, max(runtime.NumCPU()-1, 1)) { // one processor is left for requests
		background(func() { queue.Work(ctx, l.documentQueue, l.indexing.Batch, batches) })
	}
	for range syncWorkers {
		workers.Go(func() { queue.Work(ctx, l.syncQueue, l.turn, options) })
	}
	if l.embedQueue != nil {
		workers.Go(func() { l.planVectors(ctx, log) })
		for range max(runtime.NumCPU()/2, 1) { // a model in the process computes on the worker's thread
			background(func() { queue.Work(ctx, l.embedQueue, l.embeds(serveRebuildTurn, pause.For), batches) })
		}
	}
	background(func() { queue.Work(ctx, l.rebuildQueue, l.rebuilder(serveRebuildTurn, pause.For).Batch, options) })
	workers.Go(func() {
		every := time.NewTicker(sweepEvery)
		defer every.Stop()
		for { // pending work was sent when the data was opened
			l.tidy(ctx, log)
			select {
			case <-every.C:
				l.sweep(ctx, log)
			case <-ctx.Done():
				return
			}
		}
	})
}

// planVectors plans the vectors of documents that were indexed without this model. Later, the
// round of each day does it.
func (l *Local) planVectors(ctx context.Context, log *slog.Logger) {
	for after, more := "", true; more; {
		ids, err := l.teams.IDs(ctx, after, teamsPerSweep)
		for _, id := range ids {
			err = errors.Join(err, l.index.PlanRebuilds(ctx, id))
		}
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "vectors were not planned; they will be within a day", "err", err)
		}
		if more = len(ids) == teamsPerSweep && ctx.Err() == nil; more {
			after = ids[len(ids)-1]
		}
	}
}

// sweepEvery is the time between two sweeps.
const sweepEvery = time.Minute

// sweep sends pending work again.
func (l *Local) sweep(ctx context.Context, log *slog.Logger) {
	result, err := l.sweeper.Sweep(ctx)
	if result.Sent+result.GivenUp > 0 {
		log.InfoContext(ctx, "swept", "sent", result.Sent, "givenUp", result.GivenUp, "oldest", result.Oldest)
	}
	if err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "sweep failed", "err", err)
	}
}

// tidy removes expired items and continues the day's round over all teams.
func (l *Local) tidy(ctx context.Context, log *slog.Logger) {
	_, clean := l.index.Clean(ctx)
	_, expired := l.store.Sweep(ctx)
	if err := errors.Join(clean, expired, l.daily.run(ctx)); err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "tidying failed", "err", err)
	}
}

// root serves the API under /v1, and /healthz.
func root(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			w.Header().Set("Content-Type", "application/json")
			httpapi.Protect(w.Header())
			_, _ = io.WriteString(w, `{"status":"ok"}`)
			return
		}
		if path, ok := strings.CutPrefix(r.URL.Path, "/v1"); ok && strings.HasPrefix(path+"/", "/") {
			inner := *r.URL
			inner.Path = path
			inner.RawPath = strings.TrimPrefix(r.URL.RawPath, "/v1")
			r = r.WithContext(r.Context())
			r.URL = &inner
			api.ServeHTTP(w, r)
			return
		}
		httpapi.WriteNotFound(w, r, "The API is under /v1.")
	})
}
