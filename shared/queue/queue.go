// Package queue carries messages from a function that accepts work to the one that does it,
// at least once and in no particular order. queue/sqs keeps them until they are done,
// queue/local only until its process ends; package pending then sends them again. Both pass
// one contract suite, queue/queuetest.
package queue

import (
	"context"
	"errors"
	"time"
)

// Bounds, the same for every engine.
const (
	MaxBatch    = 10      // messages of one Send or Receive
	MaxBytes    = 1 << 20 // bodies of one Send together
	MaxGroup    = 128     // bytes of a group
	MaxReceives = 5       // deliveries before a message becomes a dead letter
)

// ErrInvalid reports no messages or more than MaxBatch, an empty or oversized body, a
// character outside XML 1.0, a delay outside 0 to 15 minutes, a limit outside 1 to
// MaxBatch, a negative wait, a malformed group, or a malformed receipt.
var ErrInvalid = errors.New("invalid queue request")

// Message is one delivery.
type Message struct {
	ID       string // of the message, the same on each delivery
	Receipt  string // of this delivery, for Done and Retry
	Body     []byte // valid UTF-8 text
	Receives int    // deliveries so far, this one included; MaxReceives is the last
}

// Outgoing is a message to send.
type Outgoing struct {
	Body  []byte        // valid UTF-8 text, not empty
	Delay time.Duration // until it can first be received; 0 to 15 minutes
	// Group is whose work it is, such as a team's id; empty: nobody's. While messages of several
	// groups wait, each group has its turn, however many messages another has. At most MaxGroup
	// letters, digits and "-_".
	Group string
}

// Queue is one named queue. Methods are safe for concurrent use.
type Queue interface {
	// Send accepts 1 to MaxBatch messages; when it returns nil the queue has all of
	// them, and on an error it may have some.
	Send(ctx context.Context, messages ...Outgoing) error
	// Receive returns up to limit messages and hides them for the queue's visibility
	// timeout. It waits up to wait for the first one, at most 20 s.
	Receive(ctx context.Context, limit int, wait time.Duration) ([]Message, error)
	// Done deletes delivered messages permanently; doing it twice is not an error.
	Done(ctx context.Context, messages ...Message) error
	// Retry makes delivered messages visible again after delay.
	Retry(ctx context.Context, delay time.Duration, messages ...Message) error
}

// Handler handles a batch of messages and returns the ids of those that failed and
// must be delivered again. The others are done.
type Handler func(ctx context.Context, batch []Message) (failed []string)
