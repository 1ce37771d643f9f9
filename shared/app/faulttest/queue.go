package faulttest

import (
	"context"
	"slices"
	"time"

	"docent/shared/queue"
)

// Queue is a queue under a plan.
type Queue struct {
	queue.Queue
	Plan *Plan
}

// Send implements queue.Queue. It panics for a message without a group: all such messages would wait for each other.
func (q Queue) Send(ctx context.Context, messages ...queue.Outgoing) error {
	for _, m := range messages {
		if m.Group == "" {
			panic("a message without a group: " + string(m.Body))
		}
	}
	send := func() error { return q.Queue.Send(ctx, messages...) }
	switch mode := q.Plan.next("Send", len(messages)); mode {
	case "":
		return send()
	case Lose:
		return nil
	case Duplicate:
		if err := send(); err != nil {
			return err
		}
		return send()
	case Delay:
		late := slices.Clone(messages)
		for i := range late {
			late[i].Delay = time.Minute
		}
		return q.Queue.Send(ctx, late...)
	default:
		again := &Plan{armed: true, mode: mode, at: 1}
		return again.run(send, "Send")
	}
}

// Receive implements queue.Queue.
func (q Queue) Receive(ctx context.Context, limit int, wait time.Duration) (batch []queue.Message, err error) {
	err = q.Plan.run(func() (err error) {
		batch, err = q.Queue.Receive(ctx, limit, wait)
		return err
	}, "Receive")
	if err != nil {
		return nil, err // the messages are delivered again after their visibility timeout
	}
	return batch, nil
}

// Done implements queue.Queue.
func (q Queue) Done(ctx context.Context, messages ...queue.Message) error {
	return q.Plan.run(func() error { return q.Queue.Done(ctx, messages...) }, "Done")
}

// Retry implements queue.Queue.
func (q Queue) Retry(ctx context.Context, delay time.Duration, messages ...queue.Message) error {
	return q.Plan.run(func() error { return q.Queue.Retry(ctx, delay, messages...) }, "Retry")
}
