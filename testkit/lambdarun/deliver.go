package lambdarun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/queue"
)

// Delivery counts the messages of one Deliver.
type Delivery struct {
	Received int
	Failed   int   // of them; they are delivered again
	Err      error // of the function, if the whole batch failed
}

// SQSEvent returns batch in the form that the event source mapping sends to a function.
func SQSEvent(batch []queue.Message) ([]byte, error) {
	var event events.SQSEvent
	for _, m := range batch {
		event.Records = append(event.Records, events.SQSMessage{
			MessageId: m.ID, ReceiptHandle: m.Receipt, Body: string(m.Body),
			Attributes: map[string]string{
				"ApproximateReceiveCount": strconv.Itoa(m.Receives),
				"SentTimestamp":           strconv.FormatInt(time.Now().UnixMilli(), 10),
			},
			EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:" + region + ":000000000000:queue", AWSRegion: region,
		})
	}
	text, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return text, nil
}

// Deliver receives up to limit messages of q and sends them to a function as one batch, like an event source
// mapping with ReportBatchItemFailures. Messages that the function reports as failed are delivered again, at once
// and not after the visibility timeout. So is the whole batch if the function fails or reports an unknown message.
// The others are deleted. The error is that of the queue.
func Deliver(ctx context.Context, q queue.Queue, invoke Invoker, limit int) (Delivery, error) {
	batch, err := q.Receive(ctx, limit, 0)
	if err != nil || len(batch) == 0 {
		return Delivery{}, err
	}
	d := Delivery{Received: len(batch)}
	failed, err := ask(ctx, invoke, batch)
	if err != nil {
		d.Err, failed = err, batch
	}
	d.Failed = len(failed)
	done := slices.DeleteFunc(slices.Clone(batch), func(m queue.Message) bool {
		return slices.ContainsFunc(failed, func(f queue.Message) bool { return f.ID == m.ID })
	})
	var errs []error
	if len(done) > 0 {
		errs = append(errs, q.Done(ctx, done...))
	}
	if len(failed) > 0 {
		errs = append(errs, q.Retry(ctx, 0, failed...))
	}
	return d, errors.Join(errs...)
}

// ask returns the messages of batch that the function reports as failed.
func ask(ctx context.Context, invoke Invoker, batch []queue.Message) ([]queue.Message, error) {
	event, err := SQSEvent(batch)
	if err != nil {
		return nil, err
	}
	answer, err := invoke(ctx, event)
	if err != nil {
		return nil, err
	}
	var response events.SQSEventResponse
	if err := json.Unmarshal(answer, &response); err != nil {
		return nil, fmt.Errorf("decode batch response: %w", err)
	}
	var failed []queue.Message
	for _, item := range response.BatchItemFailures {
		i := slices.IndexFunc(batch, func(m queue.Message) bool { return m.ID == item.ItemIdentifier })
		if i < 0 {
			return nil, fmt.Errorf("batch response names %q, which is not in the batch", item.ItemIdentifier)
		}
		failed = append(failed, batch[i])
	}
	return failed, nil
}
