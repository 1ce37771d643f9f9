package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"docent/shared/memory"
	"docent/shared/pause"
	"docent/shared/table"
)

// Grace is how long a writer may fill an empty number before a reader closes it. It only delays
// readers: the feed is complete with any value.
const Grace = 5 * time.Second

// maxNumbers limits the numbers that one read visits.
const maxNumbers = 2000

// recheckAfter is how long a bounded read waits before it looks again for an event that a
// writer may still store.
const recheckAfter = 200 * time.Millisecond

func (l *Log) head(ctx context.Context, teamID string) (head, error) {
	item, err := l.Table.Get(ctx, headKey(teamID))
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return head{}, fmt.Errorf("read the head of the feed: %w", err)
	}
	return headFrom(item), nil
}

// feedReader is one read of the feed.
type feedReader struct {
	*Log
	teamID string
	head   head
	cursor cursorState
	limit  int
	keep   func(Event) bool
	events []Event
	more   bool
	slots  slots
}

// readForward reads upwards from the cursor and moves it. h is the head; if it is nil, it is
// read in parallel with the first slots.
func (r *feedReader) readForward(ctx context.Context, h *head, check func(head) error) error {
	r.slots = slots{log: r.Log, teamID: r.teamID, from: r.cursor.at + 1, size: r.limit + 1}
	if r.keep != nil {
		r.slots.size = maxNumbers / 2
	}
	if h == nil {
		var other sync.WaitGroup
		var headErr error
		other.Go(func() { r.head, headErr = r.Log.head(ctx, r.teamID) })
		err := r.slots.fill(ctx)
		other.Wait()
		if err := errors.Join(headErr, err); err != nil {
			return err
		}
	} else {
		r.head = *h
	}
	if err := check(r.head); err != nil {
		return err
	}
	r.slots.last, r.slots.gaps = r.head.seq, r.head.gaps
	if r.cursor.bounded {
		r.slots.last = r.cursor.end
	}
	return r.walk(ctx)
}

// walk adds slots while their numbers are contiguous.
func (r *feedReader) walk(ctx context.Context) error {
	start := r.cursor.at
	for {
		start += r.skipGap()
		if len(r.events) == r.limit || r.cursor.at-start >= maxNumbers {
			return r.setMore(ctx)
		}
		if r.cursor.at >= r.slots.last {
			return nil
		}
		next, err := r.slots.peek(ctx, r.cursor.at+1)
		if err != nil {
			return err
		}
		if next != nil && next.number == r.cursor.at+1 {
			if err := r.addSlot(*next); err != nil {
				return err
			}
			continue
		}
		if to, expired := r.expiredThrough(next); expired {
			start += to - r.cursor.at
			r.cursor.at = to
			continue
		}
		if left := r.graceLeft(next); left > 0 {
			if !r.cursor.bounded {
				return nil
			}
			if len(r.events) > 0 {
				r.more = true
				return nil
			}
			if err := r.wait(ctx, min(left, recheckAfter)); err != nil {
				return err
			}
			r.slots.rereadFrom(r.cursor.at + 1)
			continue
		}
		to := r.slots.last
		if next != nil {
			to = next.number - 1
		}
		if err := r.closeThrough(ctx, min(r.head.gaps.runEnd(r.cursor.at+1, to), start+maxNumbers)); err != nil {
			return err
		}
	}
}

// skipGap moves the cursor past the gap after it, if there is one, and returns by how much.
func (r *feedReader) skipGap() int64 {
	to := min(r.head.gaps.skip(r.cursor.at+1)-1, r.slots.last)
	moved := max(to-r.cursor.at, 0)
	r.cursor.at += moved
	return moved
}

// expiredThrough returns the last of the empty numbers before next that are past retention, or
// false.
func (r *feedReader) expiredThrough(next *slot) (int64, bool) {
	to := r.slots.last
	if next != nil {
		to = next.number - 1
		if !next.isTombstone() && r.Now().Sub(next.at) > Retention {
			return to, true
		}
	}
	to = min(to, r.head.trimmed)
	return to, to > r.cursor.at
}

// forever is longer than any wait.
const forever = time.Duration(1<<63 - 1)

// graceLeft returns how much longer writers may fill the empty numbers before next. With no
// slot above them there is no limit, unless the read has a fixed end.
func (r *feedReader) graceLeft(next *slot) time.Duration {
	left := forever
	if next != nil {
		left = r.graceSince(next.at)
	}
	if r.cursor.bounded {
		left = min(left, r.graceSince(time.UnixMilli(r.cursor.made)))
	}
	return left
}

// graceSince returns how much is left of the grace that began at a time. A time that is later than now by more than clocks
// differ is of a clock that was set back since. Then nothing is left: readers would wait until it is that time again.
func (r *feedReader) graceSince(begun time.Time) time.Duration {
	age := r.Now().Sub(begun)
	if age < -lookBack {
		return 0
	}
	return r.gracePeriod() - age
}

func (l *Log) gracePeriod() time.Duration {
	if l.grace > 0 {
		return l.grace
	}
	return Grace
}

// wait waits for writers. A request gives up its place among the running ones while it waits.
func (l *Log) wait(ctx context.Context, d time.Duration) error {
	defer memory.Pause(ctx)()
	if l.Wait != nil {
		return l.Wait(ctx, d)
	}
	return pause.For(ctx, d)
}

// addSlot moves the cursor past a slot, and adds its event if it is wanted.
func (r *feedReader) addSlot(s slot) error {
	r.cursor.at = s.number
	if s.isTombstone() {
		return nil
	}
	e, err := s.event(r.teamID)
	if err != nil {
		return err
	}
	if r.keep == nil || r.keep(e) {
		r.events = append(r.events, e)
	}
	return nil
}

// setMore sets whether more can be read now.
func (r *feedReader) setMore(ctx context.Context) error {
	if r.cursor.at >= r.slots.last {
		return nil
	}
	if r.cursor.bounded || len(r.events) < r.limit {
		r.more = true
		return nil
	}
	next, err := r.slots.peek(ctx, r.cursor.at+1)
	if err != nil || next == nil {
		return err
	}
	_, expired := r.expiredThrough(next)
	r.more = next.number == r.cursor.at+1 || expired || r.graceLeft(next) <= 0
	return nil
}

// readBackward reads downwards from the cursor, which is one above the next number.
func (r *feedReader) readBackward(ctx context.Context) error {
	low := max(r.cursor.low, r.head.trimmed)
	start := r.cursor.at
	for {
		if r.cursor.at-1 <= low {
			return nil
		}
		if to := max(r.head.gaps.skipDown(r.cursor.at-1), low); to < r.cursor.at-1 {
			start -= r.cursor.at - 1 - to
			r.cursor.at = to + 1
			continue
		}
		if len(r.events) == r.limit || start-r.cursor.at >= maxNumbers {
			r.more = true
			return nil
		}
		bucket := bucketOf(r.cursor.at - 1)
		first := max(bucket*bucketSize, low+1, r.cursor.at-max(2*int64(r.limit), 100), r.head.gaps.runStart(r.cursor.at-1))
		found, err := r.slotsBetween(ctx, first, r.cursor.at-1)
		if err != nil {
			return err
		}
		if found == nil { // it waited for a writer
			if len(r.events) > 0 {
				r.more = true
				return nil
			}
			continue
		}
		for _, s := range slices.Backward(found) {
			if len(r.events) == r.limit {
				break
			}
			if err := r.addSlot(s); err != nil {
				return err
			}
		}
	}
}

// slotsBetween returns the final slots of the numbers from first to last, all in one bucket. It
// returns nil after waiting for a writer.
func (r *feedReader) slotsBetween(ctx context.Context, first, last int64) ([]slot, error) {
	q := table.Query{Table: table.Events, Partition: bucketPartition(r.teamID, bucketOf(first)),
		From: table.Padded(first), To: table.Padded(last)}
	all := make([]slot, last-first+1)
	for item, err := range table.All(ctx, r.Table, q) {
		if err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		s, err := slotFrom(item)
		if err != nil {
			return nil, err
		}
		all[s.number-first] = s
	}
	for i := 0; i < len(all); i++ {
		if all[i].number != 0 {
			continue
		}
		to := i
		for to+1 < len(all) && all[to+1].number == 0 {
			to++
		}
		var next *slot
		if to+1 < len(all) {
			next = &all[to+1]
		}
		if next != nil && !next.isTombstone() && r.Now().Sub(next.at) > Retention {
			for ; i <= to; i++ {
				all[i] = slot{number: first + int64(i)}
			}
			continue
		}
		if left := r.graceLeft(next); left > 0 {
			return nil, r.wait(ctx, min(left, recheckAfter))
		}
		settled, err := r.closeAll(ctx, r.teamID, first+int64(i), first+int64(to))
		if err != nil {
			return nil, err
		}
		copy(all[i:], settled)
		i = to
	}
	return all, nil
}
