//go:build !unix

package audit_test

import "time"

var began = time.Now()

// cpuTime is the time that has passed, where no clock of the process is known.
func cpuTime() time.Duration { return time.Since(began) }
