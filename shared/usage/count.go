package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"strconv"
	"sync"
	"time"

	"docent/shared/table"
)

// AddTime limits one add.
const AddTime = 250 * time.Millisecond

// Counter counts calls and reports them. It must not be copied.
type Counter struct {
	Table table.Store

	addTime time.Duration // 0: AddTime; most tests lengthen it

	mu       sync.Mutex
	expected map[string]map[chan struct{}]bool // by team

	known map[rowName]*waitingLatency

	batch *batch        // nil unless Gather runs
	hurry chan struct{} // see soon
}

// rowName identifies a row per key without its hour.
type rowName struct{ teamID, caller string }

// waitingLatency is the latency of calls that were counted before they ended. The next add of
// their row includes it.
type waitingLatency struct {
	call Call
	by   map[string]int64
}

// maxKnown limits the rows whose latency is kept between calls.
const maxKnown = 4096

// buckets is the number of latency buckets: bucket i counts 2^i to 2^(i+1) milliseconds.
const buckets = 18

func bucketOf(d time.Duration) int {
	return min(max(bits.Len64(uint64(max(d.Milliseconds(), 0)))-1, 0), buckets-1)
}

func latencyField(d time.Duration) string { return "l" + strconv.Itoa(bucketOf(d)) }

// Count adds call to its rows, one attempt each, or leaves that to Gather. It returns how many
// adds failed or are uncertain, with their errors. It continues if ctx ends, and the meter of
// ctx does not count it.
func (c *Counter) Count(ctx context.Context, teamID string, call Call) (uncertain int, err error) {
	return c.add(ctx, teamID, call, c.takeLatency(teamID, call))
}

// Tally is a call that is counted while it runs.
type Tally struct {
	counter   *Counter
	ctx       context.Context
	teamID    string
	call      Call
	done      chan struct{} // closed when the fields below are set
	uncertain int
	err       error
}

// Begin counts a call whose outcome is nearly certain and returns at once; the adds run while
// the call finishes. The caller must call End, which corrects call.Numbers; the rest of call
// must be final. The latency is added with the next call of the row. Begin returns nil for the
// first call of a row: use Count then, so that rare rows get a latency.
func (c *Counter) Begin(ctx context.Context, teamID string, call Call) *Tally {
	c.mu.Lock()
	known := c.known[rowName{teamID, call.caller()}] != nil
	c.mu.Unlock()
	if !known {
		return nil
	}
	t := &Tally{counter: c, ctx: ctx, teamID: teamID, call: call, done: make(chan struct{})}
	t.call.Numbers, t.call.Latency = maps.Clone(call.Numbers), 0
	rows := rowsOf(teamID, t.call, c.takeLatency(teamID, call))
	if c.gather(rows) {
		close(t.done)
		return t
	}
	go func() {
		defer close(t.done)
		t.uncertain, t.err = c.addNow(ctx, rows)
	}()
	return t
}

// End waits for the adds of Begin, and adds the difference between numbers and those of Begin.
// It returns what Count returns.
func (t *Tally) End(numbers map[string]int64, took time.Duration) (uncertain int, err error) {
	t.counter.keepLatency(t.teamID, t.call, took)
	differ := maps.Clone(numbers)
	for name, n := range t.call.Numbers {
		if differ[name] -= n; differ[name] == 0 {
			delete(differ, name)
		}
	}
	<-t.done
	if len(differ) == 0 {
		return t.uncertain, t.err
	}
	correction := t.call
	correction.Numbers = differ
	more, err := t.counter.add(t.ctx, t.teamID, correction, nil)
	return t.uncertain + more, errors.Join(t.err, err)
}

// takeLatency returns the latency to add with the next add of the row of call, and remembers
// the row.
func (c *Counter) takeLatency(teamID string, call Call) map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := rowName{teamID, call.caller()}
	if c.known == nil {
		c.known = map[rowName]*waitingLatency{}
	}
	row := c.known[name]
	if row == nil {
		if len(c.known) < maxKnown {
			c.known[name] = &waitingLatency{}
		}
		return nil
	}
	by := row.by
	row.by = nil
	return by
}

func (c *Counter) keepLatency(teamID string, call Call, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	row := c.known[rowName{teamID, call.caller()}]
	if row == nil || took <= 0 {
		return
	}
	if row.by == nil {
		row.by = map[string]int64{}
	}
	row.by[latencyField(took)]++
	row.call = call
}

// Flush adds the latency that waits for the next call of its row. A process that ends without
// Flush loses at most the latency of the last call of each row.
func (c *Counter) Flush(ctx context.Context) error {
	c.mu.Lock()
	known := c.known
	c.known = nil
	c.mu.Unlock()
	var errs []error
	for name, row := range known {
		if len(row.by) == 0 {
			continue
		}
		row.call.Numbers, row.call.Latency, row.call.AnswerLatency, row.call.Source = nil, 0, 0, ""
		_, err := c.add(ctx, name.teamID, row.call, row.by)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// add adds call to its rows, and by to the row per key.
func (c *Counter) add(ctx context.Context, teamID string, call Call, by map[string]int64) (uncertain int, err error) {
	rows := rowsOf(teamID, call, by)
	if c.gather(rows) {
		return 0, nil
	}
	return c.addNow(ctx, rows)
}

// rowsOf returns what call adds to its rows, with by in the row per key.
func rowsOf(teamID string, call Call, by map[string]int64) []table.Add {
	rows := []table.Add{call.keyRow(teamID)}
	for name, n := range by {
		rows[0].By[name] += n
	}
	if call.Source != "" {
		rows = append(rows, call.sourceRow(teamID))
	}
	return rows
}

// addNow adds rows to the table, without waiting for others to add together.
func (c *Counter) addNow(ctx context.Context, rows []table.Add) (uncertain int, err error) {
	ctx, _ = table.WithMeter(context.WithoutCancel(ctx))
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.addTime, AddTime))
	defer cancel()
	errs := make([]error, len(rows))
	var all sync.WaitGroup
	for i, row := range rows {
		all.Go(func() { _, errs[i] = c.Table.Add(ctx, row) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			uncertain++
		}
	}
	if err := errors.Join(errs...); err != nil {
		return uncertain, fmt.Errorf("count usage: %w", err)
	}
	return 0, nil
}
