package source

import (
	"errors"
	"iter"
)

// ErrStopped is returned by the read function of Pages after its page function
// has returned false.
var ErrStopped = errors.New("the reader has stopped")

// Pages yields the pages that read passes to its page function, then read's error,
// if any. When the caller stops, the page function returns false; read must then
// return, and its error is ignored.
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
