package table

import (
	"context"
	"fmt"
	"iter"
	"time"
)

const maxMillis = 9_999_999_999_999 // year 2286

// Inverted renders t so that later times sort first, as 13 digits: the maximum in Unix
// milliseconds minus t. Times outside 1970 to 2286 are clamped.
func Inverted(t time.Time) string {
	ms := min(max(t.UnixMilli(), 0), maxMillis)
	return fmt.Sprintf("%013d", maxMillis-ms)
}

// Padded renders n, which must not be negative, in 20 digits, so that texts sort as numbers do.
func Padded(n int64) string { return fmt.Sprintf("%020d", n) }

// All yields every item of q over all its pages. It stops at the first error, except a *DamagedError: what follows the
// damaged items can still be read.
func All(ctx context.Context, s Store, q Query) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for {
			page, err := s.Query(ctx, q)
			if err != nil && AsDamaged(err) == nil {
				yield(Item{}, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if err != nil && !yield(Item{}, err) {
				return
			}
			if page.Cursor == "" {
				return
			}
			q.Cursor = page.Cursor
		}
	}
}
