package local

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"docent/shared/queue"

	"github.com/google/uuid"
)

// message is a message that is not done. After a delivery it is due again when its
// visibility timeout ends.
type message struct {
	id       string
	number   int64     // of its Send: orders messages that are due together
	due      time.Time // when it can be received
	given    time.Time // of the last delivery, or of the last Retry after it
	receives int
	body     string
	group    string
	place    int  // in the heap that it is in
	ready    bool // it is in the heap of its group, otherwise in that of the queue
}

// delivery returns m in the form that a receiver gets.
func (m *message) delivery() queue.Message {
	return queue.Message{ID: m.id, Receipt: receipt{m.id, m.receives}.String(), Body: []byte(m.body), Receives: m.receives}
}

// dueHeap is a heap of messages by when they are due, then by when they were sent.
type dueHeap []*message

func (o dueHeap) Len() int { return len(o) }

func (o dueHeap) Less(i, j int) bool {
	if c := o[i].due.Compare(o[j].due); c != 0 {
		return c < 0
	}
	return o[i].number < o[j].number
}

func (o dueHeap) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].place, o[j].place = i, j
}

// Push implements heap.Interface.
func (o *dueHeap) Push(m any) {
	added := m.(*message)
	added.place = len(*o)
	*o = append(*o, added)
}

// Pop implements heap.Interface.
func (o *dueHeap) Pop() any {
	last := len(*o) - 1
	m := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return m
}

// receipt names one delivery: "{id}#{receives}".
type receipt struct {
	id       string
	receives int
}

func (r receipt) String() string { return r.id + "#" + strconv.Itoa(r.receives) }

func parseReceipt(text string) (receipt, error) {
	id, receives, _ := strings.Cut(text, "#")
	n, bad := strconv.Atoi(receives)
	r := receipt{id, n}
	if uuid.Validate(id) != nil || bad != nil || n < 1 || n > queue.MaxReceives || r.String() != text {
		return receipt{}, fmt.Errorf("%w: malformed receipt", queue.ErrInvalid)
	}
	return r, nil
}
