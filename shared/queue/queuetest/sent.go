package queuetest

import (
	"context"

	"docent/shared/queue"
)

// Sent is a queue that keeps what is sent. Nothing can be received from it.
type Sent struct {
	queue.Queue
	Bodies [][]byte // of all messages, in order
	Err    error    // returned by Send, which keeps the messages anyway
}

// Send keeps the bodies of messages and returns Err.
func (q *Sent) Send(_ context.Context, messages ...queue.Outgoing) error {
	for _, m := range messages {
		q.Bodies = append(q.Bodies, m.Body)
	}
	return q.Err
}
