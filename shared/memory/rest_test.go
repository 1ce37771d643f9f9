package memory_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/memory"
)

// TestBackgroundWorkRestsWhileRequestsAreHandled gives the time that work of 10 ms rests.
func TestBackgroundWorkRestsWhileRequestsAreHandled(t *testing.T) {
	t.Parallel()
	const worked = 10 * time.Millisecond
	half := int64(runtime.NumCPU() - runtime.NumCPU()/2)
	for name, c := range map[string]struct {
		place, turn time.Duration // how long requests have all of them
		free        int64         // places and turns that they leave
		ends        time.Duration // when the context ends; 0: it does not
		least, most time.Duration
	}{
		"no request":            {},
		"few requests":          {place: time.Hour, free: 1},
		"requests":              {place: 30 * time.Millisecond, least: 30 * time.Millisecond, most: 32 * time.Millisecond},
		"large requests":        {turn: 30 * time.Millisecond, least: 30 * time.Millisecond, most: 32 * time.Millisecond},
		"requests all the time": {place: time.Hour, least: 90 * time.Millisecond, most: 90 * time.Millisecond},
		"the end of the work":   {place: time.Hour, ends: 15 * time.Millisecond, least: 15 * time.Millisecond, most: 15 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				room := &memory.Room{Places: memory.NewPool(half, 0), Turns: memory.NewPool(half, 0)}
				ctx := memory.WithRests(t.Context(), room)
				if c.ends > 0 {
					bounded, cancel := context.WithTimeout(ctx, c.ends)
					defer cancel()
					ctx = bounded
				}
				hold(t, room.Places, half-c.free, c.place)
				hold(t, room.Turns, half-c.free, c.turn)
				began := time.Now()
				memory.Rest(ctx, worked)
				if rested := time.Since(began); rested < c.least || rested > c.most {
					t.Errorf("rested %v, want %v to %v", rested, c.least, c.most)
				}
			})
		})
	}
}

// hold takes n units of p for a time.
func hold(t *testing.T, p *memory.Pool, n int64, lasting time.Duration) {
	t.Helper()
	if lasting == 0 {
		return
	}
	lease := p.Lease("team")
	if err := lease.Try(n); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(lasting, lease.End)
	t.Cleanup(func() { timer.Stop() })
}

func TestWorkWithoutRequestsDoesNotRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		memory.Rest(t.Context(), time.Second)
		if rested := time.Since(began); rested != 0 {
			t.Errorf("rested %v", rested)
		}
	})
}
