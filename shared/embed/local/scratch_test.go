package local

import (
	"runtime"
	"strings"
	"testing"

	"docent/shared/embed"
	"docent/shared/embed/local/internal/kernel"
)

// TestCollectionsOfGarbageLeaveTheScratch: beside requests that need much memory there are many in a second. It is not parallel, because it
// counts the allocations of the process.
func TestCollectionsOfGarbageLeaveTheScratch(t *testing.T) {
	e := newEngine(smallFolder(t, smallModel(), []byte(smallTokens)), small, kernel.Sets()[0])
	text := []string{strings.Repeat("the server ", 120)}
	allocations := testing.AllocsPerRun(10, func() {
		runtime.GC()
		runtime.GC() // the second one empties a sync.Pool
		if _, err := e.Embed(t.Context(), text, embed.Passage); err != nil {
			t.Fatal(err)
		}
	})
	const most = 40 // for its tokens and its vector
	if allocations > most {
		t.Errorf("a passage takes %v allocations, more than %d", allocations, most)
	}
}
