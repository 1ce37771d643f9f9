package scim_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"docent/shared/table"
	"docent/shared/table/dynamo"
	"docent/testkit/moto"
)

// runInOrder sends one request at a time to the server: moto corrupts parallel
// transactions.
type inTurn struct{ mu sync.Mutex }

func (t *inTurn) RoundTrip(r *http.Request) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r.Clone(context.WithoutCancel(r.Context())))
}

// onBothEngines runs test on bolt and on DynamoDB's protocol.
func onBothEngines(t *testing.T, test func(t *testing.T, s *server)) {
	t.Run("bolt", func(t *testing.T) {
		t.Parallel()
		test(t, newServer(t))
	})
	t.Run("dynamo", func(t *testing.T) {
		t.Parallel()
		config := moto.Config(moto.Start(t))
		config.HTTPClient = &http.Client{Transport: &inTurn{}}
		test(t, newServerOn(t, func(table.Store) table.Store {
			store := dynamo.New(dynamodb.NewFromConfig(config), dynamo.Options{Prefix: uuid.NewString() + "-"})
			if err := store.CreateTables(t.Context()); err != nil {
				t.Fatal(err)
			}
			return store
		}))
	})
}
