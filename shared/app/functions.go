package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/answer"
	"docent/shared/httpapi"
	"docent/shared/pause"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/sqs"
	"docent/shared/table"
)

// Batches handles the messages of an SQS event and returns only those that failed; its error
// is always nil. The event source must be set to ReportBatchItemFailures.
type Batches func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error)

// Schedule does the work of one scheduled invocation.
type Schedule func(ctx context.Context) error

// functions makes the handlers of Lambda functions, on the services of any engines.
type functions struct {
	*services
	baseURL string
	service string // names this installation in metrics
	// embedding counts the calls of the embedding model since the last log line; nil: it is in the process.
	embedding *embeddingCalls
}

// margin is the time before the end of an invocation at which a worker stops, so that
// unfinished work is reported, and on its last delivery recorded as failed.
const margin = 2 * time.Second

// pollPause is the pause between two reads of a long poll on Lambda, where each read
// costs money.
const pollPause = time.Second

// pausePoll pauses a long poll, unless too little of the invocation is left for
// another round.
func pausePoll(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < 2*pollPause {
		return context.DeadlineExceeded
	}
	return pause.For(ctx, pollPause)
}

// maxSCIMReply leaves room for JSON escapes within the 6 MB of a function's response.
const maxSCIMReply = 5 << 20

func (f *functions) http(area httpapi.Area) http.Handler {
	s := f.surface(f.baseURL, maxSCIMReply, f.served(area.Name))
	s.Answering = f.answerer(f.logAnswer)
	return httpapi.New(s, area)
}

func (f *functions) answersQuestions() Batches {
	return f.batches("answering", f.answerer(f.logAnswer).Batch)
}

// logAnswer writes the metrics of a finished answer.
func (f *functions) logAnswer(ctx context.Context, a answer.Answer) {
	f.log.LogAttrs(ctx, slog.LevelInfo, "answer", append([]slog.Attr{
		slog.String("team", a.TeamID), slog.String("question", a.QuestionID)}, f.ended(a)...)...)
}

func (f *functions) indexesDocuments() Batches {
	return f.batches("indexing", f.indexes)
}

// rebuildTurn is how long one part of the index is rebuilt before another has its turn.
// It is less than four fifths of the function's time, at which an alarm is raised.
const rebuildTurn = 80 * time.Second

// indexes handles a batch of the documents queue or of the rebuilds queue.
func (f *functions) indexes(ctx context.Context, batch []queue.Message) []string {
	documents := slices.DeleteFunc(slices.Clone(batch), isRebuild)
	failed := f.services.indexing.Batch(ctx, documents)
	if len(documents) == len(batch) {
		return failed
	}
	return append(failed, f.rebuilder(rebuildTurn, nil).Batch(ctx, slices.DeleteFunc(slices.Clone(batch), func(m queue.Message) bool { return !isRebuild(m) }))...)
}

func (f *functions) embedsDocuments() Batches {
	return f.batches("embedding", f.embeds(rebuildTurn, nil))
}

// embeds returns the handler of the queue of embeddings: of documents that wait for vectors, and
// of rebuilds of vectors, which take turn at a time and call rest between slices.
func (s *services) embeds(turn time.Duration, rest func(context.Context, time.Duration) error) queue.Handler {
	return func(ctx context.Context, batch []queue.Message) []string {
		failed := s.indexing.EmbedBatch(ctx, slices.DeleteFunc(slices.Clone(batch), isRebuild))
		rebuilds := slices.DeleteFunc(slices.Clone(batch), func(m queue.Message) bool { return !isRebuild(m) })
		return append(failed, s.rebuilder(turn, rest).Batch(ctx, rebuilds)...)
	}
}

func isRebuild(m queue.Message) bool {
	w, err := pending.Decode(m.Body)
	return err == nil && w.Kind == pending.RebuildIndex
}

func (f *functions) extractsFiles() Batches { return f.batches("extracting", f.extracting.Batch) }

func (f *functions) delivers() Batches {
	f.webhooks.BaseURL = f.baseURL
	return f.batches("delivering", f.delivering.Batch)
}

func (f *functions) readsSources() Batches { return f.batches("syncing", f.turn) }

// batches adds a margin of time and one log line to h.
func (f *functions) batches(name string, h queue.Handler) Batches {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		ctx, cancel := pause.WithMargin(ctx, margin)
		defer cancel()
		ctx, meter := table.WithMeter(ctx)
		begun := f.now()
		response := sqs.Drain(ctx, event, h)
		batch := sqs.Batch(event)
		attributes := append([]slog.Attr{slog.Any("requestIds", causes(batch)), slog.Int("roundTrips", meter.Read().RoundTrips)},
			f.delivered(name, begun, batch, len(response.BatchItemFailures))...)
		f.log.LogAttrs(ctx, slog.LevelInfo, "batch", attributes...)
		return response, nil
	}
}

// causes returns the ids of the requests that caused the work of batch.
func causes(batch []queue.Message) []string {
	ids := []string{}
	for _, m := range batch {
		if w, err := pending.Decode(m.Body); err == nil && w.RequestID != "" {
			ids = append(ids, w.RequestID)
		}
	}
	return ids
}

// How a function uses its memory: a quarter is for segments of the index, because a search whose segments are not in
// memory reads them from S3. Near the limit, garbage is collected more often.
const (
	segmentCacheShare = 4
	memoryPercent     = 90
)

// boundMemory makes the function collect garbage before its memory is used up; 0: how much it has is unknown.
func boundMemory(megabytes int) {
	if megabytes > 0 {
		debug.SetMemoryLimit(int64(megabytes) << 20 / 100 * memoryPercent)
	}
}

// indexParallel is how many teams of a batch are indexed at the same time: mostly, each waits for AWS.
const indexParallel = queue.MaxBatch

// How much sweeping does in a minute. With 5 ms a round trip, 16 at a time send 60,000 pieces of
// work again in half of it, and a round over 100,000 teams takes a quarter of an hour.
const (
	sweepParallel = 16
	sweepPages    = 1000 // of teams: its time ends before
)

// sweeps sends pending work again, removes unused segments, and continues the day's
// round over all teams. Failures are retried a minute later; the error is for the
// function's alarm.
func (f *functions) sweeps() Schedule {
	return func(ctx context.Context) error {
		ctx, cancel := pause.WithMargin(ctx, margin)
		defer cancel()
		ctx, meter := table.WithMeter(ctx)
		begun := f.now()
		var clean, daily error
		var others sync.WaitGroup // so that none takes all of the time
		others.Go(func() { _, clean = f.index.Clean(ctx) })
		others.Go(func() { daily = f.daily.run(ctx) })
		result, err := f.sweeper.Sweep(ctx)
		others.Wait()
		err = errors.Join(err, clean, daily)
		f.log.LogAttrs(ctx, slog.LevelInfo, "sweep", append([]slog.Attr{slog.Int("roundTrips", meter.Read().RoundTrips)},
			f.swept(begun, result, err != nil)...)...)
		return err
	}
}
