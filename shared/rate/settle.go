package rate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"docent/shared/table"
)

const (
	fullField = "full" // Unix nanoseconds at which the bucket is full again
	// SettleTime bounds one settlement.
	SettleTime = 250 * time.Millisecond
	// keep is how long a bucket is stored. It may start full again after that.
	keep = 24 * time.Hour
	// mostDebt bounds how long a team may be refused, whatever it was charged for.
	mostDebt = 6 * Window
	// wrongClock is beyond what several processes can charge for at the same time. A bucket that would take longer to
	// fill was written by a clock that was ahead.
	wrongClock = 5 * mostDebt
)

func (o owner) key() table.Key {
	k := table.Key{Table: table.Usage, Partition: o.teamID + "/rate", Sort: "team"}
	if o.keyID != "" {
		k.Sort = "key#" + o.keyID
	}
	return k
}

// Settle shares the tokens that this process has given to the team and the key, if there are
// enough of them. It continues if ctx ends, and the meter of ctx does not count it.
func (l *Limiter) Settle(ctx context.Context, teamID, keyID string) error {
	return l.StartSettling(ctx, teamID, keyID)()
}

// StartSettling is Settle in parallel with a request. The caller calls wait before the request ends, and only logs its error. Most
// requests have nothing to settle: these start nothing.
func (l *Limiter) StartSettling(ctx context.Context, teamID, keyID string) (wait func() error) {
	if l == nil || l.Table == nil {
		return settled
	}
	owners := [2]owner{{teamID, ""}, {teamID, keyID}}
	tokens := [2]int64{l.begin(owners[0]), l.begin(owners[1])}
	if tokens == [2]int64{} {
		return settled
	}
	ctx, _ = table.WithMeter(context.WithoutCancel(ctx))
	ctx, cancel := context.WithTimeout(ctx, SettleTime)
	var errs [2]error
	var both sync.WaitGroup
	for i, o := range owners {
		if tokens[i] > 0 {
			both.Go(func() { errs[i] = l.settle(ctx, o, tokens[i]) })
		}
	}
	return func() error {
		defer cancel()
		both.Wait()
		return errors.Join(errs[:]...)
	}
}

func settled() error { return nil }

// begin returns the tokens of o to settle, 0 if there are too few. The caller settles them.
func (l *Limiter) begin(o owner) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(o)
	if b.settles || b.unsaid < l.lot(o) {
		return 0
	}
	tokens := b.unsaid
	b.unsaid, b.settles = 0, true
	return tokens
}

// settle adds tokens to the table's copy of the bucket of o, and takes over what others added.
func (l *Limiter) settle(ctx context.Context, o owner, tokens int64) error {
	now, taken := l.Now(), tokens*l.step(o)
	// The time starts at now if the bucket was full, and otherwise moves on. It never moves back,
	// so the second step meets what the first one saw.
	item, err := l.Table.Add(ctx, table.Add{Key: o.key(), Numbers: map[string]int64{fullField: now.UnixNano() + taken},
		If: table.Below(fullField, now.UnixNano()), Expires: now.Add(keep), Once: true})
	if table.AsConditionFailed(err) != nil {
		item, err = l.Table.Add(ctx, table.Add{Key: o.key(), By: map[string]int64{fullField: taken}, Expires: now.Add(keep), Once: true})
	}
	if err == nil && item.Numbers[fullField] > now.Add(wrongClock).UnixNano() {
		item, err = l.Table.Add(ctx, table.Add{Key: o.key(), Numbers: map[string]int64{fullField: now.UnixNano() + taken}, Expires: now.Add(keep), Once: true})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(o)
	b.settles = false
	if err != nil {
		return fmt.Errorf("settle %s: %w", o.name(), err)
	}
	most := now.Add(mostDebt).UnixNano()
	b.full = max(b.full, min(item.Numbers[fullField], most)+b.unsaid*l.step(o))
	return nil
}
