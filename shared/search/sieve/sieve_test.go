package sieve_test

import (
	"sync"
	"testing"

	"pgregory.net/rapid"

	"docent/shared/search/sieve"
)

func TestWhatWasNotUsedIsForgottenFirst(t *testing.T) {
	t.Parallel()
	c := sieve.New[string, int](10)
	c.Put("a", 1, 4)
	c.Put("b", 2, 4)
	c.Get("a")
	c.Put("c", 3, 4)
	if _, ok := c.Get("b"); ok {
		t.Error("b is kept, over the bound and not used")
	}
	for key, want := range map[string]int{"a": 1, "c": 3} {
		if got, ok := c.Get(key); !ok || got != want {
			t.Errorf("%s: %d, %v, want %d", key, got, ok, want)
		}
	}
}

func TestAValueOverTheBoundIsNotKept(t *testing.T) {
	t.Parallel()
	c := sieve.New[string, int](10)
	c.Put("a", 1, 10)
	c.Put("b", 2, 11)
	if _, ok := c.Get("b"); ok {
		t.Error("b is kept")
	}
	if _, ok := c.Get("a"); !ok {
		t.Error("a was forgotten for a value that is not kept")
	}
}

func TestRemovingMakesRoom(t *testing.T) {
	t.Parallel()
	c := sieve.New[string, int](10)
	c.Put("a", 1, 6)
	c.Put("b", 2, 4)
	c.Remove("a")
	c.Put("c", 3, 6)
	if _, ok := c.Get("a"); ok {
		t.Error("a is kept")
	}
	if _, ok := c.Get("b"); !ok {
		t.Error("b was forgotten although there was room")
	}
}

func TestAnEntryThatWasForgottenHasNoValue(t *testing.T) {
	t.Parallel()
	c := sieve.New[string, int](10)
	e := c.Put("a", 1, 6)
	if got, ok := e.Value(); !ok || got != 1 {
		t.Errorf("kept: %d, %v", got, ok)
	}
	c.Remove("a")
	if _, ok := e.Value(); ok {
		t.Error("the entry has a value")
	}
	if _, ok := c.Entry("a").Value(); ok {
		t.Error("no entry has a value")
	}
}

// Whatever is done, the costs are those of what is kept, within the bound, and every value is that of its key.
func TestTheBoundHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const bound, keys = 20, 12
		c := sieve.New[int, int](bound)
		entries := map[int]*sieve.Entry[int, int]{}
		costs := map[int]int64{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			key := rapid.IntRange(0, keys-1).Draw(t, "key")
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				c.Remove(key)
			case 1:
				c.Get(key)
			default:
				_, kept := c.Get(key)
				cost := int64(rapid.IntRange(0, bound+1).Draw(t, "cost"))
				e := c.Put(key, key, cost)
				if !kept && (e != nil) != (cost <= bound) {
					t.Fatalf("a value of cost %d is kept: %v", cost, e != nil)
				}
				if !kept {
					costs[key] = cost
				}
				if e != nil {
					entries[key] = e
				}
			}
			sum := int64(0)
			for key, e := range entries {
				held, ok := e.Value()
				got, kept := c.Get(key)
				if ok != kept || ok && (held != key || got != key) {
					t.Fatalf("key %d: %d, %v by its entry, %d, %v by its key", key, held, ok, got, kept)
				}
				if kept {
					sum += costs[key]
				}
			}
			if c.Cost() != sum || sum > bound {
				t.Fatalf("costs %d, kept %d, bound %d", c.Cost(), sum, bound)
			}
		}
	})
}

func TestOthersWhoUseEntriesDoNotStopForgetting(t *testing.T) {
	t.Parallel()
	c := sieve.New[int, int](100)
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range 5000 {
				key := (i*7 + w) % 300
				if got, ok := c.Get(key); ok && got != key {
					t.Errorf("key %d has the value %d", key, got)
				}
				c.Put(key, key, 1)
				if i%50 == 0 {
					c.Remove(key)
				}
			}
		})
	}
	workers.Wait()
	if c.Cost() > 100 {
		t.Errorf("costs %d", c.Cost())
	}
}
