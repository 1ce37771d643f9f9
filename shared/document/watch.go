package document

import (
	"context"
	"time"

	"docent/shared/apierr"
	"docent/shared/search"
)

// lookEvery is the least time between two looks of a Watch.
const lookEvery = time.Second

// Watch notices that someone may no longer read documents while a text is made from them. It is for one goroutine.
type Watch struct {
	now    func() time.Time
	look   func(ctx context.Context) (closed bool, err error)
	latest time.Time // of the looks
	closed bool
}

// OfHits returns the documents of hits in the form that Unreadable takes, to ask whether what was found of them may still be read.
func OfHits(hits []search.Hit) map[string]time.Time {
	all := map[string]time.Time{}
	for _, h := range hits {
		id, at := h.Document.String(), time.UnixMilli(millisOf(h.Version))
		if first, ok := all[id]; !ok || at.Before(first) {
			all[id] = at
		}
	}
	return all
}

// NewWatch returns a Watch whose caller has just found all documents readable. look reports whether one of them is no longer.
func NewWatch(now func() time.Time, look func(ctx context.Context) (closed bool, err error)) *Watch {
	return &Watch{now: now, look: look, latest: now()}
}

// Check returns an error with CodeAccessChanged if the text may no longer be shown, and from then on always. It looks at most once a
// second, and returns the error of a look that failed.
func (w *Watch) Check(ctx context.Context) error {
	if now := w.now(); !w.closed && now.Sub(w.latest).Abs() >= lookEvery {
		closed, err := w.look(ctx)
		if err != nil {
			return err
		}
		w.latest, w.closed = now, closed
	}
	if w.closed {
		return apierr.New(apierr.Conflict, apierr.CodeAccessChanged, "You may no longer read a document that this answer was made from. Ask again.")
	}
	return nil
}
