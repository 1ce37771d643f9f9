package document

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

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
	Log        *slog.Logger

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
			err = fmt.Errorf("the document queue carries no %s", work.Kind)
		}
		if err != nil {
			fail(m, work, err)
		}
	}
	for teamID, jobs := range teams {
		if err := w.publish(ctx, teamID, jobs, w.byWords()); err != nil {
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

// maxBatchBytes bounds the bodies that are indexed together, except a single larger
// one. Building their index takes several times as much memory.
const maxBatchBytes = 12 << 20

// publication is one of the two ways in which documents become findable.
type publication struct {
	publish func(ctx context.Context, teamID string, docs []search.Document, done []table.Op) error
	done    func(pending.Work) table.Op // what ends a job
	after   func(ctx context.Context, teamID string, docs []search.Document)
}

// byWords makes documents findable by their words. With Service.Meaning, their work then waits
// for vectors.
func (w *Worker) byWords() publication {
	p := publication{publish: w.Index.Publish, done: func(work pending.Work) table.Op { return work.Complete() }}
	if w.Meaning {
		p.done = func(work pending.Work) table.Op { return work.AwaitMeaning() }
		p.after = w.sendEmbeddings
	}
	return p
}

// publish indexes the documents of jobs that are still current and pending, and
// completes all jobs.
func (w *Worker) publish(ctx context.Context, teamID string, jobs []job, by publication) error {
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
	// Clocks differ, so a document put again after its deletion may have a lower
	// version than before: only the record says which version is current.
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
		if err := w.publish(ctx, teamID, jobs[:half], by); err != nil {
			return err
		}
		return w.publish(ctx, teamID, jobs[half:], by)
	}
	whole, err := w.whole(ctx, teamID, current)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		complete := j.work.Complete()
		if table.IndexOf(done, complete.Key) >= 0 {
			continue // the same message twice in a batch
		}
		if d, ok := whole[j.work.ID]; ok && d.Version == j.work.Version {
			docs, done = append(docs, d), append(done, by.done(j.work))
			continue
		}
		// Superseded: there is nothing to index.
		if err := w.Table.Write(ctx, table.Delete{Key: complete.Key}); err != nil {
			return fmt.Errorf("end superseded work: %w", err)
		}
	}
	for len(docs) > 0 {
		err := by.publish(ctx, teamID, docs, done)
		failed := table.AsConditionFailed(err)
		if err == nil && by.after != nil {
			by.after(ctx, teamID, docs)
		}
		if failed == nil {
			return err
		}
		// Another worker has completed this one; publish the others.
		i := table.IndexOf(done, failed.Key)
		if i < 0 {
			return err
		}
		docs, done = slices.Delete(docs, i, i+1), slices.Delete(done, i, i+1)
	}
	return nil
}

// GiveUp records that work will not be done: the document's indexing has failed. It
// leaves removals pending, because no one waits for them, and vectors, because words are found.
func (w *Worker) GiveUp(ctx context.Context, work pending.Work) error {
	if work.Kind != pending.IndexDocument || work.Meaning {
		return nil
	}
	failure := table.Item{Key: failureKey(work.TeamID, work.ID), Version: work.Version,
		Strings: map[string]string{"code": "internal",
			"detail": "The document is stored but could not be indexed. Put it again to retry."}}
	err := w.Table.Write(ctx, work.Complete(), table.Put{Item: failure},
		table.Check{Key: recordKey(work.TeamID, work.ID), If: table.VersionIs(work.Version)})
	if table.AsConditionFailed(err) != nil { // done or superseded in the meantime
		err = w.Table.Write(ctx, table.Delete{Key: work.Key()})
	}
	if err != nil {
		return fmt.Errorf("record failed indexing: %w", err)
	}
	return nil
}
