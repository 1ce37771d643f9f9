package document

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/table"
)

// EmbedBatch makes the vectors of the documents that a batch of messages names, and returns the
// ids of the messages that failed. Like Batch it acts on the current records.
func (w *Worker) EmbedBatch(ctx context.Context, batch []queue.Message) (failed []string) {
	teams := map[string][]job{}
	for _, m := range batch {
		work, err := pending.Decode(m.Body)
		if err == nil && !work.Meaning {
			err = fmt.Errorf("the queue of embeddings carries no %s", work.Kind)
		}
		if err != nil {
			pending.Worker{Log: w.Log}.Fail(ctx, m, work, err)
			failed = append(failed, m.ID)
			continue
		}
		teams[work.TeamID] = append(teams[work.TeamID], job{m, work})
	}
	by := w.byMeaning()
	for teamID, jobs := range teams {
		if err := w.publish(ctx, teamID, jobs, by); err != nil {
			failed = append(failed, w.failEmbedding(ctx, jobs, err)...)
			continue
		}
		w.modelAway.Store(false)
		w.merge(ctx, teamID)
	}
	return failed
}

// failEmbedding reports that jobs failed because of cause, and returns the ids of the messages
// to deliver again. If the model is away, there are none: the sweeper sends the work again,
// less and less often, and until then only the first failure is logged.
func (w *Worker) failEmbedding(ctx context.Context, jobs []job, cause error) (failed []string) {
	if errors.Is(cause, search.ErrNotEmbedded) && ctx.Err() == nil {
		if !w.modelAway.Swap(true) {
			w.Log.WarnContext(ctx, "documents are found by words alone until the model answers", "err", cause)
		}
		return nil
	}
	for _, j := range jobs {
		pending.Worker{Log: w.Log}.Fail(ctx, j.message, j.work, cause)
		failed = append(failed, j.message.ID)
	}
	return failed
}

// sendEmbeddings sends the messages of documents that wait for vectors; waiting are the operations that stored their pending work. The
// messages are equal to those that the sweeper sends later, so a queue in memory recognises these as repeats and drops them.
func (w *Worker) sendEmbeddings(ctx context.Context, teamID string, waiting []table.Op) {
	if w.Embeddings == nil {
		return
	}
	for some := range slices.Chunk(waiting, queue.MaxBatch) {
		messages := make([]queue.Outgoing, len(some))
		for i, op := range some {
			messages[i] = queue.Outgoing{Body: op.(table.Put).Item.Body, Group: teamID}
		}
		if err := w.Embeddings.Send(ctx, messages...); err != nil {
			first, _ := pending.Decode(messages[0].Body) // it was just encoded
			w.Warn(first, err)
		}
	}
}
