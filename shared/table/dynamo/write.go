package dynamo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// maxGuesses bounds how often an Add may assume a wrong state of the item.
const maxGuesses = 16

var errChanging = fmt.Errorf("%w: the item keeps expiring and being created again", table.ErrConflict)

// Write implements table.Store. A single operation is a single-item request, at half the price
// of a transaction; a single Check is a consistent read.
func (s *Store) Write(ctx context.Context, ops ...table.Op) error {
	if err := table.CheckOps(ops); err != nil {
		return err
	}
	for _, op := range ops {
		if err := s.checkTable(table.KeyOf(op).Table); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(ops) > 1 {
		return s.transact(ctx, ops)
	}
	if lone, ok := ops[0].(table.Check); ok {
		item, err := s.read(ctx, lone.Key, false)
		if err == nil && !lone.If.Holds(item) {
			err = &table.ConditionFailed{Key: lone.Key, Item: item}
		}
		return err
	}
	_, err := s.single(ctx, ops[0], false)
	return err
}

// Add implements table.Store. With Once it still repeats attempts that DynamoDB
// has refused, because they had no effect.
func (s *Store) Add(ctx context.Context, a table.Add) (table.Item, error) {
	if err := a.Check(); err != nil {
		return table.Item{}, err
	}
	if err := s.checkTable(a.Key.Table); err != nil {
		return table.Item{}, err
	}
	if err := ctx.Err(); err != nil {
		return table.Item{}, err
	}
	item, err := s.single(ctx, a, a.Once)
	if err != nil {
		return table.Item{}, err
	}
	return *item, nil
}

// single carries out op in its own request. Only for an Add does it return the resulting item.
func (s *Store) single(ctx context.Context, op table.Op, once bool) (*table.Item, error) {
	tries := attempts{store: s, once: once}
	state := usualState
	for range maxGuesses {
		now := s.now()
		p, err := prepare(op, state, now)
		if err != nil {
			return nil, err
		}
		item, err := s.sendSingle(ctx, p)
		for ; err != nil && !isConditionFailed(err); item, err = s.sendSingle(ctx, p) {
			if err := tries.again(ctx, err); err != nil {
				return nil, err
			}
		}
		if err == nil {
			return item, nil
		}
		old, err := oldItem(p.key, err)
		if err != nil {
			return nil, err
		}
		meterFailed(ctx, old, p)
		if tries.unsure && p.kind == put && state == usualState && old != nil && equal(*old, p.item) {
			// The attempt with the lost answer succeeded; this is its own item.
			return nil, nil
		}
		if state, err = classifyFailure(op, state, old, now); err != nil {
			return nil, err
		}
	}
	return nil, errChanging
}

func isConditionFailed(err error) bool {
	failed := new(types.ConditionalCheckFailedException)
	return errors.As(err, &failed)
}

func oldItem(k table.Key, err error) (*table.Item, error) {
	failed := new(types.ConditionalCheckFailedException)
	errors.As(err, &failed)
	return decode(k.Table, failed.Item)
}

func equal(a, b table.Item) bool {
	return a.Key == b.Key && a.Version == b.Version && bytes.Equal(a.Body, b.Body) &&
		maps.Equal(a.Numbers, b.Numbers) && maps.Equal(a.Strings, b.Strings) && a.Expires.Equal(table.WholeSeconds(b.Expires))
}

func (s *Store) sendSingle(ctx context.Context, p prepared) (*table.Item, error) {
	const (
		report = types.ReturnConsumedCapacityTotal
		tell   = types.ReturnValuesOnConditionCheckFailureAllOld
	)
	name := s.physical(p.key.Table)
	switch p.kind {
	case put:
		out, err := send(ctx, s.client.PutItem, &dynamodb.PutItemInput{
			TableName: name, Item: encode(p.item), ConditionExpression: p.condition,
			ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values,
			ReturnConsumedCapacity: report, ReturnValuesOnConditionCheckFailure: tell,
		})
		if err != nil {
			return nil, err
		}
		meterWrite(ctx, out.ConsumedCapacity)
		return &p.item, nil
	case remove:
		out, err := send(ctx, s.client.DeleteItem, &dynamodb.DeleteItemInput{
			TableName: name, Key: encodeKey(p.key), ConditionExpression: p.condition,
			ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values,
			ReturnConsumedCapacity: report, ReturnValuesOnConditionCheckFailure: tell,
		})
		if err != nil {
			return nil, err
		}
		meterWrite(ctx, out.ConsumedCapacity)
		return nil, nil
	default:
		out, err := send(ctx, s.client.UpdateItem, &dynamodb.UpdateItemInput{
			TableName: name, Key: encodeKey(p.key), UpdateExpression: p.update, ConditionExpression: p.condition,
			ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values,
			ReturnConsumedCapacity: report, ReturnValuesOnConditionCheckFailure: tell,
			ReturnValues: types.ReturnValueAllNew,
		})
		if err != nil {
			return nil, err
		}
		meterWrite(ctx, out.ConsumedCapacity)
		return decode(p.key.Table, out.Attributes)
	}
}
