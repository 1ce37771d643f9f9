package queuetest

import (
	"context"
	"sync"

	"docent/shared/queue"
)

// Sent is a queue that keeps what is sent. Nothing can be received from it.
type Sent struct {
	queue.Queue
	Bodies [][]byte // of all messages, in order; not to be read during Send
	Err    error    // returned by Send, which keeps the messages anyway

	mu sync.Mutex
}

// Send keeps the bodies of messages and returns Err. It may be called by several goroutines at once.
func (q *Sent) Send(_ context.Context, messages ...queue.Outgoing) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range messages {
		q.Bodies = append(q.Bodies, m.Body)
	}
	return q.Err
}
