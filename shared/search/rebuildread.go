package search

import (
	"context"
	"iter"
	"sync"

	"github.com/google/uuid"
)

// Documents are read in batches, a few of them in parallel.
const (
	readBatch  = 100 // documents, as many as one request of the store takes
	readAtOnce = 4
)

// wanted is a document that a slice needs, in one version.
type wanted struct {
	id      uuid.UUID
	version int64
	at      int // its place in the order of reading
}

// found is a wanted document with the result of reading it.
type found struct {
	wanted
	document *Document // nil: deleted, in another version, or in another source or space
}

// inOrder yields the results for all documents in order, and reads a few batches ahead in
// parallel. It stops at the first error.
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

// batches divides all into batches. Two versions of the same document are in different batches.
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

// readBatch yields the results for a batch, in its order.
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
