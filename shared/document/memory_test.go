package document_test

import (
	"errors"
	"strings"
	"testing"

	"docent/shared/memory"
)

// TestAReadThatWaitsForMemoryHoldsLittle: many requests may wait to read the same long document, so none allocates
// anything for its chunks before it has the memory. Allocations are counted, so it does not run in parallel.
func TestAReadThatWaitsForMemoryHoldsLittle(t *testing.T) {
	h := newFixture(t)
	const chunks = 1000 // at least
	id, _ := h.put(h.text("Handbook", strings.Repeat("Expenses are paid back within a month. ", chunks*4000/39)))
	room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Bytes: memory.NewPool(1, 0), Small: 1 << 40}
	if err := room.Bytes.Lease("another").Try(1); err != nil {
		t.Fatal(err)
	}
	ctx := memory.WithWork(t.Context(), room.Work("reader"))
	allocated := testing.AllocsPerRun(3, func() {
		if _, err := h.Get(ctx, teamID, id, everyone); !errors.Is(err, memory.ErrBusy) {
			t.Errorf("a read without memory: %v", err)
		}
	})
	if allocated > chunks/2 {
		t.Errorf("a read that was refused memory allocated %g objects", allocated)
	}
}
