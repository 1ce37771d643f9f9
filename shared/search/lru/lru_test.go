package lru_test

import (
	"testing"

	"docent/shared/search/lru"
)

func TestTheLeastRecentlyUsedIsForgottenFirst(t *testing.T) {
	t.Parallel()
	c := lru.New[string, int](10)
	c.Put("a", 1, 4)
	c.Put("b", 2, 4)
	c.Get("a")
	c.Put("c", 3, 4)
	if _, ok := c.Get("b"); ok {
		t.Error("b is kept, over the bound and least recently used")
	}
	for key, want := range map[string]int{"a": 1, "c": 3} {
		if got, ok := c.Get(key); !ok || got != want {
			t.Errorf("%s: %d, %v, want %d", key, got, ok, want)
		}
	}
}

func TestAValueOverTheBoundIsNotKept(t *testing.T) {
	t.Parallel()
	c := lru.New[string, int](10)
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
	c := lru.New[string, int](10)
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
