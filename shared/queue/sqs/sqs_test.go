package sqs_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"testing"
	"time"

	"docent/shared/queue"
	"docent/shared/queue/queuetest"
	"docent/shared/queue/sqs"
	"docent/testkit/moto"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func TestContract(t *testing.T) {
	t.Parallel()
	client := awssqs.NewFromConfig(moto.Config(moto.Start(t)))
	queuetest.Run(t, queuetest.Options{
		ForgetsDone: true,
		Unfair:      true,
		MayRepeat:   true,
		Open: func(t *testing.T, visibility time.Duration) queuetest.Fixture {
			dead := create(t, client, nil)
			deadARN := attribute(t, client, dead, types.QueueAttributeNameQueueArn)
			live := create(t, client, map[string]string{
				"VisibilityTimeout": strconv.Itoa(int(visibility.Seconds())),
				"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, deadARN, queue.MaxReceives),
			})
			return queuetest.Fixture{Queue: sqs.New(client, live), Dead: func(ctx context.Context) ([]string, error) {
				got, err := sqs.New(client, dead).Receive(ctx, queue.MaxBatch, 5*time.Second)
				var bodies []string
				for _, m := range got {
					bodies = append(bodies, string(m.Body))
				}
				return bodies, err
			}}
		},
	})
}

// create makes a queue that lives as long as the test.
func create(t *testing.T, client *awssqs.Client, attributes map[string]string) (url string) {
	t.Helper()
	out, err := client.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: aws.String("q-" + rand.Text()), Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := client.DeleteQueue(context.WithoutCancel(t.Context()), &awssqs.DeleteQueueInput{QueueUrl: out.QueueUrl}); err != nil {
			t.Error(err)
		}
	})
	return *out.QueueUrl
}

func attribute(t *testing.T, client *awssqs.Client, url string, name types.QueueAttributeName) string {
	t.Helper()
	out, err := client.GetQueueAttributes(t.Context(), &awssqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{name}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes[string(name)]
}
