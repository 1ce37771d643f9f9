package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"
)

// ServeConfig says how Docent is served on one machine.
type ServeConfig struct {
	DataDir string
	Addr    string       // HOST:PORT; port 0 chooses a free port
	Program string       // the command that starts this program, for examples
	BaseURL string       // of the API as clients reach it; empty: http://Addr/v1
	Parts   Parts        // all but the Vault, which the data directory has
	Demo    bool         // create a demo team with a sample collection if there is no team yet
	Alone   bool         // nothing else runs in this process: its memory and threads are bounded for serving
	Out     io.Writer    // for people: the address, the demo's keys
	Log     *slog.Logger // one line per request and batch
}

// tell prints where the API is. The server goes on without a reader, such as a pipe whose other end is closed.
func (c ServeConfig) tell(ctx context.Context, text string) {
	if _, err := io.WriteString(c.Out, text); err != nil {
		c.Log.WarnContext(ctx, "where the API is was not printed", "err", err)
	}
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
	vectorsGrace   = 4 * time.Second       // of it for vectors: a large document takes minutes, and is begun again at the next start
	gatherTime     = 10 * time.Millisecond // wait for more documents, since every batch costs a segment with its syncs and merges
	answerWorkers  = 4
	indexWorkers   = 2
	syncWorkers    = 2
	hookWorkers    = 20 // each posts to one endpoint at a time; twice webhook.MaxPerTeam, so that one team has room for all of its endpoints
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
	if l.resumed > 0 {
		c.Log.Info("resumed pending work", "sent", l.resumed)
	}
	return errors.Join(l.serve(ctx, c, place{work: l.work, greet: l.greet}), l.Close())
}

// work starts the work that only one machine has, in addition to that of the process.
func (l *Local) work(ctx context.Context, workers *sync.WaitGroup, log *slog.Logger) {
	l.process.work(ctx, workers, workOptions{gather: gatherTime, extend: visibility, turn: l.tidy}, log)
	workers.Go(func() { l.control(ctx, log) })
	workers.Go(func() { boundFiles(ctx, l.store.DropResident, log) })
	workers.Go(func() {
		l.usage.Gather(ctx, func(uncertain int, err error) {
			log.WarnContext(ctx, "usage not counted", "usage_adds_uncertain", uncertain, "err", err)
		})
	})
	if l.embedQueue != nil {
		workers.Go(func() { l.planVectors(ctx, log) })
	}
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

// tidy removes expired items, unless the clock has jumped far ahead, and is otherwise that of every process.
func (l *Local) tidy(ctx context.Context, log *slog.Logger) {
	jumped, first := l.jumps.jumped(l.now(), time.Since(l.opened))
	if first {
		log.WarnContext(ctx, "the clock jumped ahead by more than a day; what has expired is kept for a day, in case the clock is wrong")
	}
	if l.daily.keep = jumped; !jumped {
		if _, err := l.store.Sweep(ctx); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "expired items were not removed", "err", err)
		}
	}
	if err := l.objects.RemoveUnfinished(); err != nil {
		log.ErrorContext(ctx, "objects that were not finished were not removed", "err", err)
	}
	l.process.tidy(ctx, log)
}
