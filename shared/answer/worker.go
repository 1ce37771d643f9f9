package answer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/table"
	"docent/shared/usage"
)

// maxDocuments is the limit of the search for a question.
const maxDocuments = 8

// Worker answers questions from their queue.
type Worker struct {
	*Service
	Search func(ctx context.Context, teamID string, q search.Query) (search.Result, error)
	// Compose lets a model write an answer from the passages found, best first. It is
	// called only if something was found. Nil means that no model is configured.
	Compose    func(ctx context.Context, question string, found []search.Hit) (Composed, error)
	Usage      *usage.Counter // nil: nothing is counted
	Log        *slog.Logger
	OnFinished func(context.Context, Answer) // receives each answer that this worker finished; may be nil
}

// Batch answers the questions of a batch and returns the ids of the messages that
// failed. A question leaves Processing once, so a message that is delivered again
// changes nothing.
func (w *Worker) Batch(ctx context.Context, batch []queue.Message) (failed []string) {
	return pending.Worker{Kind: pending.AnswerQuestion, Do: w.answer, GiveUp: w.failedLast, Log: w.Log}.Batch(ctx, batch)
}

// failedLast ends the question of work as failed because of cause. Its message will not
// be delivered again.
func (w *Worker) failedLast(ctx context.Context, work pending.Work, cause error) error {
	failure := Failure{GenerationFailed, "The question could not be answered. Ask it again under a new id."}
	if errors.Is(cause, context.DeadlineExceeded) {
		failure = Failure{TimedOut, "Answering took too long. Ask again under a new id."}
	}
	return w.fail(ctx, work, failure)
}

func (w *Worker) answer(ctx context.Context, work pending.Work) error {
	// A claimed number blocks the feed's readers: claim early, in parallel with the
	// reads, only if no model call follows.
	var event *audit.Claim
	claim := func() { event = w.Events.OrSilent(w.Table).Claim(ctx, work.TeamID, 1) }
	if w.Compose == nil {
		claim()
		defer event.End(ctx)
	}
	a, err := w.Get(ctx, work.TeamID, Asker{}, work.ID)
	if apierr.IsCode(err, apierr.CodeNotFound) || err == nil && a.State != Processing {
		return w.Table.Write(ctx, table.Delete{Key: work.Key()})
	}
	if err != nil {
		return err
	}
	result, err := w.Search(ctx, a.TeamID, search.Query{Text: a.Question, Sources: a.Sources, Limit: maxDocuments})
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	quoted := search.Quote(a.Question, result)
	a.State, a.Markdown = Complete, quoted.Markdown
	for _, r := range quoted.References {
		a.References = append(a.References, Reference{HTMLURL: r.URL, Title: r.Title})
	}
	if quoted.Found {
		w.compose(ctx, &a, result.Best)
	}
	if event == nil {
		claim()
		defer event.End(ctx)
	}
	return w.finish(ctx, a, event)
}

// finish stores the final state of a, unless the question has left Processing.
func (w *Worker) finish(ctx context.Context, a Answer, event *audit.Claim) error {
	ended := a
	ended.origin = audit.Origin{} // the event has it
	item, err := toItem(ended)
	if err != nil {
		return err
	}
	err = event.Write(ctx, []audit.Event{askedEvent(a)},
		table.Put{Item: item, If: table.Is("state", string(Processing))},
		table.Delete{Key: answerWork(a).Key()},
	)
	if table.AsConditionFailed(err) != nil {
		return nil // another worker was first, or it was deleted
	}
	if err != nil {
		return fmt.Errorf("finish answer: %w", err)
	}
	if w.OnFinished != nil {
		w.OnFinished(ctx, a)
	}
	w.recordUsage(ctx, a)
	return nil
}

// recordUsage adds the finished answer to the usage of the key that asked. Only the
// worker that finished the answer calls it, so a message delivered twice counts once.
// By then the answer can be read, so nothing waits for the count.
func (w *Worker) recordUsage(ctx context.Context, a Answer) {
	if w.Usage == nil {
		return
	}
	numbers := map[string]int64{usage.References: int64(len(a.References))}
	switch {
	case a.State == Failed:
		numbers[usage.Failed] = 1
	case len(a.References) == 0:
		numbers[usage.NoAnswer] = 1
	default:
		numbers[usage.Completed] = 1
	}
	if a.Model != nil {
		numbers[usage.InputTokens], numbers[usage.OutputTokens] = int64(a.Model.InputTokens), int64(a.Model.OutputTokens)
	}
	now := w.Now()
	call := usage.Call{At: now, Feature: usage.Answers, KeyID: a.origin.Actor.Credential.ID, UserID: a.UserID, Client: usage.ClientOf(a.origin.Client.UserAgent, a.origin.Request.Route),
		Numbers: numbers, AnswerLatency: max(now.Sub(a.AskedAt), time.Millisecond)}
	if uncertain, err := w.Usage.Count(ctx, a.TeamID, call); err != nil {
		w.Log.WarnContext(ctx, "usage not counted", "question", a.QuestionID, "usage_adds_uncertain", uncertain, "err", err)
	}
}

// GiveUp ends a question as failed that has been pending for too long.
func (w *Worker) GiveUp(ctx context.Context, work pending.Work) error {
	return w.fail(ctx, work, Failure{TimedOut, "The question was not answered in time. Ask it again under a new id."})
}

func (w *Worker) fail(ctx context.Context, work pending.Work, failure Failure) error {
	event := w.Events.OrSilent(w.Table).Claim(ctx, work.TeamID, 1)
	defer event.End(ctx)
	a, err := w.Get(ctx, work.TeamID, Asker{}, work.ID)
	if apierr.IsCode(err, apierr.CodeNotFound) || err == nil && a.State != Processing {
		return w.Table.Write(ctx, table.Delete{Key: work.Key()})
	}
	if err != nil {
		return err
	}
	a.State, a.Failure = Failed, &failure
	return w.finish(ctx, a, event)
}
