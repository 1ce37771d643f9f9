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

// turns lets one request at a time reach the server, each to its end even if who
// sent it has gone: moto spoils transactions that run at the same time. Writers
// and pollers race for their turns as they do elsewhere.
type turns struct{ mu sync.Mutex }

func (s *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r.Clone(context.WithoutCancel(r.Context())))
}

// TestPollersMissNothingOnDynamoDB is TestPollersMissNothing with a tenth of the
// events: each costs several requests of a server that takes them one after another.
// The server that DOCENT_TEST_DYNAMODB_ENDPOINT names gets all events, and the
// requests as they come.
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
