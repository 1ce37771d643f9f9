package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/shared/table"
)

// Tolerances of time marks.
const (
	lookBack  = 2 * time.Minute // for differing clocks and a stalled writer
	lookAhead = 5 * time.Minute // a later time means now
)

// timeMark is the position of a time in the feed, the same for every reader.
type timeMark struct {
	at   int64
	made time.Time
}

const (
	positionField = "n"
	startField    = "start" // 1: the mark was made for a start, lookBack before its time
	markLayout    = "2006-01-02T15:04:05.000Z"
)

func markKey(teamID string, t time.Time) table.Key {
	return table.Key{Table: table.Events, Partition: teamID + "/marks", Sort: t.UTC().Format(markLayout)}
}

// marksKey is the key of a counter that every new mark raises, so that two marks are never made
// without knowing each other.
func marksKey(teamID string) table.Key {
	return table.Key{Table: table.Events, Partition: teamID + "/head", Sort: "marks"}
}

func timeMarkFrom(item table.Item) timeMark {
	return timeMark{item.Numbers[positionField], time.UnixMilli(item.Numbers[atField])}
}

// mark returns the stored mark of t, or false.
func (l *Log) mark(ctx context.Context, teamID string, t time.Time) (timeMark, bool, error) {
	item, err := l.Table.Get(ctx, markKey(teamID, t))
	if errors.Is(err, table.ErrNotFound) {
		return timeMark{}, false, nil
	}
	if err != nil {
		return timeMark{}, false, fmt.Errorf("read a mark: %w", err)
	}
	return timeMarkFrom(item), true, nil
}

// untilMark returns the mark of the exclusive end t, and stores it. A new mark is not before begin, the position
// where the read begins, so that the windows of one reader do not overlap where those of another hide its marks.
func (l *Log) untilMark(ctx context.Context, teamID string, begin int64, t time.Time, h head) (timeMark, error) {
	now := l.Now()
	if t.After(now.Add(lookAhead)) {
		return timeMark{h.seq, now}, nil
	}
	if m, ok, err := l.mark(ctx, teamID, t); err != nil || ok {
		return m, err
	}
	at := h.seq
	if !t.After(now) {
		var err error
		if at, err = l.numberBefore(ctx, teamID, t, h); err != nil {
			return timeMark{}, err
		}
	}
	return l.setMark(ctx, teamID, t, position{at: at, lowest: begin})
}

// sinceMark returns the mark of the inclusive start t. With keep, the mark is stored: every
// later reader of t gets the same one.
func (l *Log) sinceMark(ctx context.Context, teamID string, t time.Time, h head, keep bool) (timeMark, error) {
	if m, ok, err := l.mark(ctx, teamID, t); err != nil || ok {
		return m, err
	}
	at, err := l.numberBefore(ctx, teamID, t.Add(-lookBack), h)
	if err != nil || !keep || t.After(l.Now().Add(lookAhead)) {
		return timeMark{at: at}, err
	}
	return l.setMark(ctx, teamID, t, position{at: at, start: true})
}

// position is where a time is in the feed, before the marks around it are known.
type position struct {
	at     int64
	lowest int64
	start  bool // of the start of a window, not of its end
}

// setMark stores the position p for t, moved between the nearest marks. If another process
// stored one first, that one is returned.
func (l *Log) setMark(ctx context.Context, teamID string, t time.Time, p position) (timeMark, error) {
	key := markKey(teamID, t)
	for range maxAttempts {
		now := l.Now()
		version, cond := int64(0), table.Absent()
		counter, err := l.Table.Get(ctx, marksKey(teamID))
		switch {
		case err == nil:
			version, cond = counter.Version, table.VersionIs(counter.Version)
		case !errors.Is(err, table.ErrNotFound):
			return timeMark{}, fmt.Errorf("read the counter of marks: %w", err)
		}
		at, err := l.clamp(ctx, key, t, p)
		if err != nil {
			return timeMark{}, err
		}
		expires := now
		if t.After(now) {
			expires = t
		}
		item := table.Item{Key: key, Numbers: map[string]int64{positionField: at, atField: now.UnixMilli()}, Expires: expires.Add(slotLife)}
		if p.start {
			item.Numbers[startField] = 1
		}
		err = l.Table.Write(ctx,
			table.Put{Item: item, If: table.Absent()},
			table.Put{Item: table.Item{Key: marksKey(teamID), Version: version + 1}, If: cond})
		failed := table.AsConditionFailed(err)
		switch {
		case err == nil:
			return timeMarkFrom(item), nil
		case failed == nil && !errors.Is(err, table.ErrConflict):
			return timeMark{}, fmt.Errorf("store a mark: %w", err)
		case failed != nil && failed.Key == key && failed.Item != nil:
			return timeMarkFrom(*failed.Item), nil
		}
	}
	return timeMark{}, fmt.Errorf("store a mark: %w", table.ErrConflict)
}

// clamp returns the position p, moved between those of the marks before and after key, the key of t.
func (l *Log) clamp(ctx context.Context, key table.Key, t time.Time, p position) (int64, error) {
	at := p.at
	later := table.Query{Table: key.Table, Partition: key.Partition, From: key.Sort, Limit: 20}
	seen := 0
	for item, err := range table.All(ctx, l.Table, later) {
		if err != nil {
			return 0, fmt.Errorf("read the nearest marks: %w", err)
		}
		if p.start || endsAfter(item, t) {
			at = min(at, timeMarkFrom(item).at)
			break
		}
		if seen++; seen == maxPassed {
			break
		}
	}
	earlier, err := l.Table.Query(ctx, table.Query{Table: key.Table, Partition: key.Partition, To: key.Sort, Limit: 1, Descending: true})
	if err != nil {
		return 0, fmt.Errorf("read the nearest marks: %w", err)
	}
	if len(earlier.Items) > 0 {
		at = max(at, timeMarkFrom(earlier.Items[0]).at)
	}
	return max(at, p.lowest), nil
}

// maxPassed is how many marks are passed in search of one that bounds an end. Without one, windows may overlap.
const maxPassed = 100

// endsAfter reports whether a later mark has the events before t. One that was made before t lacks those since then, and that of a
// start lacks some on purpose: readers of windows that begin there read them twice, but nobody misses them.
func endsAfter(later table.Item, t time.Time) bool {
	return later.Numbers[startField] == 0 && !timeMarkFrom(later).made.Before(t)
}

// numberBefore returns the number before the first event recorded at t or later, by binary
// search.
func (l *Log) numberBefore(ctx context.Context, teamID string, t time.Time, h head) (int64, error) {
	low, high := h.trimmed+1, h.seq+1
	for low < high {
		middle := max(h.gaps.start(low+(high-low)/2), low)
		found, err := l.firstEvent(ctx, teamID, h.gaps, middle, high-1)
		if err != nil {
			return 0, err
		}
		if found == nil || !found.at.Before(t) {
			high = middle
		} else {
			low = found.number + 1
		}
	}
	return low - 1, nil
}

// firstEvent returns the first event with a number from from to last, or nil.
func (l *Log) firstEvent(ctx context.Context, teamID string, g gaps, from, last int64) (*slot, error) {
	s := slots{log: l, teamID: teamID, gaps: g, from: from, last: last, size: 4}
	for n := from; ; {
		next, err := s.peek(ctx, n)
		if err != nil || next == nil || !next.isTombstone() {
			return next, err
		}
		n = next.number + 1
		s.size = min(2*s.size, 1000)
	}
}

// Trim moves the retention limit of a team to the last event that is older. It should run once
// a day, and may be a week late. If it is later, and nothing of the feed is left, the limit is the
// last number.
func (l *Log) Trim(ctx context.Context, teamID string) error {
	h, err := l.head(ctx, teamID)
	if err != nil || h.seq == h.trimmed {
		return err
	}
	edge := l.Now().Add(-Retention)
	oldest, err := l.firstEvent(ctx, teamID, h.gaps, h.trimmed+1, h.seq)
	if err != nil {
		return err
	}
	if oldest == nil {
		return l.trimEmpty(ctx, teamID, h)
	}
	if !oldest.at.Before(edge) {
		return nil
	}
	to, err := l.numberBefore(ctx, teamID, edge, h)
	if err != nil {
		return err
	}
	return l.trimTo(ctx, teamID, to)
}

// trimEmpty moves the retention limit to the last number if no slot after it is left: all have
// expired. It closes the numbers first, because a writer may still have one of them.
func (l *Log) trimEmpty(ctx context.Context, teamID string, h head) error {
	s := slots{log: l, teamID: teamID, gaps: h.gaps, last: h.seq, size: 1}
	if left, err := s.peek(ctx, h.trimmed+1); err != nil || left != nil {
		return err
	}
	for at := h.trimmed; ; {
		if at = h.gaps.skip(at+1) - 1; at >= h.seq {
			return nil
		}
		to := min(h.gaps.runEnd(at+1, h.seq), at+maxNumbers)
		settled, err := l.closeAll(ctx, teamID, at+1, to)
		if err != nil || slices.ContainsFunc(settled, func(s slot) bool { return !s.isTombstone() }) {
			return err
		}
		if err := l.trimTo(ctx, teamID, to); err != nil {
			return err
		}
		at = to
	}
}

// trimTo raises the retention limit of a team to the number to, if it is lower.
func (l *Log) trimTo(ctx context.Context, teamID string, to int64) error {
	_, err := l.Table.Add(ctx, table.Add{Key: headKey(teamID), Numbers: map[string]int64{trimmedField: to}, If: table.Below(trimmedField, to)})
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("trim the feed: %w", err)
	}
	return nil
}
