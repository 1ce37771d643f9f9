package main

import "sync"

// tally counts what clients saw of one attack.
type tally struct {
	mu       sync.Mutex
	Requests int         // that were begun
	Statuses map[int]int // of complete replies
	Cut      int         // connections that the server closed without a complete reply
	Held     int         // that were still open at the end of the run
	Late     int         // that this client gave up on
	Faults   []string    // the first replies with a 5xx that is not 503
}

// maxFaults is how many faults are kept.
const maxFaults = 5

func (t *tally) begin() { t.add(func() { t.Requests++ }) }
func (t *tally) cut()   { t.add(func() { t.Cut++ }) }
func (t *tally) hold()  { t.add(func() { t.Held++ }) }
func (t *tally) late()  { t.add(func() { t.Late++ }) }

// status counts a reply. fault describes the reply, in case it is a fault of the server.
func (t *tally) status(status int, fault string) {
	t.add(func() {
		if t.Statuses == nil {
			t.Statuses = map[int]int{}
		}
		t.Statuses[status]++
		if status >= 500 && status != 503 && len(t.Faults) < maxFaults {
			t.Faults = append(t.Faults, fault)
		}
	})
}

func (t *tally) add(count func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	count()
}

// sum returns how many replies had a status that of accepts.
func (t *tally) sum(of func(status int) bool) (n int) {
	for status, count := range t.Statuses {
		if of(status) {
			n += count
		}
	}
	return n
}
