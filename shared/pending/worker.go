package pending

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"docent/shared/queue"
)

// Worker does the pending work of messages. It is the loop that all workers share.
type Worker struct {
	Kind Kind // the one kind that the queue carries; work of another kind fails
	Do   func(ctx context.Context, w Work) error
	// GiveUp records that w failed because of cause and will not be delivered again;
	// nil: nothing is recorded.
	GiveUp func(ctx context.Context, w Work, cause error) error
	Log    *slog.Logger
}

// Batch does the work of each message in turn and returns the ids of the messages
// whose work failed.
func (k Worker) Batch(ctx context.Context, batch []queue.Message) (failed []string) {
	for _, m := range batch {
		w, err := Decode(m.Body)
		if err == nil && w.Kind != k.Kind {
			w, err = Work{}, fmt.Errorf("this queue carries %s, not %s", k.Kind, w.Kind)
		}
		if err == nil {
			err = k.Do(ctx, w)
		}
		if err != nil {
			k.Fail(ctx, m, w, err)
			failed = append(failed, m.ID)
		}
	}
	return failed
}

// Interrupted reports whether err is of work under ctx that its process broke off because it ends. That is not a failure: the work
// is done again.
func Interrupted(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.Canceled) && errors.Is(err, context.Canceled)
}

// Fail logs that the work of m failed because of cause, or was interrupted, and calls GiveUp if it failed and m will
// not be delivered again. Interrupted work stays pending: the sweeper sends it again. w is zero if m could not be
// decoded; that is only logged.
func (k Worker) Fail(ctx context.Context, m queue.Message, w Work, cause error) {
	level, message := slog.LevelError, "work failed"
	interrupted := Interrupted(ctx, cause)
	if interrupted {
		level, message = slog.LevelInfo, "work interrupted; it is done again"
	}
	k.Log.Log(ctx, level, message, "message", m.ID, "kind", w.Kind, "team", w.TeamID, "id", w.ID,
		"receives", m.Receives, "requestId", w.RequestID, "err", cause)
	if interrupted || k.GiveUp == nil || m.Receives < queue.MaxReceives || w.ID == "" {
		return
	}
	// The cause may be ctx's deadline, so the failure is recorded without it.
	if err := k.GiveUp(context.WithoutCancel(ctx), w, cause); err != nil {
		k.Log.ErrorContext(ctx, "failure not recorded", "kind", w.Kind, "id", w.ID, "err", err)
	}
}
