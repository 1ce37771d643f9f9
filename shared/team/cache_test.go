package team_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"docent/shared/team"
)

var start = time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c team.Cache
	name := func(i int) string { return fmt.Sprintf("%016d", i) }
	for i := range 3 * team.MaxKnown {
		c.Put(name(i), start)
		if i == team.MaxKnown-1 {
			c.Put(name(0), start) // read again: now the newest
		}
		if n := c.Len(); n > team.MaxKnown {
			t.Fatalf("%d keys in memory", n)
		}
		if i == team.MaxKnown {
			if !c.Has(name(0), start) || c.Has(name(1), start) {
				t.Fatal("dropped another key than the one read longest ago")
			}
		}
	}
	if c.Len() != team.MaxKnown || !c.Has(name(2*team.MaxKnown), start) || c.Has(name(2*team.MaxKnown-1), start) {
		t.Errorf("%d keys in memory, or not the youngest", c.Len())
	}
}

func TestCacheForgets(t *testing.T) {
	t.Parallel()
	var c team.Cache
	c.Put("a", start)
	for _, in := range []struct {
		after time.Duration
		has   bool
	}{{0, true}, {team.KnownFor - 1, true}, {team.KnownFor, false}, {-1, false}, {time.Hour, false}} {
		if has := c.Has("a", start.Add(in.after)); has != in.has {
			t.Errorf("after %s: in memory %v", in.after, has)
		}
	}
	c.Remove("a")
	c.Remove("a")
	if c.Has("a", start) || c.Len() != 0 {
		t.Error("still there after Remove")
	}
}

func TestCacheTouchesOncePerMinute(t *testing.T) {
	t.Parallel()
	var c team.Cache
	if !c.Touch("a", start) || !c.Touch("a", start) {
		t.Error("a key that is not in memory is always written")
	}
	c.Put("a", start)
	var wg sync.WaitGroup
	got := make([]bool, 20)
	for i := range got {
		wg.Go(func() { got[i] = c.Touch("a", start) })
	}
	wg.Wait()
	written := 0
	for _, g := range got {
		if g {
			written++
		}
	}
	if written != 1 {
		t.Errorf("%d of 20 concurrent uses are written", written)
	}
	c.Put("a", start.Add(10*time.Second)) // read again
	if c.Touch("a", start.Add(59*time.Second)) || !c.Touch("a", start.Add(time.Minute)) {
		t.Error("not once a minute")
	}
}
