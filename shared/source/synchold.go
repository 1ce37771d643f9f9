package source

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"time"
)

// renewEvery is how often the lease of a run that waits for its provider is looked at.
const renewEvery = leaseTime / 8

// hold calls work, which waits for the provider and may take long. In the meantime it renews the lease, so that no
// other process takes over the sync. If the lease is lost, hold ends the context of the run and returns the reason. If
// work panics, so does hold.
func (r *syncRun) hold(ctx context.Context, work func()) error {
	done := make(chan error, 1)
	go func() {
		var failed error
		defer func() {
			if p := recover(); p != nil {
				failed = fmt.Errorf("%v\n%s", p, debug.Stack())
			}
			done <- failed
		}()
		work()
	}()
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	var lost error
	for {
		select {
		case panicked := <-done:
			if panicked != nil {
				panic(panicked)
			}
			return lost
		case <-ticker.C:
			// Other failures may pass before the lease ends, and saving shows them.
			if lost != nil {
				continue
			}
			if err := r.renewLease(ctx); errors.Is(err, errLeaseLost) {
				lost = err
				r.cancel()
			}
		}
	}
}

// held yields what pages yields, and holds the lease while the connector reads. It ends with the error of a lost lease.
func (r *syncRun) held(ctx context.Context, pages iter.Seq2[SyncPage, error]) iter.Seq2[SyncPage, error] {
	return func(yield func(SyncPage, error) bool) {
		next, stop := iter.Pull2(pages)
		defer stop()
		for {
			var page SyncPage
			var err error
			var more bool
			lost := r.hold(ctx, func() { page, err, more = next() })
			if lost != nil {
				yield(SyncPage{}, lost)
				return
			}
			if !more || !yield(page, err) {
				return
			}
		}
	}
}
