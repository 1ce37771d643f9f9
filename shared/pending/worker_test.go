package pending_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"docent/shared/logtest"
	"docent/shared/pending"
	"docent/shared/queue"
)

func message(id string, receives int, w pending.Work) queue.Message {
	return queue.Message{ID: id, Receives: receives, Body: w.Message()}
}

func question(id string) pending.Work {
	return pending.Work{Kind: pending.AnswerQuestion, TeamID: "t", ID: id, At: 1}
}

func TestWorkerReportsOnlyWhatFailed(t *testing.T) {
	t.Parallel()
	var done []string
	var log logtest.Buffer
	worker := pending.Worker{Kind: pending.AnswerQuestion, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Do: func(_ context.Context, w pending.Work) error {
			done = append(done, w.ID)
			if w.ID == "bad" {
				return errors.New("it broke")
			}
			return nil
		}}
	sync := pending.Work{Kind: pending.SyncSource, TeamID: "t", ID: "s", At: 1}
	failed := worker.Batch(t.Context(), []queue.Message{message("1", 1, question("good")), message("2", 1, question("bad")),
		{ID: "3", Body: []byte("{")}, message("4", queue.MaxReceives, sync), message("5", 1, question("last"))})
	if want := []string{"2", "3", "4"}; !slices.Equal(failed, want) {
		t.Errorf("failed %q, want %q", failed, want)
	}
	if want := []string{"good", "bad", "last"}; !slices.Equal(done, want) {
		t.Errorf("done %q, want %q", done, want)
	}
	if n := strings.Count(log.String(), "work failed"); n != 3 || !strings.Contains(log.String(), "it broke") {
		t.Errorf("%d failures logged:\n%s", n, &log)
	}
}

func TestWorkerGivesUpOnTheLastDelivery(t *testing.T) {
	t.Parallel()
	cause := errors.New("it broke")
	given := map[string]error{}
	worker := pending.Worker{Kind: pending.AnswerQuestion, Log: slog.New(slog.DiscardHandler),
		Do: func(context.Context, pending.Work) error { return cause },
		GiveUp: func(ctx context.Context, w pending.Work, cause error) error {
			given[w.ID] = cause
			return ctx.Err()
		}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // as after the deadline
	var log logtest.Buffer
	worker.Log = slog.New(slog.NewTextHandler(&log, nil))
	worker.Batch(ctx, []queue.Message{message("1", queue.MaxReceives-1, question("early")),
		message("2", queue.MaxReceives, question("late")), {ID: "3", Receives: queue.MaxReceives, Body: []byte("{")}})
	if len(given) != 1 || !errors.Is(given["late"], cause) {
		t.Errorf("given up: %v", given)
	}
	if strings.Contains(log.String(), "not recorded") {
		t.Errorf("the failure was recorded after the deadline:\n%s", &log)
	}
}

// TestWorkThatItsProcessEndsIsNoFailure: only an end from outside is none, not a deadline or what the work itself has cancelled.
func TestWorkThatItsProcessEndsIsNoFailure(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	<-late.Done()
	for name, c := range map[string]struct {
		ctx   context.Context
		cause error
		level string
	}{
		"the process ends":        {ended, fmt.Errorf("read: %w", context.Canceled), "level=INFO"},
		"a failure as it ends":    {ended, errors.New("it broke"), "level=ERROR"},
		"its time is over":        {late, fmt.Errorf("read: %w", context.DeadlineExceeded), "level=ERROR"},
		"it cancelled itself":     {t.Context(), context.Canceled, "level=ERROR"},
		"it broke, and goes on":   {t.Context(), errors.New("it broke"), "level=ERROR"},
		"its time and the signal": {late, context.Canceled, "level=ERROR"},
	} {
		var log logtest.Buffer
		givenUp := false
		worker := pending.Worker{Kind: pending.AnswerQuestion, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Do: func(context.Context, pending.Work) error { return c.cause },
			GiveUp: func(context.Context, pending.Work, error) error {
				givenUp = true
				return nil
			}}
		if failed := worker.Batch(c.ctx, []queue.Message{message("1", queue.MaxReceives, question("q"))}); len(failed) != 1 || !strings.Contains(log.String(), c.level) {
			t.Errorf("%s: failed %q, logged %s", name, failed, &log)
		}
		if failed := c.level == "level=ERROR"; givenUp != failed {
			t.Errorf("%s: given up on the last delivery: %t", name, givenUp)
		}
	}
}
