package local_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/queue/local"
	"docent/shared/queue/queuetest"
	"docent/shared/table/bolt/bolttest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, queuetest.Options{
		Around: synctest.Test,
		Open: func(t *testing.T, visibility time.Duration) queuetest.Fixture {
			q, err := local.Open(bolttest.OpenAt(t, time.Now, local.Table), "work", local.Options{Visibility: visibility})
			if err != nil {
				t.Fatal(err)
			}
			return queuetest.Fixture{Queue: q, Dead: func(ctx context.Context) ([]string, error) {
				letters, err := q.Dead(ctx)
				var bodies []string
				for _, letter := range letters {
					bodies = append(bodies, string(letter.Body))
				}
				return bodies, err
			}}
		},
	})
}
