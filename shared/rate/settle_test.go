package rate_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/clocktest"
	"docent/shared/rate"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

// fleet is the containers of a function, which share buckets through a table.
type fleet struct {
	clock      *clocktest.Clock
	store      table.Store
	containers []*rate.Limiter
}

func newFleet(t *testing.T, containers, perSecond int) *fleet {
	f := &fleet{clock: clocktest.New(start)}
	f.store = patientStore{bolttest.OpenAt(t, f.clock.Now)}
	for range containers {
		f.containers = append(f.containers, &rate.Limiter{PerSecond: perSecond, Now: f.clock.Now, Table: f.store})
	}
	return f
}

// patientStore ignores deadlines, which are of real time: a slow machine exceeds SettleTime.
type patientStore struct{ table.Store }

// Add implements table.Store.
func (s patientStore) Add(ctx context.Context, a table.Add) (table.Item, error) {
	return s.Store.Add(context.WithoutCancel(ctx), a)
}

// request sends one request to container i and reports whether it passed.
func (f *fleet) request(t *testing.T, i int, key string) bool {
	t.Helper()
	if _, err := f.containers[i].Take("team", key); err != nil {
		return false
	}
	if err := f.containers[i].Settle(t.Context(), "team", key); err != nil {
		t.Fatal(err)
	}
	return true
}

// TestContainersKeepTheBound simulates containers that a team floods, in every order that the
// seeds give: no span of time has more requests than the bound of the package comment, and none
// of a team's share is lost.
func TestContainersKeepTheBound(t *testing.T) {
	t.Parallel()
	const perSecond, seconds = 100, 30
	for _, c := range []struct {
		name       string
		containers int
		offered    int // per second
	}{
		{"one container", 1, 1000}, {"ten", 10, 1000}, {"fifty", 50, 1000}, {"a little too much", 20, 130},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, c.containers, perSecond)
			random := rand.New(rand.NewPCG(1, uint64(c.containers)))
			keys := []string{"a", "b", "c", "d"} // so that the team's bucket is the one that empties
			begin := f.clock.Now()
			var passed []time.Duration
			for range seconds * c.offered {
				f.clock.Advance(time.Second / time.Duration(c.offered))
				if f.request(t, random.IntN(c.containers), keys[random.IntN(len(keys))]) {
					passed = append(passed, f.clock.Now().Sub(begin))
				}
			}
			const capacity = perSecond * 10
			slack := float64(capacity + capacity/100*c.containers)
			worst := 0.0 // Kadane's way over all spans
			for i, n := 0, 0.0; i < len(passed); i++ {
				if i > 0 {
					n = max(n-float64(perSecond)*(passed[i]-passed[i-1]).Seconds(), 0)
				}
				n++
				worst = max(worst, n)
			}
			if worst > slack+1 {
				t.Errorf("%.0f requests more than the rate in some span, want at most %.0f", worst, slack)
			}
			share := min(perSecond*seconds, c.offered*seconds)
			if len(passed) < share {
				t.Errorf("%d passed, want at least %d", len(passed), share)
			}
		})
	}
}

// A team within its limit is never refused, whatever containers its requests meet.
func TestContainersRefuseNobodyWithinTheLimit(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 8, 100)
	random := rand.New(rand.NewPCG(2, 3))
	keys := []string{"a", "b", "c", "d"}
	for n := range 6000 {
		f.clock.Advance(10100 * time.Microsecond)
		if !f.request(t, random.IntN(8), keys[n%len(keys)]) {
			t.Fatalf("request %d was refused", n)
		}
	}
}

// Settling costs at most two writes for each hundredth of a bucket, and nothing for less.
func TestSettlingIsRare(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, 100)
	counting := &countingStore{Store: f.store}
	f.containers[0].Table = counting
	for range 9 {
		f.request(t, 0, "key")
	}
	if counting.adds.Load() > 1 { // the key's bucket is half as large
		t.Errorf("%d writes for 9 requests", counting.adds.Load())
	}
	for range 391 {
		f.request(t, 0, "key")
	}
	if most, adds := int64(2*(400/10+400/5)), counting.adds.Load(); adds == 0 || adds > most {
		t.Errorf("%d writes for 400 requests, want at most %d", adds, most)
	}
}

type countingStore struct {
	table.Store
	adds atomic.Int64
}

func (s *countingStore) Add(ctx context.Context, a table.Add) (table.Item, error) {
	s.adds.Add(1)
	return s.Store.Add(ctx, a)
}

type brokenStore struct{ table.Store }

func (brokenStore) Add(context.Context, table.Add) (table.Item, error) {
	return table.Item{}, table.ErrThrottled
}

// Without the table each container counts alone.
func TestAFailedSettlementRefusesNoRequest(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, 10)
	l := f.containers[0]
	l.Table = brokenStore{f.store}
	for n := range 50 {
		if _, err := l.Take("team", "key"); err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
		if err := l.Settle(t.Context(), "team", "key"); !errors.Is(err, table.ErrThrottled) {
			t.Fatalf("settle: %v", err)
		}
	}
	if _, err := l.Take("team", "key"); err == nil {
		t.Error("not limited")
	}
}
