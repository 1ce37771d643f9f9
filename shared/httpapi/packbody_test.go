package httpapi

import (
	"runtime"
	"strings"
	"testing"
)

// TestPackingABodyTakesNoCopyOfIt: what is charged for reading a document has no room for one. The test counts the bytes that the process
// allocates, so it is not parallel.
func TestPackingABodyTakesNoCopyOfIt(t *testing.T) {
	body := strings.Repeat("It compresses well. ", MaxBody/20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := packBody(body); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > MaxBody/4 {
		t.Errorf("%d bytes are allocated to pack %d", got, len(body))
	}
}
