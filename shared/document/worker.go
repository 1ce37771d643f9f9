package document

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/table"
)

// Index is what the worker needs of the search index; *search.Index is it.
type Index interface {
	// Publish makes documents findable and applies done in the same Write; a
	// *table.ConditionFailed has the key of the operation of done that did not hold.
	Publish(ctx context.Context, teamID string, docs []search.Document, done []table.Op) error
	Merge(ctx context.Context, teamID string) (merged int, err error)
	Stale(ctx context.Context, teamID, source string, space search.Space, passages int) error
	DropSource(ctx context.Context, teamID, source string) error
}

// Worker takes the work of documents from its queue.
type Worker struct {
	*Service
	Index Index
	Log   *slog.Logger
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
		case work.Kind == pending.IndexDocument:
			if err = w.removeOld(ctx, work); err == nil {
				teams[work.TeamID] = append(teams[work.TeamID], job{m, work})
			}
		case work.Kind == pending.RemoveCollection:
			err = w.removeCollection(ctx, work)
		case work.Kind == pending.RemoveChunks:
			err = w.removeUnused(ctx, work)
		case work.Kind == pending.RemoveDocument:
			err = w.finishRemoval(ctx, work)
		default:
			err = fmt.Errorf("no work of documents: %s", work.Kind)
		}
		if err != nil {
			fail(m, work, err)
		}
	}
	for teamID, jobs := range teams {
		if err := w.publish(ctx, teamID, jobs); err != nil {
			for _, j := range jobs {
				fail(j.message, j.work, err)
			}
			continue
		}
		if _, err := w.Index.Merge(ctx, teamID); err != nil {
			w.Log.ErrorContext(ctx, "merge failed", "team", teamID, "err", err)
		}
	}
	return failed
}

type job struct {
	message queue.Message
	work    pending.Work
}

// maxBatchBytes bounds the bodies that are indexed together, unless one has more:
// building their index takes several times as much memory.
const maxBatchBytes = 12 << 20

// publish indexes the documents of jobs that are still current and pending, and
// ends all of them.
func (w *Worker) publish(ctx context.Context, teamID string, jobs []job) error {
	var docs []search.Document
	var done []table.Op
	keys := make([]table.Key, len(jobs))
	for i, j := range jobs {
		keys[i] = recordKey(teamID, j.work.ID)
	}
	records, err := w.Table.BatchGet(ctx, keys)
	if err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	// A document that is put again after its deletion may have a lower version than
	// before, as clocks differ: only the record tells which version is current.
	var current []record
	for _, item := range records {
		r := recordFrom(item)
		if slices.ContainsFunc(jobs, func(j job) bool { return j.work.ID == r.ID && j.work.Version == r.version }) {
			current = append(current, r)
		}
	}
	bytes := 0
	for _, r := range current {
		bytes += r.bytes
	}
	if half := len(jobs) / 2; bytes > maxBatchBytes && half > 0 {
		if err := w.publish(ctx, teamID, jobs[:half]); err != nil {
			return err
		}
		return w.publish(ctx, teamID, jobs[half:])
	}
	whole, err := w.whole(ctx, teamID, current)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		kept := j.work.Complete()
		if table.IndexOf(done, kept.Key) >= 0 {
			continue // one message twice in a batch
		}
		if d, ok := whole[j.work.ID]; ok && d.Version == j.work.Version {
			docs, done = append(docs, d), append(done, kept)
			continue
		}
		// Superseded: there is nothing to index any more.
		if err := w.Table.Write(ctx, table.Delete{Key: kept.Key}); err != nil {
			return fmt.Errorf("end superseded work: %w", err)
		}
	}
	for len(docs) > 0 {
		err := w.Index.Publish(ctx, teamID, docs, done)
		failed := table.AsConditionFailed(err)
		if failed == nil {
			return err
		}
		// Another worker was faster with this one; build again without it.
		i := table.IndexOf(done, failed.Key)
		if i < 0 {
			return err
		}
		docs, done = slices.Delete(docs, i, i+1), slices.Delete(done, i, i+1)
	}
	return nil
}

// GiveUp records that work will not be done. Documents show it as failed
// indexing; the removal of what is unreachable stays pending instead, because
// nobody waits for it.
func (w *Worker) GiveUp(ctx context.Context, work pending.Work) error {
	if work.Kind != pending.IndexDocument {
		return nil
	}
	failure := table.Item{Key: failureKey(work.TeamID, work.ID), Version: work.Version,
		Strings: map[string]string{"code": "internal",
			"detail": "The document is stored but could not be indexed. Put it again to retry."}}
	err := w.Table.Write(ctx, work.Complete(), table.Put{Item: failure},
		table.Check{Key: recordKey(work.TeamID, work.ID), If: table.VersionIs(work.Version)})
	if table.AsConditionFailed(err) != nil { // done or superseded meanwhile
		err = w.Table.Write(ctx, table.Delete{Key: work.Key()})
	}
	if err != nil {
		return fmt.Errorf("record failed indexing: %w", err)
	}
	return nil
}
