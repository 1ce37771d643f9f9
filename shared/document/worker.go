package document

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/table"
)

// Index is the part of *search.Index that the worker uses.
type Index interface {
	// Publish indexes documents and applies done in the same Write. A
	// *table.ConditionFailed has the key of the operation of done that failed.
	Publish(ctx context.Context, teamID string, docs []search.Document, done []table.Op) error
	// PublishMeaning is Publish for the vectors of documents.
	PublishMeaning(ctx context.Context, teamID string, docs []search.Document, done []table.Op) error
	Merge(ctx context.Context, teamID string) (merged int, err error)
	Stale(ctx context.Context, teamID, source string, space search.Space, passages int) error
	DropSource(ctx context.Context, teamID, source string) error
}

// Worker does the work of the document queue.
type Worker struct {
	*Service
	Index Index
	// Embeddings is the queue of documents that wait for vectors. If it is nil, the sweeper
	// sends them. Without Service.Meaning there are none.
	Embeddings queue.Queue
	Outbox     *pending.Outbox // sends notices to webhook endpoints
	Log        *slog.Logger
	// Parallel is how many teams of a batch are published at the same time; 0: one. Their bodies
	// together are bounded as those of one are.
	Parallel int

	modelAway atomic.Bool // the last embedding failed
}

// Batch does the work of a batch of messages and returns the ids of the messages that failed. It acts on the current
// records: a message that is delivered twice, late or out of order changes nothing.
func (w *Worker) Batch(ctx context.Context, batch []queue.Message) (failed []string) {
	fail := func(m queue.Message, work pending.Work, err error) {
		giveUp := func(ctx context.Context, work pending.Work, _ error) error { return w.GiveUp(ctx, work) }
		pending.Worker{GiveUp: giveUp, Log: w.Log}.Fail(ctx, m, work, err)
		failed = append(failed, m.ID)
	}
	teams := map[string][]job{}
	for _, m := range batch {
		work, err := pending.Decode(m.Body)
		switch {
		case err != nil:
		case work.Meaning:
			err = errors.New("the document queue carries no work for vectors")
		case work.Kind == pending.IndexDocument:
			if err = w.removeOld(table.Freeing(ctx), work); err == nil {
				teams[work.TeamID] = append(teams[work.TeamID], job{m, work})
			}
		case work.Kind == pending.RemoveCollection:
			err = w.removeCollection(table.Freeing(ctx), work)
		case work.Kind == pending.RemoveChunks:
			err = w.removeUnused(table.Freeing(ctx), work)
		case work.Kind == pending.RemoveDocument:
			err = w.finishRemoval(table.Freeing(ctx), work)
		default:
			err = fmt.Errorf("the document queue carries no %s", work.Kind)
		}
		if err != nil {
			fail(m, work, err)
		}
	}
	for teamID, err := range w.publishAll(ctx, teams, w.byWords()) {
		for _, j := range teams[teamID] {
			fail(j.message, j.work, err)
		}
		delete(teams, teamID)
	}
	// Only now, so that no team waits for the merge of another.
	for teamID := range teams {
		w.merge(ctx, teamID)
	}
	return failed
}

// merge merges the segments of a team. If it fails or is interrupted, the next batch tries again.
func (w *Worker) merge(ctx context.Context, teamID string) {
	if _, err := w.Index.Merge(ctx, teamID); err != nil && !pending.Interrupted(ctx, err) {
		w.Log.ErrorContext(ctx, "merge failed", "team", teamID, "err", err)
	}
}

// publishAll publishes the jobs of every team, and returns the errors of those that failed.
func (w *Worker) publishAll(ctx context.Context, teams map[string][]job, by publication) map[string]error {
	failed := map[string]error{}
	if w.Parallel <= 1 || len(teams) == 1 { // on the caller's thread, which may have a low priority
		for teamID, jobs := range teams {
			if err := w.publish(ctx, teamID, jobs, by); err != nil {
				failed[teamID] = err
			}
		}
		return failed
	}
	by.room = semaphore.NewWeighted(maxBatchBytes)
	var work errgroup.Group
	work.SetLimit(w.Parallel)
	var mu sync.Mutex
	for teamID, jobs := range teams {
		work.Go(func() error {
			if err := attempt(func() error { return w.publish(ctx, teamID, jobs, by) }); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[teamID] = err
			}
			return nil
		})
	}
	_ = work.Wait() // failed has the errors
	return failed
}

// attempt returns a panic of do as its error: queue.Attempt recovers those of the caller's goroutine only.
func attempt(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

type job struct {
	message queue.Message
	work    pending.Work
}

// GiveUp records that work will not be done: the document's indexing has failed. It
// leaves removals pending, because no one waits for them, and vectors, because words are found.
func (w *Worker) GiveUp(ctx context.Context, work pending.Work) error {
	if work.Kind != pending.IndexDocument || work.Meaning {
		return nil
	}
	return w.failVersion(ctx, w.Outbox, work, codeInternal, "The document is stored but could not be indexed. Put it again to retry.")
}

// failVersion records why work on a version will not be done, unless it is done or superseded.
func (s *Service) failVersion(ctx context.Context, outbox *pending.Outbox, work pending.Work, code, detail string) error {
	failure := table.Item{Key: failureKey(work.TeamID, work.ID), Version: work.Version,
		Strings: map[string]string{"code": code, "detail": detail}}
	told, err := s.failedNotices(ctx, work)
	if err != nil {
		return err
	}
	unfinished := table.Delete{Key: work.Key(), If: table.VersionIs(0)} // else it waits for vectors, and words are found
	err = s.Table.Write(ctx, append(promises(told), unfinished, table.Put{Item: failure},
		table.Check{Key: recordKey(work.TeamID, work.ID), If: table.VersionIs(work.Version)})...)
	if err == nil {
		outbox.Send(ctx, told...)
	}
	if table.AsConditionFailed(err) != nil { // done or superseded in the meantime
		err = s.Table.Write(ctx, unfinished)
	}
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("record failed indexing: %w", err)
	}
	return nil
}
