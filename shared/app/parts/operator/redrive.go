package operator

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Redrive has AWS move the messages that a worker gave up back to its queue, which
// is "Questions", "Documents", "Syncs" or "Rebuilds", at most perSecond of them a second (0: as AWS sees
// fit, at most 500). It returns about how many there were; with none it starts
// nothing. The moving continues after it returns.
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
