// Package sqs carries messages over Amazon SQS: a standard queue whose
// visibility timeout and redrive policy (queue.MaxReceives, then the
// dead-letter queue) belong to the stack.
package sqs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/memory"
	"docent/shared/queue"
	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

var _ queue.Queue = (*Queue)(nil)

// Queue is one SQS queue.
type Queue struct {
	client *awssqs.Client
	url    string
}

// New returns the queue at url.
func New(client *awssqs.Client, url string) *Queue { return &Queue{client: client, url: url} }

// Send stores messages; see queue.Queue. SQS counts delays in whole seconds:
// others are rounded up.
func (q *Queue) Send(ctx context.Context, messages ...queue.Outgoing) error {
	if err := queue.CheckSend(messages); err != nil {
		return err
	}
	defer memory.Pause(ctx)()
	defer table.MeterFrom(ctx).Begin()()
	entries := make([]types.SendMessageBatchRequestEntry, len(messages))
	for i, m := range messages {
		entries[i] = types.SendMessageBatchRequestEntry{
			Id:           entryID(i),
			MessageBody:  aws.String(string(m.Body)),
			DelaySeconds: seconds(m.Delay),
		}
		if m.Group != "" {
			entries[i].MessageGroupId = &m.Group // on a standard queue it orders nothing: it makes the queue fair
		}
	}
	out, err := q.client.SendMessageBatch(ctx, &awssqs.SendMessageBatchInput{QueueUrl: &q.url, Entries: entries})
	if err == nil {
		err = refused(out.Failed)
	}
	if err != nil {
		return fmt.Errorf("send to queue: %w", err)
	}
	return nil
}

// Receive returns messages; see queue.Queue. A wait is rounded up to whole seconds. For a
// wait of 0, SQS uses the queue's own ReceiveMessageWaitTimeSeconds, by default 0.
func (q *Queue) Receive(ctx context.Context, limit int, wait time.Duration) ([]queue.Message, error) {
	wait, err := queue.CheckReceive(limit, wait)
	if err != nil {
		return nil, err
	}
	defer table.MeterFrom(ctx).Begin()()
	out, err := q.client.ReceiveMessage(ctx, &awssqs.ReceiveMessageInput{
		QueueUrl:                    &q.url,
		MaxNumberOfMessages:         int32(limit),
		WaitTimeSeconds:             seconds(wait),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameApproximateReceiveCount},
	})
	if err != nil {
		return nil, fmt.Errorf("receive from queue: %w", err)
	}
	messages := make([]queue.Message, len(out.Messages))
	for i, m := range out.Messages {
		messages[i] = queue.Message{
			ID:       aws.ToString(m.MessageId),
			Receipt:  aws.ToString(m.ReceiptHandle),
			Body:     []byte(aws.ToString(m.Body)),
			Receives: receives(m.Attributes),
		}
	}
	return messages, nil
}

// Done deletes delivered messages; see queue.Queue.
func (q *Queue) Done(ctx context.Context, messages ...queue.Message) error {
	err := q.each(messages, func(some []queue.Message) ([]types.BatchResultErrorEntry, error) {
		defer table.MeterFrom(ctx).Begin()()
		entries := make([]types.DeleteMessageBatchRequestEntry, len(some))
		for i := range some {
			entries[i] = types.DeleteMessageBatchRequestEntry{Id: entryID(i), ReceiptHandle: &some[i].Receipt}
		}
		out, err := q.client.DeleteMessageBatch(ctx, &awssqs.DeleteMessageBatchInput{QueueUrl: &q.url, Entries: entries})
		if err != nil {
			return nil, err
		}
		return out.Failed, nil
	})
	if err != nil {
		return fmt.Errorf("finish messages: %w", err)
	}
	return nil
}

// Retry makes delivered messages visible after delay, rounded up to whole
// seconds; see queue.Queue.
func (q *Queue) Retry(ctx context.Context, delay time.Duration, messages ...queue.Message) error {
	if err := queue.CheckDelay(delay); err != nil {
		return err
	}
	err := q.each(messages, func(some []queue.Message) ([]types.BatchResultErrorEntry, error) {
		defer table.MeterFrom(ctx).Begin()()
		entries := make([]types.ChangeMessageVisibilityBatchRequestEntry, len(some))
		for i := range some {
			entries[i] = types.ChangeMessageVisibilityBatchRequestEntry{
				Id: entryID(i), ReceiptHandle: &some[i].Receipt, VisibilityTimeout: seconds(delay),
			}
		}
		out, err := q.client.ChangeMessageVisibilityBatch(ctx, &awssqs.ChangeMessageVisibilityBatchInput{QueueUrl: &q.url, Entries: entries})
		if err != nil {
			return nil, err
		}
		return out.Failed, nil
	})
	if err != nil {
		return fmt.Errorf("put messages back: %w", err)
	}
	return nil
}

// each calls do with MaxBatch messages at a time and continues after a failure: a
// message that is not reported to the queue would be delivered again.
func (q *Queue) each(messages []queue.Message, do func([]queue.Message) ([]types.BatchResultErrorEntry, error)) error {
	var failures []error
	for some := range slices.Chunk(messages, queue.MaxBatch) {
		failed, err := do(some)
		if malformed(codeOf(err)) {
			err = fmt.Errorf("%w: %w", queue.ErrInvalid, err)
		}
		failures = append(failures, err, refused(slices.DeleteFunc(failed, isOver)))
	}
	return errors.Join(failures...)
}

// isOver reports whether a message is no longer in flight: it is done, or visible again. For
// valid arguments, SQS returns InvalidParameterValue only for that. If the code ever meant
// something else, the message would be delivered again after its visibility timeout.
func isOver(e types.BatchResultErrorEntry) bool {
	code := aws.ToString(e.Code)
	return strings.HasSuffix(code, "MessageNotInflight") || code == "InvalidParameterValue"
}

func malformed(code string) bool { return strings.HasSuffix(code, "ReceiptHandleIsInvalid") }

// refused returns the failed entries of a batch as one error, nil if there are none.
func refused(failed []types.BatchResultErrorEntry) error {
	var failures []error
	for _, e := range failed {
		err := fmt.Errorf("message %s of the batch: %s: %s", aws.ToString(e.Id), aws.ToString(e.Code), aws.ToString(e.Message))
		if malformed(aws.ToString(e.Code)) {
			err = fmt.Errorf("%w: %w", queue.ErrInvalid, err)
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// entryID names the i-th entry of a batch.
func entryID(i int) *string { return aws.String(strconv.Itoa(i)) }

// seconds rounds d, at most hours, up to whole seconds.
func seconds(d time.Duration) int32 { return int32((d + time.Second - 1) / time.Second) }

// receives returns how often a message was delivered, or 1 without a valid number: SQS itself
// moves the message to the dead letters after the last delivery.
func receives(attributes map[string]string) int {
	n, err := strconv.Atoi(attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	if err != nil || n < 1 {
		return 1
	}
	return n
}

func codeOf(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode()
	}
	return ""
}
