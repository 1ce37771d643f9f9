package app

import (
	"runtime"
	"syscall"
)

// Threads that do long work are nicer than others by workNice, at most maxNice, so requests
// get a processor before them. Not by more: every request waits for a collection of garbage, and that waits
// for each of these threads to get a processor.
const (
	workNice = 3
	maxNice  = 19
)

// inBackground runs work on a thread of its own with a lower priority, so that the system
// gives the processors to requests first. The thread ends with it, because its priority
// cannot be raised again. Goroutines that work starts are not affected.
func inBackground(work func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // until the goroutine ends, and the thread with it
		thread := syscall.Gettid()
		// The system call returns 20 minus the niceness. An error leaves it as it is.
		if priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, thread, min(20-priority+workNice, maxNice))
		}
		work()
	}()
	<-done
}
