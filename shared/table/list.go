package table

import (
	"context"
	"slices"
	"strings"
)

// Window selects up to Limit entries of a list that is ordered by sort key: those after the
// position After, the last ones before the position Before, or the first ones if both are
// empty.
type Window struct {
	Limit         int
	After, Before string // sort keys; at most one is set
}

// Slice is the part of a list that a Window selects, in the list's order.
type Slice[T any] struct {
	Entries    []Entry[T]
	Prev, Next bool   // there are entries before these, and after; see ReadWindow
	First      string // position for the page before; set when Prev
	Last       string // position for the page after; set when Next
}

// Entry is a list entry with its position.
type Entry[T any] struct {
	Position string
	Value    T
}

// A window whose filter drops entries reads on in pages of scanLimit items, at most maxScans of
// them. Only then the slice is short although the list may continue.
const (
	maxScans  = 10
	scanLimit = 1000
)

// query returns the query for the window's entries and one more, to see whether the list
// continues. It may also return the entry at the window's position, which is left out later.
func (w Window) query(tableName, partition string) Query {
	q := Query{Table: tableName, Partition: partition, Descending: w.Before != "", Limit: w.Limit + 1}
	if w.After != "" {
		q.From = w.After
		q.Limit++
	}
	if w.Before != "" {
		q.To = w.Before
		q.Limit++
	}
	return q
}

// windowReader collects the entries of a window, page by page.
type windowReader[T any] struct {
	w    Window
	keep func(Item) (T, bool, error)
	out  Slice[T]
	last string // the position reached; that of the last entry if the window is full
	more bool   // the list continues after last
}

// take adds the items of a page that the filter keeps, until there is one more than the window
// holds. What the filter drops must not show as a next page: it may be what the caller may not know of.
func (r *windowReader[T]) take(items []Item) error {
	for _, item := range items {
		if item.Sort == r.w.After || item.Sort == r.w.Before {
			continue
		}
		full := len(r.out.Entries) == r.w.Limit
		if !full {
			r.last = item.Sort
		}
		value, ok, err := r.keep(item)
		switch {
		case err != nil:
			return err
		case ok && full:
			r.more = true
			return nil
		case ok:
			r.out.Entries = append(r.out.Entries, Entry[T]{item.Sort, value})
		}
	}
	return nil
}

// ReadWindow reads the window w of the list in one partition. keep turns an item
// into a value, or drops it. Dropped items do not show: there is a next page only if an
// entry follows that keep does not drop. With more than 10,000 dropped items in a row the
// slice ends early and always has a next page.
func ReadWindow[T any](ctx context.Context, s Store, tableName, partition string, w Window, keep func(Item) (T, bool, error)) (Slice[T], error) {
	q, r := w.query(tableName, partition), windowReader[T]{w: w, keep: keep}
	for scans := 0; ; scans++ {
		page, err := s.Query(ctx, q)
		if err != nil {
			return r.out, err
		}
		if err := r.take(page.Items); err != nil {
			return r.out, err
		}
		if r.more || page.Cursor == "" {
			break
		}
		if scans == maxScans && r.last != "" {
			r.more = true
			break
		}
		q.Cursor, q.Limit = page.Cursor, max(q.Limit, scanLimit)
	}
	r.out.finish(w, r.last, r.more)
	return r.out, nil
}

// SliceOf returns the window w of all, a complete list in order.
func SliceOf[T any](all []Entry[T], w Window) Slice[T] {
	var out Slice[T]
	from, to := 0, len(all)
	if w.After != "" {
		from, _ = slices.BinarySearchFunc(all, w.After+"\x01", comparePosition[T])
	}
	if w.Before != "" {
		to, _ = slices.BinarySearchFunc(all, w.Before, comparePosition[T])
	}
	if all = all[from:to]; len(all) <= w.Limit {
		out.Entries = slices.Clone(all)
	} else if w.Before == "" {
		out.Entries = slices.Clone(all[:w.Limit])
	} else {
		out.Entries = slices.Clone(all[len(all)-w.Limit:])
	}
	last := ""
	if w.Before != "" {
		slices.Reverse(out.Entries)
	}
	if n := len(out.Entries); n > 0 {
		last = out.Entries[n-1].Position
	}
	out.finish(w, last, len(all) > w.Limit)
	return out
}

func comparePosition[T any](e Entry[T], position string) int {
	return strings.Compare(e.Position, position)
}

// finish orders the entries and sets the positions of the neighbouring pages. The
// reading reached last; more reports whether the list continues there.
func (s *Slice[T]) finish(w Window, last string, more bool) {
	first := w.After
	if len(s.Entries) > 0 {
		first = s.Entries[0].Position
	}
	if w.Before == "" {
		s.Prev, s.First = w.After != "", first
		s.Next, s.Last = more, last
		return
	}
	slices.Reverse(s.Entries)
	first = w.Before
	if n := len(s.Entries); n > 0 {
		first = s.Entries[n-1].Position
	}
	s.Prev, s.First = more, last
	s.Next, s.Last = true, first
}

// Trim shortens s, the slice of w, to entries with a total size of at most limit, counted from
// the start of w. At least one entry stays.
func (s *Slice[T]) Trim(w Window, limit int, size func(T) int) {
	backward := w.Before != ""
	sum := 0
	for i := range s.Entries {
		at := i
		if backward {
			at = len(s.Entries) - 1 - i
		}
		if sum += size(s.Entries[at].Value); i == 0 || sum <= limit {
			continue
		}
		if backward {
			s.Entries = s.Entries[at+1:]
			s.Prev, s.First = true, s.Entries[0].Position
		} else {
			s.Entries = s.Entries[:at]
			s.Next, s.Last = true, s.Entries[at-1].Position
		}
		return
	}
}

// MergeSlices merges slices of several lists, each read with the window w, into the slice of w
// in the merged list.
func MergeSlices[T any](w Window, parts ...Slice[T]) Slice[T] {
	var all []Entry[T]
	more := false
	// A list is unknown past the last position that was read of it, so the slice ends at the
	// nearest of these positions.
	horizon, backward := "", w.Before != ""
	for _, part := range parts {
		all = append(all, part.Entries...)
		goesOn, at := part.Next, part.Last
		if backward {
			goesOn, at = part.Prev, part.First
		}
		if !goesOn {
			continue
		}
		more = true
		if horizon == "" || (at < horizon) != backward {
			horizon = at
		}
	}
	slices.SortFunc(all, func(a, b Entry[T]) int {
		if backward {
			return strings.Compare(b.Position, a.Position)
		}
		return strings.Compare(a.Position, b.Position)
	})
	if horizon != "" {
		all = slices.DeleteFunc(all, func(e Entry[T]) bool {
			return e.Position != horizon && (e.Position > horizon) != backward
		})
	}
	last := horizon
	if len(all) > w.Limit {
		all, more = all[:w.Limit], true
		last = all[w.Limit-1].Position
	}
	out := Slice[T]{Entries: all}
	out.finish(w, last, more)
	return out
}
