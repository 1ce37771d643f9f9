package pending

import (
	"context"
	"slices"
	"time"

	"docent/shared/queue"
)

// Notice says that something happened, for webhook endpoints. It has ids and a state but no content.
type Notice struct {
	ID    string   `json:"id"`   // the same for the same happening
	Type  string   `json:"type"` // such as "document.indexed"
	At    int64    `json:"at"`   // Unix milliseconds
	State string   `json:"state"`
	About []Target `json:"about,omitempty"` // what it happened to, at most MaxTargets
}

// Target is a record, by its kind and id.
type Target struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// MaxTargets bounds the targets of a Notice.
const MaxTargets = 10

// Types of notices that are not security events.
const (
	DocumentIndexed = "document.indexed"
	DocumentFailed  = "document.failed"
	AnswerCompleted = "answer.completed"
	AnswerFailed    = "answer.failed"
	SourceFailed    = "source.failed"
)

// Topics is a set of kinds of notices that somebody in a team wants. A team without webhook
// endpoints wants none, and then nothing is stored for a notice. The bits are stored: they are
// added, never given another meaning.
type Topics int64

// The topics.
const (
	AboutIndexed Topics = 1 << iota
	AboutUnindexed
	AboutAnswers
	AboutSources
	AboutAuthentication // security events by their category
	AboutIdentity
	AboutConfiguration
	AboutData
	AboutActivity
)

// Announce returns the work of telling a team's webhook endpoints notices, which are not empty.
// Its Promise belongs in the Write of what happened.
func Announce(teamID string, notices ...Notice) Work {
	return Work{Kind: AnnounceEvents, TeamID: teamID, ID: notices[0].ID, At: notices[0].At, Notices: notices}
}

// Outbox sends announced work to its queue. A nil Outbox, or one without a Queue, leaves it to
// the sweeper.
type Outbox struct {
	Queue queue.Queue
	Warn  func(w Work, err error) // logs that a message could not be sent; the sweeper sends it again
}

// Send sends the messages of work that a Write has promised.
func (o *Outbox) Send(ctx context.Context, works ...Work) { o.SendLater(ctx, 0, works...) }

// SendLater sends messages that are received after delay, which is at most queue.MaxDelay.
func (o *Outbox) SendLater(ctx context.Context, delay time.Duration, works ...Work) {
	if o == nil || o.Queue == nil {
		return
	}
	for some := range slices.Chunk(works, queue.MaxBatch) {
		messages := make([]queue.Outgoing, len(some))
		for i, w := range some {
			messages[i] = w.Outgoing(delay)
		}
		if err := o.Queue.Send(context.WithoutCancel(ctx), messages...); err != nil {
			o.Warn(some[0], err)
		}
	}
}
