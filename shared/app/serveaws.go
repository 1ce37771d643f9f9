package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// extendFor is how long a process hides messages from others while it works on them. A process
// that is killed delays its messages so long.
const extendFor = time.Minute

// ServeAWS serves the API and does the work of an installation on AWS until ctx ends, then
// drains within 10 seconds. Several processes, and the functions of a stack, may do so at the
// same time. Of c it does not use DataDir and Demo; where names the installation for people.
func ServeAWS(ctx context.Context, c ServeConfig, installation Config, where string) error {
	p, err := openProcess(installation, c.Parts, c.Log)
	if err != nil {
		return err
	}
	return p.serve(ctx, c, place{
		work: func(ctx context.Context, workers *sync.WaitGroup, log *slog.Logger) {
			p.work(ctx, workers, workOptions{extend: extendFor, turn: p.tidy}, log)
		},
		greet: func(ctx context.Context, c ServeConfig) error {
			if _, err := p.teams.IDs(ctx, "", 1); err != nil {
				return fmt.Errorf("read the data of %s: %w", where, err)
			}
			c.tell(ctx, fmt.Sprintf("Docent is ready at %s (data in %s).\n", c.BaseURL, where))
			return nil
		},
	})
}

// openProcess joins a standing process on the installation. It sends no request.
func openProcess(c Config, parts Parts, log *slog.Logger) (*process, error) {
	if c.RebuildsQueue == "" || c.EmbeddingsQueue == "" || c.ExtractionsQueue == "" {
		return nil, errors.New("the queues of rebuilds, embeddings and files are not configured (DOCENT_REBUILDS_QUEUE_URL, DOCENT_EMBEDDINGS_QUEUE_URL, DOCENT_EXTRACTIONS_QUEUE_URL)")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.standing = true
	p := &process{}
	// Another process may finish an answer, so that it is looked for, which costs a read.
	e := openAWS(c)
	p.start(base{engines: e, log: log, now: c.Now, sharedRates: e.table}, parts, pollPause)
	p.index.CacheBytes = indexBytes(pagesShare)
	return p, nil
}

// tidy removes unused segments and continues the day's round over all teams.
func (p *process) tidy(ctx context.Context, log *slog.Logger) {
	_, clean := p.index.Clean(ctx)
	if err := errors.Join(clean, p.daily.run(ctx)); err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "tidying failed", "err", err)
	}
}
