package operator

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Redrive starts moving the dead letters of a queue back to it: "Questions", "Documents",
// "Extractions", "Syncs", "Rebuilds", "Embeddings" or "Deliveries". AWS moves at most perSecond messages per second, and chooses the
// rate, up to 500, if it is 0. Redrive returns about how many there are, and starts nothing if
// there are none. The moving continues after it returns.
func (s *Stack) Redrive(ctx context.Context, queue string, perSecond int32) (messages int, err error) {
	url := s.outputs[queue+outDead]
	if url == "" {
		return 0, fmt.Errorf("the stack %s has no output %s%s: is it Docent's, and of this version?", s.Name, queue, outDead)
	}
	about, err := s.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{
		types.QueueAttributeNameQueueArn, types.QueueAttributeNameApproximateNumberOfMessages}})
	if err != nil {
		return 0, fmt.Errorf("look at the dead letters: %w", oneLine(err))
	}
	messages, err = strconv.Atoi(about.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessages)])
	if err != nil {
		return 0, fmt.Errorf("look at the dead letters: %w", err)
	}
	if messages == 0 {
		return 0, nil
	}
	move := &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(about.Attributes[string(types.QueueAttributeNameQueueArn)])}
	if perSecond > 0 {
		move.MaxNumberOfMessagesPerSecond = &perSecond
	}
	if _, err := s.queues.StartMessageMoveTask(ctx, move); err != nil {
		return messages, fmt.Errorf("move the dead letters: %w", oneLine(err))
	}
	return messages, nil
}
