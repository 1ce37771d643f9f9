package sqs_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"testing"

	"docent/shared/queue"
	"docent/shared/queue/sqs"

	"github.com/aws/aws-lambda-go/events"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // for failures that tests cause on purpose
	os.Exit(m.Run())
}

// event has three messages, of which the second lacks its count.
var event = events.SQSEvent{Records: []events.SQSMessage{
	{MessageId: "a", ReceiptHandle: "ra", Body: "one", Attributes: map[string]string{"ApproximateReceiveCount": "5"}},
	{MessageId: "b", ReceiptHandle: "rb", Body: "two"},
	{MessageId: "c", ReceiptHandle: "rc", Body: "three", Attributes: map[string]string{"ApproximateReceiveCount": "1"}},
}}

func TestBatch(t *testing.T) {
	t.Parallel()
	want := []queue.Message{
		{ID: "a", Receipt: "ra", Body: []byte("one"), Receives: 5},
		{ID: "b", Receipt: "rb", Body: []byte("two"), Receives: 1},
		{ID: "c", Receipt: "rc", Body: []byte("three"), Receives: 1},
	}
	got := sqs.Batch(event)
	same := slices.EqualFunc(got, want, func(a, b queue.Message) bool {
		return a.ID == b.ID && a.Receipt == b.Receipt && string(a.Body) == string(b.Body) && a.Receives == b.Receives
	})
	if !same {
		t.Errorf("Batch = %+v, want %+v", got, want)
	}
}

func TestDrainReportsOnlyWhatFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handle func([]queue.Message) []string
		want   string
	}{
		"all done":      {func([]queue.Message) []string { return nil }, `{"batchItemFailures":[]}`},
		"one failed":    {func([]queue.Message) []string { return []string{"b"} }, `{"batchItemFailures":[{"itemIdentifier":"b"}]}`},
		"failed twice":  {func([]queue.Message) []string { return []string{"b", "b"} }, `{"batchItemFailures":[{"itemIdentifier":"b"}]}`},
		"a panic":       {func([]queue.Message) []string { panic("on purpose") }, all},
		"an unknown id": {func([]queue.Message) []string { return []string{"b", "elsewhere"} }, all},
		"a bad handler": {func(batch []queue.Message) []string { clear(batch); return []string{"c", "a"} },
			`{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"c"}]}`},
	} {
		response := sqs.Drain(t.Context(), event, func(_ context.Context, batch []queue.Message) []string { return c.handle(batch) })
		got, err := json.Marshal(response)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

const all = `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"},{"itemIdentifier":"c"}]}`

func TestDrainOfNothing(t *testing.T) {
	t.Parallel()
	response := sqs.Drain(t.Context(), events.SQSEvent{}, func(context.Context, []queue.Message) []string {
		t.Error("the handler was called")
		return nil
	})
	if response.BatchItemFailures == nil || len(response.BatchItemFailures) != 0 {
		t.Errorf("response %+v", response)
	}
}
