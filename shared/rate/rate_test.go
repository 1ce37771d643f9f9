package rate_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/clocktest"
	"docent/shared/quota"
	"docent/shared/rate"
	"docent/shared/table"
)

var start = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func newLimiter(perSecond int) (*rate.Limiter, *clocktest.Clock) {
	clock := clocktest.New(start)
	return &rate.Limiter{PerSecond: perSecond, Now: clock.Now}, clock
}

// take counts how many of n requests pass.
func take(l *rate.Limiter, teamID, keyID string, n int) (passed int) {
	for range n {
		if _, err := l.Take(teamID, keyID); err == nil {
			passed++
		}
	}
	return passed
}

func TestABucketHoldsTenSecondsAndFillsEvenly(t *testing.T) {
	t.Parallel()
	l, clock := newLimiter(10)
	for _, step := range []struct {
		wait time.Duration
		key  string
		want int
	}{
		{0, "a", 50},                    // half of the team's is a key's
		{0, "b", 50},                    // the rest of the team's
		{0, "c", 0},                     // nothing is left
		{99 * time.Millisecond, "c", 0}, // a token of the team takes 100 ms
		{time.Millisecond, "c", 1},
		{time.Second, "c", 10},
		{time.Second, "a", 10}, // its own has filled for 2.1 s, by 5 a second
		{time.Hour, "a", 50},
		{0, "b", 50},
	} {
		clock.Advance(step.wait)
		if got := take(l, "team", step.key, 1000); got != step.want {
			t.Errorf("after %s: %d of key %s passed, want %d", step.wait, got, step.key, step.want)
		}
	}
	if got := take(l, "another team", "d", 1000); got != 50 {
		t.Errorf("%d of a quiet team passed, want 50", got)
	}
}

// What one bucket refuses is not taken from the other.
func TestARefusalTakesNothing(t *testing.T) {
	t.Parallel()
	l, _ := newLimiter(10)
	if got := take(l, "team", "loud", 1000); got != 50 {
		t.Fatalf("%d passed", got)
	}
	if got := take(l, "team", "quiet", 1000); got != 50 {
		t.Errorf("%d of the other key passed, want 50: refusals were counted", got)
	}
}

func TestTheLimitIsExactForManyAtOnce(t *testing.T) {
	t.Parallel()
	l, _ := newLimiter(100)
	var passed atomic.Int64
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { passed.Add(int64(take(l, "team", fmt.Sprint("key ", i), 100))) })
	}
	all.Wait()
	if passed.Load() != 1000 {
		t.Errorf("%d of 2000 passed, want 1000", passed.Load())
	}
}

func TestStatesAndErrors(t *testing.T) {
	t.Parallel()
	l, _ := newLimiter(2)
	states, err := l.Take("team", "key")
	if err != nil || len(states) != 2 {
		t.Fatal(states, err)
	}
	if got, want := quota.Headers(start, states...), map[string]string{
		"RateLimit-Policy": `"team-rate";q=20;w=10, "key-rate";q=10;w=10`, "RateLimit": `"team-rate";r=19;t=1, "key-rate";r=9;t=1`,
	}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("headers %v, want %v", got, want)
	}
	take(l, "team", "key", 9)
	_, err = l.Take("team", "key")
	var exceeded *rate.ExceededError
	var public *apierr.Error
	if !errors.As(err, &exceeded) || !errors.As(err, &public) {
		t.Fatalf("error %v", err)
	}
	if exceeded.Name != rate.Key || exceeded.Remaining() != 0 || exceeded.RetryAfter() != 1 || public.Code != apierr.CodeRateExceeded || public.Kind != apierr.QuotaExceeded ||
		public.Detail != "This key may send 1 requests per second, and 10 at once. Try again in 1 second." {
		t.Errorf("%+v: %+v", exceeded, public)
	}
	take(l, "team", "other", 10)
	if _, err = l.Take("team", "third"); !errors.As(err, &exceeded) || exceeded.Name != rate.Team {
		t.Errorf("error %v, want one of the team", err)
	}
}

func TestNoLimiterLimitsNothing(t *testing.T) {
	t.Parallel()
	var l *rate.Limiter
	if states, err := l.Take("team", "key"); states != nil || err != nil {
		t.Error(states, err)
	}
	if err := l.Settle(t.Context(), "team", "key"); err != nil {
		t.Error(err)
	}
}

// Buckets that are full again need no memory; the others are never dropped.
func TestManyTeamsAreLimitedExactly(t *testing.T) {
	t.Parallel()
	l, clock := newLimiter(1)
	if got := take(l, "first", "key", 100); got != 10 {
		t.Fatalf("%d passed", got)
	}
	for i := range 20_000 {
		clock.Advance(100 * time.Microsecond)
		take(l, fmt.Sprint("team ", i), "key", 1)
	}
	if got := take(l, "first", "key", 100); got != 2 {
		t.Errorf("%d passed after 2 seconds, want 2", got)
	}
}

// TestAClockThatWasAheadRefusesNobodyForLong fills buckets while the clock is an hour ahead, here or in another container, and sets it right.
func TestAClockThatWasAheadRefusesNobodyForLong(t *testing.T) {
	t.Parallel()
	l, clock := newLimiter(10)
	clock.Advance(time.Hour)
	take(l, "acme", "k", 50)
	clock.Advance(-time.Hour)
	if passed := take(l, "acme", "k", 10); passed != 10 {
		t.Errorf("%d of 10 pass after the clock was set back", passed)
	}
	f := newFleet(t, 2, 10)
	f.clock.Advance(time.Hour)
	for range 40 {
		f.request(t, 0, "k")
	}
	f.clock.Advance(-time.Hour)
	for i := range 40 {
		if !f.request(t, 1, "k") {
			t.Errorf("the request %d to another container is refused", i)
		}
	}
}

// A request that costs as much as several counts as several, for its team and its key, and nobody waits
// for more than a minute.
func TestAChargeIsWaitedForByTheRequestsAfterIt(t *testing.T) {
	t.Parallel()
	l, clock := newLimiter(10)
	l.Charge("team", "loud", rate.Extra(table.Cost{ReadUnits: 30_000, WriteUnits: 2_499})) // 64 of 50
	if got := take(l, "team", "loud", 1); got != 0 {
		t.Error("the key still has tokens")
	}
	if got := take(l, "team", "quiet", 1000); got != 36 {
		t.Errorf("%d of the other key passed, want the 36 that are left of the team's 100", got)
	}
	clock.Advance(2900 * time.Millisecond)
	if got := take(l, "team", "loud", 1); got != 0 {
		t.Error("the key does not wait for what it was charged")
	}
	clock.Advance(100 * time.Millisecond)
	if got := take(l, "team", "loud", 2); got != 1 {
		t.Errorf("%d passed after the wait, want 1", got)
	}
	l.Charge("team", "loud", 1_000_000)
	clock.Advance(time.Minute)
	if got := take(l, "team", "loud", 1000); got != 50 {
		t.Errorf("%d passed a minute after the largest charge, want 50", got)
	}
	var none *rate.Limiter
	none.Charge("team", "key", 1)
}

func TestOrdinaryRequestsCostNothingExtra(t *testing.T) {
	t.Parallel()
	for units, want := range map[float64]int64{0: 0, 499: 0, 500: 1, 1999: 3} {
		if got := rate.Extra(table.Cost{ReadUnits: units}); got != want {
			t.Errorf("%g units: %d, want %d", units, got, want)
		}
	}
}
