package search

import (
	"context"
	"iter"
	"sync"

	"github.com/google/uuid"
)

// Documents are read in batches, a few of them side by side.
const (
	readBatch  = 100 // documents, as many as one request of the store takes
	readAtOnce = 4
)

// wanted is a document that a slice is to hold, in one version.
type wanted struct {
	id      uuid.UUID
	version int64
	at      int // its place in what is read
}

// found is what has become of a wanted document.
type found struct {
	wanted
	document *Document // nil: it is gone, or current in another version or elsewhere
}

// inOrder yields what has become of each of all, in this order, and reads a few batches
// ahead side by side. It stops at the first error.
func (r *rebuilding) inOrder(ctx context.Context, all iter.Seq[wanted]) iter.Seq2[found, error] {
	type result struct {
		found
		err error
	}
	return func(yield func(found, error) bool) {
		var readers sync.WaitGroup
		defer readers.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		start := func(batch []wanted) <-chan result {
			results := make(chan result)
			readers.Go(func() {
				defer close(results)
				for f, err := range r.readBatch(ctx, batch) {
					select {
					case results <- result{f, err}:
					case <-ctx.Done():
						return
					}
				}
			})
			return results
		}
		next, stop := iter.Pull(batches(all))
		defer stop()
		var ahead []<-chan result
		for more := true; ; {
			for more && len(ahead) < readAtOnce {
				var batch []wanted
				if batch, more = next(); more {
					ahead = append(ahead, start(batch))
				}
			}
			if len(ahead) == 0 {
				return
			}
			for got := range ahead[0] {
				if !yield(got.found, got.err) || got.err != nil {
					return
				}
			}
			if err := ctx.Err(); err != nil {
				yield(found{}, err)
				return
			}
			ahead = ahead[1:]
		}
	}
}

// batches cuts all into batches in which no document occurs twice, as it may do in two
// versions.
func batches(all iter.Seq[wanted]) iter.Seq[[]wanted] {
	return func(yield func([]wanted) bool) {
		var batch []wanted
		inBatch := make(map[uuid.UUID]bool, readBatch)
		for w := range all {
			if len(batch) == readBatch || inBatch[w.id] {
				if !yield(batch) {
					return
				}
				batch = nil
				clear(inBatch)
			}
			batch, inBatch[w.id] = append(batch, w), true
		}
		if len(batch) > 0 {
			yield(batch)
		}
	}
}

// readBatch yields what has become of each of a batch, in its order.
func (r *rebuilding) readBatch(ctx context.Context, batch []wanted) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		ids := make([]uuid.UUID, len(batch))
		for i, w := range batch {
			ids[i] = w.id
		}
		for d, err := range r.Corpus.Read(ctx, r.teamID, ids) {
			if err != nil {
				yield(found{}, err)
				return
			}
			for len(batch) > 0 && batch[0].id != d.ID {
				if !yield(found{wanted: batch[0]}, nil) {
					return
				}
				batch = batch[1:]
			}
			if len(batch) == 0 {
				return
			}
			f := found{wanted: batch[0]}
			if d.Version == f.version && d.Source == r.family.source && d.Space == r.family.space {
				f.document = &d
			}
			if !yield(f, nil) {
				return
			}
			batch = batch[1:]
		}
		for _, w := range batch {
			if !yield(found{wanted: w}, nil) {
				return
			}
		}
	}
}
