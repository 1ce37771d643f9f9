package put

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/client"
	"docent/cmd/docent/internal/walk"
)

const (
	firstPause = time.Second / 4 // between two looks at a file that is being read
	mostPause  = 5 * time.Second
	// stalledAfter is how long no file may be finished before the run no longer waits.
	stalledAfter = 10 * time.Minute
)

// reading is a file that the server has, and whose text it still had to read when it was last looked at.
type reading struct {
	file walk.File
	id   string
	what outcome
}

// readings waits until the server has read the text of the files that it extracts text from, and counts those whose text
// cannot be read as failed. The state remembers what was not waited for.
func (r *run) readings(ctx context.Context) error {
	if r.NoWait || r.DryRun {
		return nil
	}
	r.finished = r.Now()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.Parallel)
	for _, f := range r.unread {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error { return r.read(ctx, f) })
	}
	err := g.Wait()
	if r.waiting > 0 {
		r.Warn(fmt.Sprintf("warning: the server is still reading %s; run the same command again to see whether their text can be read", files(r.waiting)))
	}
	return err
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// read waits for one file.
func (r *run) read(ctx context.Context, f reading) error {
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		d, err := r.Client.Indexing(ctx, f.id)
		switch {
		case client.IsStatus(err, http.StatusNotFound): // removed in the meantime
			r.state.read(f.file.URI)
			return nil
		case err != nil && ctx.Err() == nil && !client.FailsEveryCall(err):
			r.finish(func() { r.waiting++ })
			return nil
		case err != nil:
			return err
		case d.State == client.StateFailed:
			r.state.forget(f.file.URI) // so that it is sent and told of again
			r.finish(func() { r.notRead(f, d.Detail) })
			return nil
		case d.State != client.StateExtracting:
			r.state.read(f.file.URI)
			r.finish(func() {
				for _, note := range d.Notes {
					r.Warn(fmt.Sprintf("%s: %s", f.file.Path, note))
				}
			})
			return nil
		case r.stalled():
			r.finish(func() { r.waiting++ })
			return nil
		}
		if err := r.Client.Pause(ctx, pause); err != nil {
			return err
		}
	}
}

// notRead counts a file whose text cannot be read as failed, and no longer as put or unchanged.
func (r *run) notRead(f reading, reason string) {
	if f.what == wasPut {
		r.sum.Put--
	} else {
		r.sum.Unchanged--
	}
	if reason == "" {
		reason = "unknown reason"
	}
	r.sum.fail(f.file.Path, errors.New("its text cannot be read: "+reason))
}

// finish records the end of waiting for one file.
func (r *run) finish(record func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := r.waiting
	record()
	if r.waiting == waiting {
		r.finished = r.Now()
	}
}

// stalled reports whether no file was finished for so long that the run should stop waiting.
func (r *run) stalled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Now().Sub(r.finished) >= stalledAfter
}

// awaits adds a file whose text the server reads.
func (r *run) awaits(f reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread = append(r.unread, f)
}
