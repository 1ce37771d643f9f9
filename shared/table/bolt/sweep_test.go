package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/bolt"
	"docent/shared/table/bolt/bolttest"
)

func stored(t *testing.T, s *bolt.Store, items, expiring int) {
	t.Helper()
	gotItems, gotExpiring, err := s.Stored(t.Context(), table.Documents)
	if err != nil || gotItems != items || gotExpiring != expiring {
		t.Errorf("%d items and %d listed as expiring (%v), want %d and %d", gotItems, gotExpiring, err, items, expiring)
	}
}

func TestSweepRemovesWhatHasExpired(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	var passed atomic.Int64 // seconds since start
	now := func() time.Time { return start.Add(time.Duration(passed.Load()) * time.Second) }
	s := bolttest.OpenAt(t, now)
	const count = 2*bolt.SweepStep + 10
	for n := range count {
		if err := s.Write(t.Context(), table.Put{Item: table.Item{
			Key:     table.Key{Table: table.Documents, Partition: "p", Sort: fmt.Sprint(n)},
			Expires: start.Add(time.Duration(n+1) * time.Second),
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Write(t.Context(), table.Put{Item: item("kept", nil)}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ at, removed, left int }{
		{0, 0, count}, {1, 1, count - 1}, {1, 0, count - 1}, {5, 4, count - 5}, {count, count - 5, 0}, {2 * count, 0, 0},
	} {
		passed.Store(int64(step.at))
		removed, err := s.Sweep(t.Context())
		if err != nil || removed != step.removed {
			t.Fatalf("after %d s: removed %d, %v; want %d", step.at, removed, err, step.removed)
		}
		stored(t, s, step.left+1, step.left)
	}
}

func TestSweepFollowsAChangedExpiry(t *testing.T) {
	t.Parallel()
	start := time.Now().Truncate(time.Second)
	var passed atomic.Int64
	s := bolttest.OpenAt(t, func() time.Time { return start.Add(time.Duration(passed.Load())) })
	put := func(sort string, expires time.Time) {
		t.Helper()
		next := item(sort, nil)
		next.Expires = expires
		if err := s.Write(t.Context(), table.Put{Item: next}); err != nil {
			t.Fatal(err)
		}
	}
	early, late := start.Add(time.Minute), start.Add(time.Hour)
	for _, sort := range []string{"later", "never", "deleted", "same"} {
		put(sort, early)
	}
	put("later", late)
	put("never", time.Time{})
	if err := s.Write(t.Context(), table.Delete{Key: item("deleted", nil).Key}); err != nil {
		t.Fatal(err)
	}
	stored(t, s, 3, 2)
	passed.Store(int64(2 * time.Minute))
	if removed, err := s.Sweep(t.Context()); removed != 1 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
	stored(t, s, 2, 1)
	passed.Store(int64(2 * time.Hour))
	if removed, err := s.Sweep(t.Context()); removed != 1 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
	stored(t, s, 1, 0)
}

func TestSweepStopsWithItsContext(t *testing.T) {
	t.Parallel()
	s := bolttest.Open(t)
	gone := item("a", nil)
	gone.Expires = time.Now().Add(-time.Minute)
	if err := s.Write(t.Context(), table.Put{Item: gone}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if removed, err := s.Sweep(ctx); removed != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("removed %d, %v", removed, err)
	}
	stored(t, s, 1, 1)
}
