package dynamo_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"docent/scripts/moto"
	"docent/shared/table"
	"docent/shared/table/dynamo"
	"docent/shared/table/tabletest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
)

// lacks is what moto 5.2.1 can not do.
var lacks = tabletest.Options{
	NoConcurrentTransactions: true, // its tables are not guarded: a transaction may answer 500 or undo what another did
	NoFullItems:              true, // it measures items otherwise and refuses some below 400 KB
	NoCapacity:               true, // it reports one unit whatever an item's size
}

// TestContract is not parallel, and neither are its cases, because of the first
// of what moto lacks.
func TestContract(t *testing.T) {
	tabletest.Run(t, opener(t, moto.Config(moto.Start(t)), uuid.NewString()+"-"), lacks)
}

// TestContractAtNamedEndpoint leaves nothing out. With AWS_ACCESS_KEY_ID or
// AWS_PROFILE in the environment it signs with that identity.
func TestContractAtNamedEndpoint(t *testing.T) {
	t.Parallel()
	endpoint := os.Getenv("DOCENT_TEST_DYNAMODB_ENDPOINT")
	if endpoint == "" {
		t.Skip("DOCENT_TEST_DYNAMODB_ENDPOINT names no endpoint")
	}
	c := moto.Config(endpoint)
	if os.Getenv("AWS_ACCESS_KEY_ID")+os.Getenv("AWS_PROFILE") != "" {
		var err error
		if c, err = config.LoadDefaultConfig(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.BaseEndpoint = aws.String(endpoint)
	}
	tabletest.Run(t, opener(t, c, "docent-test-"), tabletest.Options{})
}

// opener returns stores over one set of tables, which the first of them creates.
func opener(t *testing.T, c aws.Config, prefix string) tabletest.Open {
	t.Helper()
	client := dynamodb.NewFromConfig(c)
	create := sync.OnceValue(func() error {
		return dynamo.New(client, dynamo.Options{Prefix: prefix}).CreateTables(t.Context())
	})
	return func(t *testing.T, now func() time.Time) table.Store {
		t.Helper()
		if err := create(); err != nil {
			t.Fatal(err)
		}
		return dynamo.New(client, dynamo.Options{Prefix: prefix, Now: now})
	}
}
