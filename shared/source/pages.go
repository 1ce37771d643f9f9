package source

import (
	"errors"
	"iter"
)

// ErrStopped is what a connector returns from the read of Pages when its page function has returned false.
var ErrStopped = errors.New("the reader has stopped")

// Pages returns the pages that read passes to its page function, and then the error of read, if it fails. The page
// function returns false when the reader of the pages has stopped; read must then return, and its error is ignored.
func Pages(read func(page func(SyncPage) bool) error) iter.Seq2[SyncPage, error] {
	return func(yield func(SyncPage, error) bool) {
		stopped := false
		err := read(func(p SyncPage) bool {
			stopped = stopped || !yield(p, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(SyncPage{}, err)
		}
	}
}
