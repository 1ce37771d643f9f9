package pending

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/shared/table"
)

// SweepsKey is the key of the item that says since when sweeps run regularly. It is about one
// home: a copy of an installation does not take it over. Whoever deletes it makes patience begin
// with the next sweep.
var SweepsKey = table.Key{Table: table.Events, Partition: "sweeps", Sort: "last"}

// The numbers of the item under SweepsKey, in Unix milliseconds.
const (
	lastField  = "last"  // when the last sweep began
	sinceField = "since" // when the first of the regular sweeps up to it began
)

// standstill is how long after a sweep the next one begins at most, while all is well. After longer, the machine was suspended, the
// schedule was off, no process ran or the clock has jumped: nothing was worked at either. A sweep before the last one by no more than
// that is of another process, whose clock differs.
const standstill = 10 * time.Minute

// notings bounds how often a note is tried while sweeps of other processes are noted.
const notings = 5

// note stores that a sweep begins at now, and returns since when sweeps run regularly: since now after a standstill, or if
// fresh is set. Patience counts from then. The time is stored, because a process may end before patience does. If it
// cannot be stored, note returns now and an error, so that nothing is late in this sweep. The item replaces the last one, so that a full
// disk has room for it.
func (s *Sweeper) note(ctx context.Context, now time.Time, fresh bool) (time.Time, error) {
	ctx = table.Freeing(ctx)
	for range notings {
		item, err := s.Table.Get(ctx, SweepsKey)
		cond := table.VersionIs(item.Version)
		switch {
		case errors.Is(err, table.ErrNotFound):
			cond = table.Absent()
		case err != nil:
			return now, fmt.Errorf("read when the last sweep was: %w", err)
		}
		since := now
		if !fresh && now.Sub(time.UnixMilli(item.Numbers[lastField])).Abs() <= standstill {
			since = time.UnixMilli(item.Numbers[sinceField])
		}
		err = s.Table.Write(ctx, table.Put{If: cond, Item: table.Item{Key: SweepsKey, Version: item.Version + 1,
			Numbers: map[string]int64{lastField: now.UnixMilli(), sinceField: since.UnixMilli()}}})
		if table.AsConditionFailed(err) != nil {
			continue // another process noted its own
		}
		if err != nil {
			return now, fmt.Errorf("note the sweep: %w", err)
		}
		return since, nil
	}
	return now, fmt.Errorf("note the sweep: %w", table.ErrConflict)
}
