package lambdarun_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/testkit/lambdarun"
)

func TestDeliverTakesBackWhatFailed(t *testing.T) {
	t.Parallel()
	fails := func(pick func([]events.SQSMessage) []string) lambdarun.Invoker {
		return func(_ context.Context, text []byte) ([]byte, error) {
			var event events.SQSEvent
			if err := json.Unmarshal(text, &event); err != nil {
				return nil, err
			}
			var response events.SQSEventResponse
			for _, id := range pick(event.Records) {
				response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
			}
			return json.Marshal(response)
		}
	}
	for name, c := range map[string]struct {
		invoke  lambdarun.Invoker
		again   int
		isError bool
	}{
		"none failed":         {fails(func([]events.SQSMessage) []string { return nil }), 0, false},
		"one failed":          {fails(func(m []events.SQSMessage) []string { return []string{m[1].MessageId} }), 1, false},
		"unknown id":          {fails(func([]events.SQSMessage) []string { return []string{""} }), 3, true},
		"function error":      {func(context.Context, []byte) ([]byte, error) { return nil, errors.New("x") }, 3, true},
		"response is no JSON": {func(context.Context, []byte) ([]byte, error) { return []byte("x"), nil }, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			q := local.New(local.Options{})
			for i := range 3 {
				if err := q.Send(ctx, queue.Outgoing{Body: fmt.Append(nil, i)}); err != nil {
					t.Fatal(err)
				}
			}
			d, err := lambdarun.Deliver(ctx, q, c.invoke, 10)
			if err != nil || d.Received != 3 || d.Failed != c.again || (d.Err != nil) != c.isError {
				t.Errorf("%+v, %v", d, err)
			}
			var receives string
			d, err = lambdarun.Deliver(ctx, q, func(_ context.Context, text []byte) ([]byte, error) {
				var event events.SQSEvent
				if err := json.Unmarshal(text, &event); err != nil {
					return nil, err
				}
				receives = event.Records[0].Attributes["ApproximateReceiveCount"]
				return []byte("{}"), nil
			}, 10)
			if err != nil || d.Received != c.again || c.again > 0 && receives != "2" {
				t.Errorf("then %+v, %v, receives %s", d, err, receives)
			}
		})
	}
}
