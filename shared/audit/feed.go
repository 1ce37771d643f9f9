package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/jsoninput"
	"docent/shared/table"
)

// MaxPage limits the events of a page.
const MaxPage = 200

// Orders of a Query.
const (
	Ascending  = "asc"
	Descending = "desc"
)

// Query selects a page of the feed. Empty fields select nothing.
type Query struct {
	Limit      int    // 1 to MaxPage
	After      string // a cursor; overrides Since
	Since      string // an RFC 3339 time, or the id of an event
	Until      string // an RFC 3339 time; the read is bounded
	Types      []string
	Categories []string
	Actors     []string // ids
	Outcomes   []string
	Order      string // Descending requires Until
}

// Page is a part of the feed.
type Page struct {
	Events  []Event
	Next    string // the cursor to continue from; empty at the end of a bounded read
	More    bool   // more can be read now
	Bounded bool
}

// filter is the wanted values, sorted; an empty list matches all.
type filter struct{ types, categories, actors, outcomes []string }

func (q Query) filter() (filter, error) {
	for _, t := range q.Types {
		if _, ok := entries[Type(t)]; !ok && t != "" {
			return filter{}, apierr.BadField("/query/eventType", "must be a known event type")
		}
	}
	for _, c := range q.Categories {
		if c != "" && !slices.Contains([]string{Authentication, Identity, Configuration, Data, Activity}, c) {
			return filter{}, apierr.BadField("/query/category", "must be a known category")
		}
	}
	for _, o := range q.Outcomes {
		if o != "" && o != Success && o != Failure && o != Unknown {
			return filter{}, apierr.BadField("/query/outcome", "must be success, failure or unknown")
		}
	}
	return filter{distinct(q.Types), distinct(q.Categories), distinct(q.Actors), distinct(q.Outcomes)}, nil
}

// distinct returns values sorted, without empty and repeated ones.
func distinct(values []string) []string {
	sorted := slices.Sorted(slices.Values(values))
	return slices.Compact(slices.DeleteFunc(sorted, func(v string) bool { return v == "" }))
}

func (f filter) sum() (sum [filterSum]byte) {
	h := sha256.New()
	for _, values := range [][]string{f.types, f.categories, f.actors, f.outcomes} {
		for _, v := range values {
			fmt.Fprintf(h, "%d:%s", len(v), v)
		}
		h.Write([]byte{0})
	}
	copy(sum[:], h.Sum(nil))
	return sum
}

// keep returns the test of wanted events, or nil if all are wanted.
func (f filter) keep() func(Event) bool {
	if len(f.types)+len(f.categories)+len(f.actors)+len(f.outcomes) == 0 {
		return nil
	}
	wanted := func(values []string, v string) bool {
		_, found := slices.BinarySearch(values, v)
		return found || len(values) == 0
	}
	return func(e Event) bool {
		return wanted(f.types, string(e.Type)) && wanted(f.categories, e.entry().Category) &&
			wanted(f.actors, e.Origin.Actor.ID) && wanted(f.outcomes, e.Outcome.Result)
	}
}

// Feed returns the page of the team's feed that q selects. An invalid q is an *apierr.Error, a
// cursor past retention an *ExpiredError.
func (l *Log) Feed(ctx context.Context, teamID string, q Query) (Page, error) {
	wanted, err := q.filter()
	if err != nil {
		return Page{}, err
	}
	key, err := l.cursorKey(ctx)
	if err != nil {
		return Page{}, err
	}
	r := &feedReader{Log: l, teamID: teamID, limit: q.Limit, keep: wanted.keep()}
	known, err := r.start(ctx, q, key, wanted.sum())
	if err != nil {
		return Page{}, err
	}
	if r.cursor.down {
		if known == nil {
			h, err := l.head(ctx, teamID)
			if err != nil {
				return Page{}, err
			}
			known = &h
		}
		r.head = *known
		if r.cursor.end > r.head.seq {
			return Page{}, badCursor()
		}
		err = r.readBackward(ctx)
	} else {
		err = r.readForward(ctx, known, func(h head) error { return r.check(h, key) })
	}
	if err != nil {
		return Page{}, err
	}
	page := Page{Events: r.events, More: r.more, Bounded: r.cursor.bounded}
	if r.more || !r.cursor.bounded {
		page.Next = r.cursor.sealed(key, teamID)
	}
	return page, nil
}

// check rejects a position outside the feed: past retention, or after the last number, as after
// a restore from backup.
func (r *feedReader) check(h head, key []byte) error {
	if r.cursor.at < h.trimmed {
		oldest := r.cursor
		oldest.at = h.trimmed
		return &ExpiredError{oldest.sealed(key, r.teamID)}
	}
	if r.cursor.at > h.seq || r.cursor.end > h.seq {
		return badCursor()
	}
	return nil
}

// start sets the cursor to start from. It returns the head if it read it.
func (r *feedReader) start(ctx context.Context, q Query, key []byte, sum [filterSum]byte) (*head, error) {
	if q.Order != "" && q.Order != Ascending && q.Order != Descending {
		return nil, apierr.BadField("/query/order", "must be asc or desc")
	}
	since, until, err := q.times()
	if err != nil {
		return nil, err
	}
	if q.After != "" {
		p, err := unsealed(key, r.teamID, q.After)
		if err != nil {
			return nil, err
		}
		if p.filter != sum || q.Order == Descending && !p.down || q.Order == Ascending && p.down {
			return nil, badCursor()
		}
		r.cursor = p
		if p.bounded || until.IsZero() {
			return nil, nil
		}
		h, err := r.Log.head(ctx, r.teamID)
		if err != nil {
			return nil, err
		}
		return &h, r.bound(ctx, until, &h)
	}
	if q.Order == Descending && until.IsZero() {
		return nil, apierr.BadField("/query/order", "desc requires until")
	}
	h, err := r.Log.head(ctx, r.teamID)
	if err != nil {
		return nil, err
	}
	r.cursor = cursorState{at: h.trimmed, filter: sum}
	switch {
	case !since.IsZero():
		f, err := r.sinceMark(ctx, r.teamID, since, h, !until.IsZero())
		if err != nil {
			return nil, err
		}
		r.cursor.at = max(f.at, h.trimmed)
		h.seq = max(h.seq, f.at) // the mark may be newer than h
	case q.Since != "":
		n, ok := sequenceOf(r.teamID, q.Since)
		if !ok || n > h.seq {
			return nil, badSince()
		}
		r.cursor.at = n
	}
	if until.IsZero() {
		return &h, nil
	}
	if err := r.bound(ctx, until, &h); err != nil {
		return nil, err
	}
	if q.Order == Descending {
		r.cursor.down, r.cursor.low, r.cursor.at = true, r.cursor.at, r.cursor.end+1
	}
	return &h, nil
}

// bound sets the end of the read. If the end is after h, h moves.
func (r *feedReader) bound(ctx context.Context, until time.Time, h *head) error {
	f, err := r.untilMark(ctx, r.teamID, r.cursor.at, until, *h)
	if err != nil {
		return err
	}
	r.cursor.bounded, r.cursor.end, r.cursor.made = true, f.at, f.made.UnixMilli()
	h.seq = max(h.seq, f.at)
	return nil
}

func badSince() error {
	return apierr.BadField("/query/since", "must be an RFC 3339 time or the id of an event of this feed")
}

// times parses the times of q; since is zero if it is absent or an id.
func (q Query) times() (since, until time.Time, err error) {
	if q.Until != "" {
		if until, err = parseTime(q.Until); err != nil {
			return since, until, apierr.BadField("/query/until", "must be an RFC 3339 time")
		}
	}
	if q.After != "" || q.Since == "" || strings.HasPrefix(q.Since, idPrefix) {
		return since, until, nil
	}
	if since, err = parseTime(q.Since); err != nil {
		return since, until, badSince()
	}
	if !until.IsZero() && !until.After(since) {
		return since, until, apierr.BadField("/query/until", "must be after since")
	}
	return since, until, nil
}

// parseTime parses a time to the millisecond, the precision of the feed. It moves times before
// 1970 to 1970.
func parseTime(text string) (time.Time, error) {
	t, err := jsoninput.ParseQueryTime(text)
	if err != nil {
		return t, fmt.Errorf("read a time: %w", err)
	}
	t = t.UTC().Truncate(time.Millisecond)
	if epoch := time.Unix(0, 0).UTC(); t.Before(epoch) {
		return epoch, nil
	}
	return t, nil
}

// Get returns an event by its id. For an unknown one it returns a 404.
func (l *Log) Get(ctx context.Context, teamID, id string) (Event, error) {
	missing := apierr.Missing("event")
	n, ok := sequenceOf(teamID, id)
	if !ok {
		return Event{}, missing
	}
	item, err := l.Table.Get(ctx, slotKey(teamID, n))
	if errors.Is(err, table.ErrNotFound) {
		return Event{}, missing
	}
	if err != nil {
		return Event{}, fmt.Errorf("read event %d: %w", n, err)
	}
	s, err := slotFrom(item)
	if err != nil {
		return Event{}, err
	}
	if s.isTombstone() {
		return Event{}, missing
	}
	return s.event(teamID)
}
