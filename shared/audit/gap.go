package audit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"docent/shared/table"
)

// gap is a range of numbers that no writer claims. Readers go past it without closing its numbers.
type gap struct{ first, last int64 }

// gaps of a team, ascending. They have numbers between them.
type gaps []gap

// at returns the gap that contains n, or nil.
func (g gaps) at(n int64) *gap {
	for i := range g {
		if g[i].first <= n && n <= g[i].last {
			return &g[i]
		}
	}
	return nil
}

// skip returns the first number from n that is in no gap.
func (g gaps) skip(n int64) int64 {
	if in := g.at(n); in != nil {
		return in.last + 1
	}
	return n
}

// start returns the first number of the gap that contains n; n, if none does.
func (g gaps) start(n int64) int64 {
	if in := g.at(n); in != nil {
		return in.first
	}
	return n
}

// skipDown returns the last number up to n that is in no gap.
func (g gaps) skipDown(n int64) int64 {
	if in := g.at(n); in != nil {
		return in.first - 1
	}
	return n
}

// runEnd returns the last number before the gap after n, but at most last.
func (g gaps) runEnd(n, last int64) int64 {
	for _, one := range g {
		if one.first > n {
			return min(one.first-1, last)
		}
	}
	return last
}

// runStart returns the first number after the gap before n.
func (g gaps) runStart(n int64) int64 {
	for _, one := range slices.Backward(g) {
		if one.last < n {
			return one.last + 1
		}
	}
	return 0
}

// minGap is the smallest gap that SkipNumbers leaves. It matters only if the clock is wrong.
const minGap = 1 << 20

// headsAtOnce limits the heads that one Write of SkipNumbers changes.
const headsAtOnce = table.MaxOps

// SkipNumbers makes the feeds of teams continue far above their last number, after the tables were
// restored from a backup. Events that were recorded after the backup are lost, but their numbers and
// ids are known to collectors and receivers of webhooks; they must not be used again. The feed
// continues at the microseconds since 1970 of now. No number of any earlier course of events is as
// high, unless a team has recorded a million events per second since then, even if the same
// backup is restored twice. Until the year 2255 such a number is exact in JavaScript too.
//
// The skipped numbers are a gap, which readers go past: a cursor in it continues with what comes
// after the restore. SkipNumbers may be repeated, even while events are recorded: each run
// skips more numbers.
func SkipNumbers(ctx context.Context, store table.Store, now time.Time, teamIDs []string) error {
	for some := range slices.Chunk(teamIDs, headsAtOnce) {
		var err error
		for range maxAttempts {
			if err = skipNumbers(ctx, store, now, some); table.AsConditionFailed(err) == nil {
				break // otherwise a writer has claimed a number in the meantime
			}
		}
		if err != nil {
			return fmt.Errorf("skip numbers of the feed: %w", err)
		}
	}
	return nil
}

func skipNumbers(ctx context.Context, store table.Store, now time.Time, teamIDs []string) error {
	keys := make([]table.Key, len(teamIDs))
	heads := make(map[table.Key]head, len(teamIDs))
	for i, id := range teamIDs {
		keys[i] = headKey(id)
	}
	items, err := store.BatchGet(ctx, keys)
	if err != nil {
		return err
	}
	for _, item := range items {
		heads[item.Key] = headFrom(item)
	}
	ops := make([]table.Op, len(keys))
	for i, key := range keys {
		ops[i] = heads[key].skipNumbers(key, now)
	}
	return store.Write(ctx, ops...)
}

// skipNumbers returns the operation that adds a gap after the last number of h, or extends the one
// that ends there. It fails if a number is claimed in the meantime.
func (h head) skipNumbers(key table.Key, now time.Time) table.Add {
	first := h.gaps.start(h.seq)
	if first == h.seq {
		first++
	}
	last := max(now.UnixMicro(), h.seq+minGap)
	return table.Add{Key: key, If: table.Below(seqField, h.seq+1),
		Numbers: map[string]int64{seqField: last, gapPrefix + strconv.FormatInt(first, 10): last}}
}
