package audit_test

import (
	"context"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"docent/shared/table"
	"docent/shared/table/dynamo"
	"docent/testkit/moto"
)

// turns sends one request at a time to the server, and finishes it even if the caller
// gives up: moto corrupts parallel transactions. Writers and pollers still race for
// their turns.
type turns struct{ mu sync.Mutex }

func (s *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r.Clone(context.WithoutCancel(r.Context())))
}

// TestPollersMissNothingOnDynamoDB is TestPollersMissNothing with a tenth of the events: each
// takes several requests, and the server handles one at a time. The server of
// DOCENT_TEST_DYNAMODB_ENDPOINT gets all events, with parallel requests.
func TestPollersMissNothingOnDynamoDB(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute; run without -short")
	}
	events := raceEvents(t)
	var config aws.Config
	if endpoint := os.Getenv("DOCENT_TEST_DYNAMODB_ENDPOINT"); endpoint != "" {
		config = moto.Config(endpoint)
	} else {
		config = moto.Config(moto.Start(t))
		config.HTTPClient = &http.Client{Transport: &turns{}}
		events /= 10
	}
	w := newWorldOn(t, func(now func() time.Time) table.Store {
		store := dynamo.New(dynamodb.NewFromConfig(config), dynamo.Options{Prefix: uuid.NewString() + "-", Now: now})
		if err := store.CreateTables(t.Context()); err != nil {
			t.Fatal(err)
		}
		return store
	})
	newCrowd(t, w, events, raceGrace, 10*raceGrace).polled(t, raceGrace)
}
