package usage_test

import (
	"context"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/usage"
)

// total returns the sum of all calls of the last hour.
func total(t *testing.T, c *usage.Counter) usage.Metrics {
	t.Helper()
	page, _, err := c.Report(t.Context(), teamID, now, usage.Query{Zone: time.UTC, Granularity: usage.Hour, Limit: 1, Start: now.Add(-time.Minute), End: now})
	if err != nil || len(page) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	if len(page[0].Results) == 0 {
		return usage.Metrics{}
	}
	return page[0].Results[0].Metrics
}

func call(numbers map[string]int64) usage.Call {
	return usage.Call{At: now, Feature: "context.search", KeyID: "k", Numbers: numbers, Latency: 10 * time.Millisecond, Source: "wiki"}
}

// TestCallsAreCountedByTheirEnd: the report has what End passed, whatever Begin assumed, for
// the key and for the source.
func TestCallsAreCountedByTheirEnd(t *testing.T) {
	t.Parallel()
	ok := map[string]int64{usage.OK: 1, usage.Sources: 10}
	for _, c := range []struct {
		name         string
		begun, ended map[string]int64
		want         usage.Metrics // of this call only
	}{
		{"as foreseen", ok, ok, usage.Metrics{Requests: 1, OK: 1, Sources: 10}},
		{"with less", ok, map[string]int64{usage.OK: 1, usage.Sources: 3}, usage.Metrics{Requests: 1, OK: 1, Sources: 3}},
		{"with nothing", ok, map[string]int64{usage.OK: 1, usage.Empty: 1}, usage.Metrics{Requests: 1, OK: 1, Empty: 1}},
		{"with more", ok, map[string]int64{usage.OK: 1, usage.Sources: 10, usage.Bytes: 5}, usage.Metrics{Requests: 1, OK: 1, Sources: 10, Bytes: 5}},
		{"refused", ok, map[string]int64{usage.Refused: 1}, usage.Metrics{Requests: 1, Refused: 1}},
		{"failed", ok, map[string]int64{usage.Error: 1}, usage.Metrics{Requests: 1, Error: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			counter := usage.Patient(bolttest.OpenAt(t, func() time.Time { return now }))
			if counter.Begin(t.Context(), teamID, call(c.begun)) != nil {
				t.Fatal("the first call of a row was begun, so that it has no latency")
			}
			first := call(nil)
			first.Source = ""
			if _, err := counter.Count(t.Context(), teamID, first); err != nil {
				t.Fatal(err)
			}
			tally := counter.Begin(t.Context(), teamID, call(c.begun))
			if tally == nil {
				t.Fatal("the second call of a row was not begun")
			}
			if n, err := tally.End(c.ended, 100*time.Millisecond); n != 0 || err != nil {
				t.Fatalf("%d uncertain, %v", n, err)
			}
			if err := counter.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := total(t, counter)
			if p50, p95 := got.LatencyMsP50, got.LatencyMsP95; p50 != 16 || p95 < 64 || p95 > 128 {
				t.Errorf("latency of calls of 10 and 100 ms: %d, %d", p50, p95)
			}
			got.LatencyMsP50, got.LatencyMsP95 = 0, 0
			if got != c.want {
				t.Errorf("by key: %+v, want %+v", got, c.want)
			}
			page, _, err := counter.Report(t.Context(), teamID, now, usage.Query{Zone: time.UTC, Granularity: usage.Hour, Limit: 1,
				Start: now.Add(-time.Minute), End: now, Collection: "wiki"})
			if err != nil || len(page[0].Results) != 1 || page[0].Results[0].Metrics != c.want {
				t.Errorf("by source: %+v, %v, want %+v", page, err, c.want)
			}
		})
	}
}

// TestLatencyGoesWithTheNextCall: latency not added when a call ends is added with the next
// one, once.
func TestLatencyGoesWithTheNextCall(t *testing.T) {
	t.Parallel()
	c := usage.Patient(bolttest.OpenAt(t, func() time.Time { return now }))
	one := call(map[string]int64{usage.OK: 1})
	one.Latency = time.Second
	if _, err := c.Count(t.Context(), teamID, one); err != nil {
		t.Fatal(err)
	}
	for range 9 {
		if _, err := c.Begin(t.Context(), teamID, one).End(one.Numbers, 3*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	// Nine are counted by now, eight of them with the latency of the one before.
	if got := total(t, c); got.OK != 10 || got.LatencyMsP50 < 2 || got.LatencyMsP50 > 4 {
		t.Errorf("%+v", got)
	}
	for range 2 { // the second has nothing to add
		if err := c.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	item, err := c.Table.Get(t.Context(), table.Key{Table: table.Usage, Partition: teamID + "/2026-11", Sort: "2026-11-21T09#K#context.search#k#-#api"})
	if err != nil || item.Numbers["l1"] != 9 || item.Numbers["l9"] != 1 || item.Numbers[usage.OK] != 10 {
		t.Errorf("%v, %v", item.Numbers, err)
	}
}

// TestCountingNeverHoldsUp: the end of a request does not lose its count, and a store that
// hangs delays it by at most the limit.
func TestCountingNeverHoldsUp(t *testing.T) {
	t.Parallel()
	store := bolttest.OpenAt(t, func() time.Time { return now })
	c := usage.Patient(store)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := c.Count(gone, teamID, call(map[string]int64{usage.OK: 1})); n != 0 || err != nil {
		t.Errorf("%d uncertain, %v", n, err)
	}
	if got := total(t, c); got.OK != 1 {
		t.Errorf("%+v", got)
	}
	metered, meter := table.WithMeter(t.Context())
	if _, err := c.Count(metered, teamID, call(map[string]int64{usage.OK: 1})); err != nil || meter.Read() != (table.Cost{}) {
		t.Errorf("the request is metered with %+v, %v", meter.Read(), err)
	}
	hanging := &usage.Counter{Table: hangs{store}}
	if n, err := hanging.Count(t.Context(), teamID, call(map[string]int64{usage.OK: 1})); n != 2 || err == nil {
		t.Errorf("%d uncertain, %v, want both adds", n, err)
	}
}

// hangs is a store whose adds return only when their context ends.
type hangs struct{ table.Store }

func (hangs) Add(ctx context.Context, _ table.Add) (table.Item, error) {
	<-ctx.Done()
	return table.Item{}, ctx.Err()
}

// TestFailedBeginningsAreUncertain: End reports an add of Begin that failed, and does not
// repeat it.
func TestFailedBeginningsAreUncertain(t *testing.T) {
	t.Parallel()
	plan := &faulttest.Plan{}
	c := usage.Patient(faulttest.Table{Store: bolttest.OpenAt(t, func() time.Time { return now }), Plan: plan})
	one := call(map[string]int64{usage.OK: 1})
	one.Source = ""
	if _, err := c.Count(t.Context(), teamID, one); err != nil {
		t.Fatal(err)
	}
	plan.Arm(faulttest.FailBefore, 1)
	if n, err := c.Begin(t.Context(), teamID, one).End(one.Numbers, time.Millisecond); n != 1 || err == nil {
		t.Errorf("%d uncertain, %v", n, err)
	}
	plan.Disarm()
	if got := total(t, c); got.OK != 1 {
		t.Errorf("%+v", got)
	}
}
