package simulate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/blob"
	"docent/shared/blob/blobtest"
	"docent/shared/queue"
	"docent/shared/queue/queuetest"
	"docent/shared/table"
	"docent/shared/table/tabletest"
)

// The contract suite has a clock of its own, so no call takes time in it.
func TestTableContract(t *testing.T) {
	t.Parallel()
	tabletest.Run(t, func(_ *testing.T, now func() time.Time) table.Store { return NewTable(&Chance{}, now) }, tabletest.Options{})
}

func TestObjectsContract(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(*testing.T) blob.Store { return NewObjects(&Chance{}) })
}

// SQS gives no bound of when a quiet group has its turn, so that case is left out here as it is of SQS.
func TestQueueContract(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, queuetest.Options{
		Around: synctest.Test,
		Unfair: true,
		Open: func(_ *testing.T, visibility time.Duration) queuetest.Fixture {
			var dead []string
			q := NewQueue(&Chance{}, QueueOptions{Visibility: visibility, Dead: func(m queue.Message) { dead = append(dead, string(m.Body)) }})
			return queuetest.Fixture{Queue: q, Dead: func(context.Context) ([]string, error) { return dead, nil }}
		},
	})
}
