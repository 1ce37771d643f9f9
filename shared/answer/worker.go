package answer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/document"
	"docent/shared/memory"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/table"
	"docent/shared/uri"
	"docent/shared/usage"
)

// maxDocuments is the limit of the search for a question.
const maxDocuments = 8

// Worker answers questions from their queue.
type Worker struct {
	*Service
	Search func(ctx context.Context, teamID string, q search.Query) (search.Result, error)
	// Compose lets a model write an answer from the passages found, best first. It is
	// called only if something was found. It gives soFar, which may be nil, what it has
	// written and verified so far. Nil means that no model is configured.
	Compose func(ctx context.Context, question, before string, found []search.Hit, soFar func(Composed)) (Composed, error)
	// Readers returns what a user may read at this moment.
	Readers    func(ctx context.Context, teamID, userID string) (access.Reader, error)
	Usage      *usage.Counter // nil: nothing is counted
	Log        *slog.Logger
	OnFinished func(context.Context, Answer) // receives each answer that this worker finished; may be nil
}

// docent is the Asker of the worker itself.
var docent = Asker{Reader: access.Everything()}

// Batch answers the questions of a batch and returns the ids of the messages that
// failed. A question leaves Processing once, so a message that is delivered again
// changes nothing.
func (w *Worker) Batch(ctx context.Context, batch []queue.Message) (failed []string) {
	return pending.Worker{Kind: pending.AnswerQuestion, Do: func(ctx context.Context, work pending.Work) error { return w.Run(ctx, work, Listener{}) },
		GiveUp: w.failedLast, Log: w.Log}.Batch(ctx, batch)
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

// Listener receives what is known of an answer before it is stored. Its functions are called one
// after the other.
type Listener struct {
	Found   func([]Reference) // the documents that the search found, best first
	Written func(Composed)    // the part that the model has written so far; each call continues the one before
}

// Run answers the question of work at once, without the queue, and reports to l. If it fails, the work
// stays pending. If another worker was first, that answer stays, and Run changes nothing.
func (w *Worker) Run(ctx context.Context, work pending.Work, l Listener) error {
	ctx = memory.WithOwner(ctx, work.TeamID)
	// A claimed number blocks the feed's readers: claim early, in parallel with the
	// reads, only if no model call follows.
	var event *audit.Claim
	claim := func() { event = w.Events.OrSilent(w.Table).Claim(ctx, work.TeamID, 1) }
	if w.Compose == nil {
		claim()
		defer event.End(ctx)
	}
	a, err := w.Get(ctx, work.TeamID, docent, work.ID)
	if apierr.IsCode(err, apierr.CodeNotFound) || err == nil && a.State != Processing {
		return w.Table.Write(ctx, table.Delete{Key: work.Key()})
	}
	if err != nil {
		return err
	}
	selected, err := a.Filter()
	if err != nil {
		return err
	}
	reader, err := w.readerOf(ctx, a)
	if err != nil {
		return err
	}
	quoted, result, before, err := w.find(ctx, a, search.Query{Reader: reader, Sources: a.Sources, Limit: maxDocuments, Filter: selected})
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if l.Found != nil {
		l.Found(documentsOf(result))
	}
	a.State, a.Markdown = Complete, quoted.Markdown
	for _, r := range quoted.References {
		a.References = append(a.References, Reference{HTMLURL: r.URL, Title: r.Title})
	}
	if quoted.Found {
		w.compose(ctx, &a, before, result.Best, w.whileReadable(ctx, a, result.Best, l.Written))
	}
	a.Documents, a.Restricted = a.shown(result, quoted)
	texts := document.OfHits(slices.Concat(result.Best, quoted.Closest))
	for _, id := range a.Documents {
		a.Texts = append(a.Texts, texts[id].UnixMilli())
	}
	if event == nil {
		claim()
		defer event.End(ctx)
	}
	return w.finish(ctx, a, event)
}

// find searches for the question of a and quotes what it found. A text that asks several questions is searched for each of them,
// too. before has the questions that belong to that of a.
func (w *Worker) find(ctx context.Context, a Answer, q search.Query) (quoted search.Answer, found search.Result, before string, err error) {
	whole, found, err := w.search(ctx, a.TeamID, q, searches(a.Question, a.Context))
	if err != nil {
		return quoted, found, "", err
	}
	if texts := partsOf(a.Question); len(texts) > 1 {
		parts := make([]search.Part, len(texts))
		for i, text := range texts {
			of, result, err := w.search(ctx, a.TeamID, q, searchesOfPart(texts[:i], text, a.Context))
			if err != nil {
				return quoted, found, "", err
			}
			parts[i] = search.Part{Text: text, Asked: of.text, Result: result}
		}
		if quoted = search.QuoteParts(parts); quoted.Found {
			return quoted, joined(parts), whole.before, nil
		}
	}
	return search.Quote(whole.text, found), found, whole.before, nil
}

// search searches for one of texts after the other, and returns what it searched for last and what it found. If it finds nothing, it
// returns the result for the question alone.
func (w *Worker) search(ctx context.Context, teamID string, q search.Query, texts []asked) (of asked, found search.Result, err error) {
	for _, next := range texts {
		q.Text, q.Carried = next.text, next.carried
		result, err := w.Search(ctx, teamID, q)
		if err != nil || result.Found() {
			return next, result, err
		}
		if next.before == "" {
			of, found = next, result
		}
	}
	return of, found, nil
}

// documentsOf returns the documents of what was found, each once.
func documentsOf(r search.Result) []Reference {
	var out []Reference
	if !r.Found() {
		return out
	}
	seen := map[uuid.UUID]bool{}
	for _, h := range r.Best {
		if !seen[h.Document] {
			seen[h.Document] = true
			out = append(out, Reference{HTMLURL: h.Address(), Title: search.PlainTitle(h.Title)})
		}
	}
	return out
}

// readerOf returns the Reader for a: of the person for whom it is made, with their groups of this
// moment, or of a team key.
func (w *Worker) readerOf(ctx context.Context, a Answer) (access.Reader, error) {
	if a.UserID == "" {
		return access.Everything(), nil
	}
	reader, err := w.Readers(ctx, a.TeamID, a.UserID)
	if err != nil {
		return access.Reader{}, fmt.Errorf("read what the asker may read: %w", err)
	}
	return reader, nil
}

// shown returns the ids of the documents of result that a was made from, and of those that quoted names, unless a model wrote
// a; empty, not nil, for none.
func (a Answer) shown(result search.Result, quoted search.Answer) (ids, restricted []string) {
	cited := map[string]bool{}
	for _, r := range a.References {
		cited[uri.WithoutPage(r.HTMLURL)] = true
	}
	ids = []string{}
	show := func(h search.Hit) {
		id := h.Document.String()
		if slices.Contains(ids, id) {
			return
		}
		if ids = append(ids, id); h.Restricted {
			restricted = append(restricted, id)
		}
	}
	for _, h := range result.Best {
		if a.Model != nil || cited[uri.WithoutPage(h.URI)] {
			show(h)
		}
	}
	if a.Markdown == quoted.Markdown {
		for _, h := range quoted.Closest {
			show(h)
		}
	}
	return ids, restricted
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
	a, err := w.Get(ctx, work.TeamID, docent, work.ID)
	if apierr.IsCode(err, apierr.CodeNotFound) || err == nil && a.State != Processing {
		return w.Table.Write(ctx, table.Delete{Key: work.Key()})
	}
	if err != nil {
		return err
	}
	a.State, a.Failure = Failed, &failure
	return w.finish(ctx, a, event)
}
