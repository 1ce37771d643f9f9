// Package memorytest has a request for tests of what a request holds.
package memorytest

import (
	"context"
	"testing"
	"time"

	"docent/shared/memory"
)

// OnePlace returns the context of a request that holds the only place of the pool places.
func OnePlace(t *testing.T) (ctx context.Context, places *memory.Pool) {
	t.Helper()
	room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Writes: memory.NewPool(1, 0), Bytes: memory.NewPool(1, 0), Patience: time.Minute}
	work := room.Work("a")
	t.Cleanup(work.End)
	if err := work.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return memory.WithWork(t.Context(), work), room.Places
}
