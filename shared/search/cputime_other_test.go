//go:build !linux

package search_test

import "time"

var began = time.Now()

// cpuTime returns the elapsed time on systems without a known clock of the process.
func cpuTime() time.Duration { return time.Since(began) }
