package usage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/usage"
)

// recorder records the writes and single adds of a store.
type recorder struct {
	table.Store
	err error // of every Write

	mu     sync.Mutex
	writes []int // operations of each
	adds   int
}

func (r *recorder) Write(ctx context.Context, ops ...table.Op) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, len(ops))
	if r.err != nil {
		return r.err
	}
	return r.Store.Write(ctx, ops...)
}

func (r *recorder) Add(ctx context.Context, a table.Add) (table.Item, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.adds++
	return r.Store.Add(ctx, a)
}

// seen returns what was recorded.
func (r *recorder) seen() (writes []int, adds int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.writes), r.adds
}

// gathering runs test with a counter that gathers until stop is called. failed has the adds that failed.
func gathering(t *testing.T, err error, test func(t *testing.T, c *usage.Counter, r *recorder, stop func() (failed int))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{Store: bolttest.OpenAt(t, func() time.Time { return now }), err: err}
		c := &usage.Counter{Table: r}
		ctx, cancel := context.WithCancel(t.Context())
		failed, ended := 0, make(chan struct{})
		go func() {
			defer close(ended)
			c.Gather(ctx, func(uncertain int, _ error) { failed += uncertain })
		}()
		stop := func() int {
			cancel()
			<-ended
			return failed
		}
		defer stop()
		synctest.Wait()
		test(t, c, r, stop)
	})
}

func count(t *testing.T, c *usage.Counter, call usage.Call) {
	t.Helper()
	if n, err := c.Count(t.Context(), teamID, call); n != 0 || err != nil {
		t.Fatalf("%d uncertain, %v", n, err)
	}
}

// TestCountsAreAddedTogether: the calls of a time are one write, with one add for each row,
// also those that are corrected at their end.
func TestCountsAreAddedTogether(t *testing.T) {
	t.Parallel()
	gathering(t, nil, func(t *testing.T, c *usage.Counter, r *recorder, _ func() int) {
		ok := call(map[string]int64{usage.OK: 1, usage.Sources: 10})
		for range 20 {
			count(t, c, ok)
		}
		if _, err := c.Begin(t.Context(), teamID, ok).End(map[string]int64{usage.Error: 1}, time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if writes, adds := r.seen(); len(writes)+adds != 0 {
			t.Errorf("%v and %d are written at once", writes, adds)
		}
		time.Sleep(usage.GatherTime)
		synctest.Wait()
		if writes, adds := r.seen(); len(writes) != 1 || writes[0] != 2 || adds != 0 {
			t.Errorf("writes %v and %d adds, want one write for the key and the source", writes, adds)
		}
		if got := total(t, c); got.OK != 20 || got.Error != 1 || got.Sources != 200 {
			t.Errorf("%+v", got)
		}
	})
}

// TestReportsHaveWhatIsGathered: they do not wait for the next write.
func TestReportsHaveWhatIsGathered(t *testing.T) {
	t.Parallel()
	gathering(t, nil, func(t *testing.T, c *usage.Counter, _ *recorder, _ func() int) {
		for n := range 3 {
			count(t, c, call(map[string]int64{usage.OK: 1}))
			began := time.Now()
			if err := c.Settle(t.Context(), teamID); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited != 0 {
				t.Errorf("waited %v", waited)
			}
			if got := total(t, c); got.OK != int64(n+1) {
				t.Errorf("%d of %d calls", got.OK, n+1)
			}
		}
	})
}

// TestNothingGatheredIsLostAtTheEnd: what waits is added, and what comes later is added at once.
func TestNothingGatheredIsLostAtTheEnd(t *testing.T) {
	t.Parallel()
	gathering(t, nil, func(t *testing.T, c *usage.Counter, r *recorder, stop func() int) {
		count(t, c, call(map[string]int64{usage.OK: 1}))
		failed := stop()
		if writes, _ := r.seen(); failed != 0 || len(writes) != 1 {
			t.Errorf("%d failed, writes %v", failed, writes)
		}
		count(t, c, call(map[string]int64{usage.OK: 1}))
		err := c.Settle(t.Context(), teamID)
		if _, adds := r.seen(); err != nil || adds != 2 {
			t.Errorf("%v, %d adds", err, adds)
		}
		if got := total(t, c); got.OK != 2 {
			t.Errorf("%+v", got)
		}
	})
}

// TestGatheredRowsAreLimited: beyond the limit, rows are added at once, and none is lost.
func TestGatheredRowsAreLimited(t *testing.T) {
	t.Parallel()
	gathering(t, nil, func(t *testing.T, c *usage.Counter, r *recorder, stop func() int) {
		for n := range usage.MaxGathered + 1 {
			one := call(map[string]int64{usage.OK: 1})
			one.KeyID, one.Source = fmt.Sprint(n), ""
			count(t, c, one)
		}
		if writes, adds := r.seen(); adds != 1 || len(writes) != 0 {
			t.Errorf("%d adds and writes %v, want one add", adds, writes)
		}
		if failed := stop(); failed != 0 {
			t.Errorf("%d failed", failed)
		}
		if got := total(t, c); got.OK != usage.MaxGathered+1 {
			t.Errorf("%+v", got)
		}
	})
}

// TestFailedAddsAreReported: with their number.
func TestFailedAddsAreReported(t *testing.T) {
	t.Parallel()
	gathering(t, errors.New("disk"), func(t *testing.T, c *usage.Counter, _ *recorder, stop func() int) {
		count(t, c, call(map[string]int64{usage.OK: 1}))
		if err := c.Settle(t.Context(), teamID); err != nil {
			t.Error(err)
		}
		if failed := stop(); failed != 2 {
			t.Errorf("%d failed, want those of the key and the source", failed)
		}
	})
}
