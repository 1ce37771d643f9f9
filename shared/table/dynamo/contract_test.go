package dynamo_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/dynamo"
	"docent/shared/table/tabletest"
	"docent/testkit/moto"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
)

// lacks are the limits of moto 5.2.1. It also spoils parallel transactions, so the suite sends it
// one request at a time, although callers race as usual. TransactionConflict, with which DynamoDB
// refuses some parallel transactions, is tested at a named endpoint and by
// TestRefusedAttemptsAreRepeated.
var lacks = tabletest.Options{
	NoFullItems: true, // it measures items differently and refuses some below 400 KB
	NoCapacity:  true, // it reports one unit for any size of item
}

func TestContract(t *testing.T) {
	t.Parallel()
	tabletest.Run(t, opener(t, moto.Config(moto.OneAtATime(t, moto.Start(t))), uuid.NewString()+"-"), lacks)
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

func TestWholeStores(t *testing.T) {
	t.Parallel()
	open := opener(t, moto.Config(moto.OneAtATime(t, moto.Start(t))), uuid.NewString()+"-")
	tabletest.RunWhole(t, func(t *testing.T, now func() time.Time) tabletest.Whole {
		t.Helper()
		return open(t, now).(*dynamo.Store)
	})
}
