package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// createWait bounds how long a new table may take to become active.
const createWait = 2 * time.Minute

// CreateTables creates the named tables, or all that the store knows, with on-demand capacity
// and with expiry switched on. For an existing table it only switches expiry on, so it may be
// repeated. It is for tests and local endpoints: a deployment's tables belong to its stack.
func (s *Store) CreateTables(ctx context.Context, names ...string) error {
	if len(names) == 0 {
		for name := range s.names {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if err := s.checkTable(name); err != nil {
			return err
		}
		if err := s.createTable(ctx, s.physical(name)); err != nil {
			return fmt.Errorf("create table %q: %w", name, err)
		}
	}
	return nil
}

func (s *Store) createTable(ctx context.Context, name *string) error {
	key := func(attribute string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(attribute), KeyType: kind}
	}
	isText := func(attribute string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(attribute), AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := s.client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: name,
		KeySchema: []types.KeySchemaElement{
			key(table.PartitionAttribute, types.KeyTypeHash), key(table.SortAttribute, types.KeyTypeRange),
		},
		AttributeDefinitions: []types.AttributeDefinition{isText(table.PartitionAttribute), isText(table.SortAttribute)},
		BillingMode:          types.BillingModePayPerRequest,
	})
	if exists := new(types.ResourceInUseException); err != nil && !errors.As(err, &exists) {
		return err
	}
	waiter := dynamodb.NewTableExistsWaiter(s.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 200*time.Millisecond, 5*time.Second
	})
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: name}, createWait); err != nil {
		return fmt.Errorf("wait until it is active: %w", err)
	}
	return s.expire(ctx, name)
}

// expire switches expiry on if it is off.
func (s *Store) expire(ctx context.Context, name *string) error {
	now, err := s.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: name})
	if err != nil {
		return fmt.Errorf("read the expiry: %w", err)
	}
	if d := now.TimeToLiveDescription; d != nil {
		switch d.TimeToLiveStatus {
		case types.TimeToLiveStatusEnabled, types.TimeToLiveStatusEnabling:
			return nil
		}
	}
	_, err = s.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(table.ExpiresAttribute), Enabled: aws.Bool(true),
		},
	})
	if err != nil {
		return fmt.Errorf("switch the expiry on: %w", err)
	}
	return nil
}
