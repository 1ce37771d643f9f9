// Package dynamotest opens DynamoDB stores for tests, apart from package dynamo so that
// no program links the testing package.
package dynamotest

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"docent/shared/table/dynamo"
	"docent/testkit/moto"
)

// OpenAt opens a store on the protocol server, with its own new tables and a clock. The test is
// skipped if the server is not installed.
func OpenAt(t testing.TB, now func() time.Time) *dynamo.Store {
	t.Helper()
	client := dynamodb.NewFromConfig(moto.Config(moto.OneAtATime(t, moto.Start(t))))
	store := dynamo.New(client, dynamo.Options{Prefix: uuid.NewString() + "-", Now: now})
	if err := store.CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}
