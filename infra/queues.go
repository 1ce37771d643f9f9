package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/queue"
)

// queuePair is a queue and the queue of its dead letters.
type queuePair struct {
	queue awssqs.Queue
	dead  awssqs.Queue
}

const (
	// visibilityOf times a worker's timeout is how long a message stays hidden. AWS recommends it, so that an event
	// source's own retries do not overlap with the next delivery.
	visibilityOf = 6
	keepDays     = 4
	keepDeadDays = 14 // the maximum, because a person has to look
)

func (s *stack) addQueues() {
	s.questions = s.newQueuePair("Questions", "answering")
	s.documents = s.newQueuePair("Documents", "indexing")
	s.syncs = s.newQueuePair("Syncs", "syncing")
	s.rebuilds = s.newQueuePair("Rebuilds", "indexing")
	s.embeddings = s.newQueuePair("Embeddings", "embedding")
	s.deliveries = s.newQueuePair("Deliveries", "delivering")
	s.extractions = s.newQueuePair("Extractions", "extracting")
}

// newQueuePair adds a queue for the worker, and the queue of its dead letters.
func (s *stack) newQueuePair(name, worker string) queuePair {
	days := func(n float64) awscdk.Duration { return awscdk.Duration_Days(jsii.Number(n)) }
	dead := awssqs.NewQueue(s.construct, id(name, "DeadLetters"), &awssqs.QueueProps{
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: days(keepDeadDays),
	})
	return queuePair{dead: dead, queue: awssqs.NewQueue(s.construct, id(name, "Queue"), &awssqs.QueueProps{
		Encryption:        awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		RetentionPeriod:   days(keepDays),
		VisibilityTimeout: awscdk.Duration_Seconds(jsii.Number(visibilityOf * specOf(worker).timeout)),
		DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: dead, MaxReceiveCount: jsii.Number(queue.MaxReceives)},
	})}
}

// rebuildWorkers is how many rebuilds run at a time, AWS's minimum. They are separate from the workers of
// documents, which rebuilding never blocks.
const rebuildWorkers = 2

// mostWorkers is AWS's maximum for an event source.
const mostWorkers = 1000

// deliverers is how many workers make deliveries at a time: half as many more than other workers. By default that is more than a team may
// have endpoints, and each endpoint is served by one worker, so a team whose endpoints are all slow leaves some to others.
func (s *stack) deliverers() int { return min(s.workers+s.workers/2, mostWorkers) }

// addWorkers connects each queue with its worker.
func (s *stack) addWorkers() {
	for _, w := range []struct {
		name, worker string
		from         queuePair
		batch        float64
		most         int
	}{
		{"answering", "answering", s.questions, 1, s.workers}, // a model may take most of the available time
		{"indexing", "indexing", s.documents, queue.MaxBatch, s.workers},
		{"syncing", "syncing", s.syncs, 1, s.workers}, // a source may take all of a turn
		{"rebuilding", "indexing", s.rebuilds, 1, rebuildWorkers},
		{"embedding", "embedding", s.embeddings, queue.MaxBatch, s.workers},
		{"extracting", "extracting", s.extractions, 1, s.workers},                  // a file may take most of the available time
		{"delivering", "delivering", s.deliveries, queue.MaxBatch, s.deliverers()}, // it handles the messages of a batch at the same time
	} {
		awslambda.NewEventSourceMapping(s.construct, id(w.name, "Source"), &awslambda.EventSourceMappingProps{
			Target:                  s.callable(w.worker),
			EventSourceArn:          w.from.queue.QueueArn(),
			BatchSize:               jsii.Number(w.batch),
			MaxConcurrency:          jsii.Number(w.most),
			ReportBatchItemFailures: jsii.Bool(true),
		})
	}
}
