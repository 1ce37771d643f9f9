// Package dynamotest opens DynamoDB stores for tests, apart from package dynamo so that
// no program links the testing package.
package dynamotest

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"docent/shared/table/dynamo"
	"docent/testkit/moto"
)

// turns sends one request at a time, and each to its end: moto spoils transactions that
// run at the same time.
type turns struct{ mu sync.Mutex }

func (s *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r.Clone(context.WithoutCancel(r.Context())))
}

// inTurn is shared by all stores of a test binary, as its server is.
var inTurn = &http.Client{Transport: &turns{}}

// OpenAt opens a store with new tables of its own on the protocol server, with a clock.
// The test is skipped where the server is not installed.
func OpenAt(t testing.TB, now func() time.Time) *dynamo.Store {
	t.Helper()
	config := moto.Config(moto.Start(t))
	config.HTTPClient = inTurn
	store := dynamo.New(dynamodb.NewFromConfig(config), dynamo.Options{Prefix: uuid.NewString() + "-", Now: now})
	if err := store.CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}
