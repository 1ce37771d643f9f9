package quota_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/quota"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

func TestStepStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	store := bolttest.Open(t)
	w := quota.Day(time.Now())
	var passed, refused atomic.Int64
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() {
			switch _, err := store.Add(t.Context(), quota.Step(quota.AnswersKey("acme", w), w, 50)); {
			case err == nil:
				passed.Add(1)
			case table.AsConditionFailed(err) != nil:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	item, err := store.Get(t.Context(), quota.AnswersKey("acme", w))
	if err != nil || quota.Used(item) != 50 || passed.Load() != 50 || refused.Load() != 10 {
		t.Errorf("counted %d (%v), passed %d, refused %d", quota.Used(item), err, passed.Load(), refused.Load())
	}
}

func TestCountersAreApart(t *testing.T) {
	t.Parallel()
	store := bolttest.Open(t)
	w := quota.Day(time.Now())
	next := quota.Day(w.Reset)
	keys := []table.Key{
		quota.AnswersKey("acme", w), quota.AnswersKey("acme", next), quota.AnswersKey("rival", w),
		quota.CallsKey("acme", "one", w), quota.CallsKey("acme", "two", w), quota.CallsKey("acme", "one", next),
	}
	for i, k := range keys {
		for range i + 1 {
			if _, err := store.Add(t.Context(), quota.Step(k, w, 1000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, k := range keys {
		if item, err := store.Get(t.Context(), k); err != nil || quota.Used(item) != int64(i+1) {
			t.Errorf("%s: %d, %v; want %d", k.Sort, quota.Used(item), err, i+1)
		}
	}
}

func TestCounterOutlivesItsDay(t *testing.T) {
	t.Parallel()
	for _, noon := range []string{"2026-11-21T20:00:00Z", "2026-11-01T20:00:00Z", "2026-03-08T20:00:00Z"} {
		now := at(t, noon)
		w := quota.Day(now)
		store := bolttest.OpenAt(t, func() time.Time { return now })
		k := quota.CallsKey("acme", "one", w)
		for range 2 {
			if _, err := store.Add(t.Context(), quota.Step(k, w, 1000)); err != nil {
				t.Fatal(err)
			}
		}
		now = w.Start.Add(3*24*time.Hour - time.Second)
		if item, err := store.Get(t.Context(), k); err != nil || quota.Used(item) != 2 {
			t.Errorf("before its expiry: %d, %v", quota.Used(item), err)
		}
		now = now.Add(time.Second)
		if _, err := store.Get(t.Context(), k); !errors.Is(err, table.ErrNotFound) {
			t.Errorf("after its expiry: %v", err)
		}
	}
}
