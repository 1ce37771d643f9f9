package sqs

import (
	"context"
	"log/slog"

	"docent/shared/queue"

	"github.com/aws/aws-lambda-go/events"
)

// Batch returns the messages of a Lambda event.
func Batch(event events.SQSEvent) []queue.Message {
	batch := make([]queue.Message, len(event.Records))
	for i, m := range event.Records {
		batch[i] = queue.Message{
			ID:       m.MessageId,
			Receipt:  m.ReceiptHandle,
			Body:     []byte(m.Body),
			Receives: receives(m.Attributes),
		}
	}
	return batch
}

// Drain runs h on the messages of event and returns only those that failed; Lambda deletes the
// others. If h panics or returns an unknown id, all of them fail. The event source must be set
// to ReportBatchItemFailures.
func Drain(ctx context.Context, event events.SQSEvent, h queue.Handler) events.SQSEventResponse {
	// Lambda treats a missing list as success, like an empty one.
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	batch := Batch(event)
	if len(batch) == 0 {
		return response
	}
	failed, err := queue.Attempt(ctx, h, batch)
	if err != nil {
		slog.ErrorContext(ctx, "handle batch", "err", err, "messages", len(batch))
	}
	for _, m := range failed {
		if err == nil {
			slog.WarnContext(ctx, "message failed", "id", m.ID, "receives", m.Receives)
		}
		response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.ID})
	}
	return response
}
