// Package growthtest checks that the memory that a function allocates grows with its input and not with the square of
// it. A program that copies a text again for each of its parts, or a table that is filled up to its widest row, fails.
package growthtest

import (
	"runtime"
	"testing"
)

const (
	more   = 4       // times the input of the second call
	most   = 2       // times that the memory may grow more than the input
	ignore = 1 << 20 // bytes that any call may allocate
)

// Linear calls do with n and with four times n, and fails the test if the second call allocates more than eight times as
// many bytes. With work of the square of n it would be sixteen times. The test must not be parallel, because the bytes
// of other tests would count too; Linear panics if it is.
func Linear(t testing.TB, n int, do func(n int)) {
	t.Helper()
	first := Allocated(t, func() { do(n) })
	second := Allocated(t, func() { do(more * n) })
	if second > more*most*first+ignore {
		t.Errorf("%d bytes are allocated for an input of %d, and %d for one of %d", first, n, second, more*n)
	}
}

// Allocated returns how many bytes do allocates. The test must not be parallel.
func Allocated(t testing.TB, do func()) uint64 {
	t.Helper()
	t.Setenv("GROWTHTEST", "1") // panics in a parallel test
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
