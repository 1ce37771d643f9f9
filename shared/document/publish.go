package document

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/semaphore"

	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/search"
	"docent/shared/table"
)

// maxBatchBytes bounds the size in the index of documents that are indexed together, except a single larger
// one. Building their index takes several times as much memory.
const maxBatchBytes = 12 << 20

// publication is one of the two ways in which documents become findable.
type publication struct {
	publish func(ctx context.Context, teamID string, docs []search.Document, done []table.Op) error
	done    func(pending.Work) table.Op // what ends a job
	after   func(ctx context.Context, teamID string, done []table.Op)
	told    bool                // webhook endpoints are notified
	room    *semaphore.Weighted // for the bytes of bodies that are indexed at the same time; nil: nothing else is
}

// byWords makes documents findable by their words. With Service.Meaning, their work then waits
// for vectors.
func (w *Worker) byWords() publication {
	p := publication{publish: w.Index.Publish, told: true, done: completes}
	if w.Meaning {
		p.done = func(work pending.Work) table.Op { return work.AwaitMeaning() }
		p.after = w.sendEmbeddings
	}
	return p
}

// byMeaning makes documents findable by their vectors.
func (w *Worker) byMeaning() publication {
	return publication{publish: w.Index.PublishMeaning, done: completes}
}

// completes returns the end of work.
func completes(work pending.Work) table.Op { return work.Complete() }

// publish indexes the documents of jobs that are still current and pending, and
// completes all jobs.
func (w *Worker) publish(ctx context.Context, teamID string, jobs []job, by publication) error {
	current, topics, err := w.currentOf(ctx, teamID, jobs, by.told)
	if err != nil {
		return err
	}
	bytes := 0
	for _, r := range current {
		bytes += r.indexed()
	}
	if half := len(jobs) / 2; bytes > maxBatchBytes && half > 0 {
		if err := w.publish(ctx, teamID, jobs[:half], by); err != nil {
			return err
		}
		return w.publish(ctx, teamID, jobs[half:], by)
	}
	if by.room != nil {
		size := int64(min(bytes, maxBatchBytes))
		if err := by.room.Acquire(ctx, size); err != nil {
			return err
		}
		defer by.room.Release(size)
	}
	whole, err := w.whole(ctx, teamID, current)
	if err != nil {
		return err
	}
	docs, done, err := w.choose(ctx, jobs, whole, by)
	if err != nil {
		return err
	}
	return w.index(ctx, teamID, docs, done, topics, by)
}

// currentOf returns the records of jobs whose versions are current and, with told, the topics of which the team's
// webhook endpoints want to know.
func (w *Worker) currentOf(ctx context.Context, teamID string, jobs []job, told bool) (current []record, topics pending.Topics, err error) {
	keys := make([]table.Key, 0, len(jobs)+1)
	for _, j := range jobs {
		keys = append(keys, recordKey(teamID, j.work.ID))
	}
	if told {
		keys = append(keys, audit.TopicsKey(teamID))
	}
	records, err := w.undamaged().BatchGet(ctx, keys)
	if err != nil {
		return nil, 0, fmt.Errorf("read documents: %w", err)
	}
	// Clocks differ, so a document put again after its deletion may have a lower
	// version than before: only the record says which version is current.
	for _, item := range records {
		if item.Key == audit.TopicsKey(teamID) {
			topics = audit.Topics(item)
			continue
		}
		r := recordFrom(item)
		if slices.ContainsFunc(jobs, func(j job) bool { return j.work.ID == r.ID && j.work.Version == r.version }) {
			current = append(current, r)
		}
	}
	return current, topics, nil
}

// choose returns the documents of jobs that are in whole, and the ends of these jobs. The other jobs
// are superseded, and it completes them.
func (w *Worker) choose(ctx context.Context, jobs []job, whole map[string]search.Document, by publication) (docs []search.Document, done []table.Op, err error) {
	for _, j := range jobs {
		complete := j.work.Complete()
		if table.IndexOf(done, complete.Key) >= 0 {
			continue // the same message twice in a batch
		}
		if d, ok := whole[j.work.ID]; ok && d.Version == j.work.Version {
			docs, done = append(docs, d), append(done, by.done(j.work))
			continue
		}
		if err := w.Table.Write(ctx, table.Delete{Key: complete.Key}); err != nil {
			return nil, nil, fmt.Errorf("end superseded work: %w", err)
		}
	}
	return docs, done, nil
}

// index publishes docs together with done, which ends the work on each, and leaves out those that
// another worker has completed.
func (w *Worker) index(ctx context.Context, teamID string, docs []search.Document, done []table.Op, topics pending.Topics, by publication) error {
	for len(docs) > 0 {
		told := w.indexedNotices(teamID, topics, docs)
		err := by.publish(ctx, teamID, docs, slices.Concat(done, promises(told)))
		if err == nil {
			w.Outbox.Send(ctx, told...)
			if by.after != nil {
				by.after(ctx, teamID, done)
			}
			return nil
		}
		failed := table.AsConditionFailed(err)
		if failed == nil {
			return err
		}
		i := table.IndexOf(done, failed.Key)
		if i < 0 {
			return err
		}
		docs, done = slices.Delete(docs, i, i+1), slices.Delete(done, i, i+1)
	}
	return nil
}
