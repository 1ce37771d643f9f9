//go:build !unix

package local

import "time"

var start = time.Now()

// processorTime returns the time since the start: this system does not tell the processor's.
func processorTime() time.Duration { return time.Since(start) }
