package app

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// niceness returns the niceness of the calling thread (proc(5), /proc/pid/stat, field 19).
func niceness(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(syscall.Gettid()) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ") // the name before may contain blanks
	nice, err := strconv.Atoi(strings.Fields(after)[16])
	if err != nil {
		t.Fatal(err)
	}
	return nice
}

// TestWorkInTheBackgroundHasItsOwnPriority: neither its caller nor what it starts gets it.
func TestWorkInTheBackgroundHasItsOwnPriority(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	usual, within, started := niceness(t), 0, make(chan int, 1)
	inBackground(func() {
		within = niceness(t)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			started <- niceness(t)
		}()
		if n := <-started; n != usual {
			t.Errorf("a goroutine that it starts has niceness %d, want %d", n, usual)
		}
	})
	if want := min(usual+workNice, maxNice); within != want {
		t.Errorf("niceness %d, want %d", within, want)
	}
	if n := niceness(t); n != usual {
		t.Errorf("the caller's niceness became %d from %d", n, usual)
	}
}
