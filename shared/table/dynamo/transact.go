package dynamo

import (
	"context"
	"errors"
	"slices"
	"time"

	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

// transact applies all of ops or none. After a lost answer it sends exactly the same request
// again; its token prevents DynamoDB from carrying it out twice.
func (s *Store) transact(ctx context.Context, ops []table.Op) error {
	tries := attempts{store: s}
	states := make([]itemState, len(ops))
	for range maxGuesses {
		now := s.now()
		input, err := s.transaction(ops, states, now)
		if err != nil {
			return err
		}
		cancelled, err := s.sendTransaction(ctx, input, &tries)
		if cancelled == nil {
			return err
		}
		meterCancelled(ctx, ops)
		if err := classifyFailures(ops, states, cancelled, now); err != nil {
			return err
		}
	}
	return errChanging
}

func (s *Store) transaction(ops []table.Op, states []itemState, now time.Time) (*dynamodb.TransactWriteItemsInput, error) {
	items := make([]types.TransactWriteItem, len(ops))
	for n, op := range ops {
		p, err := prepare(op, states[n], now)
		if err != nil {
			return nil, err
		}
		items[n] = s.transactItem(p)
	}
	return &dynamodb.TransactWriteItemsInput{
		TransactItems:          items,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}, nil
}

func (s *Store) transactItem(p prepared) types.TransactWriteItem {
	const tell = types.ReturnValuesOnConditionCheckFailureAllOld
	name := s.physical(p.key.Table)
	switch p.kind {
	case put:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: name, Item: encode(p.item), ConditionExpression: p.condition,
			ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values, ReturnValuesOnConditionCheckFailure: tell,
		}}
	case remove:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: name, Key: encodeKey(p.key), ConditionExpression: p.condition,
			ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values, ReturnValuesOnConditionCheckFailure: tell,
		}}
	case check:
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: name, Key: encodeKey(p.key), ConditionExpression: p.condition,
			ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values, ReturnValuesOnConditionCheckFailure: tell,
		}}
	default:
		return types.TransactWriteItem{Update: &types.Update{
			TableName: name, Key: encodeKey(p.key), UpdateExpression: p.update, ConditionExpression: p.condition,
			ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values, ReturnValuesOnConditionCheckFailure: tell,
		}}
	}
}

// sendTransaction sends input until it succeeds or fails permanently. It returns the
// cancellation if a condition caused it.
func (s *Store) sendTransaction(ctx context.Context, input *dynamodb.TransactWriteItemsInput, tries *attempts) (*types.TransactionCanceledException, error) {
	input.ClientRequestToken = aws.String(uuid.NewString())
	for {
		out, err := send(ctx, s.client.TransactWriteItems, input)
		if err == nil {
			meterTransaction(ctx, out.ConsumedCapacity)
			return nil, nil
		}
		cancelled := new(types.TransactionCanceledException)
		over := errors.As(err, &cancelled)
		if over && faultOf(err) == final && hasFailedCondition(cancelled) {
			return cancelled, nil
		}
		if err := tries.again(ctx, err); err != nil {
			return nil, err
		}
		if over {
			input.ClientRequestToken = aws.String(uuid.NewString())
		}
	}
}

const conditionFailed = "ConditionalCheckFailed"

func hasFailedCondition(cancelled *types.TransactionCanceledException) bool {
	return slices.ContainsFunc(cancelled.CancellationReasons, func(r types.CancellationReason) bool {
		return aws.ToString(r.Code) == conditionFailed
	})
}

// classifyFailures returns the first failed condition or, without one, the first
// other error. If there is neither, it sets the states to try next.
func classifyFailures(ops []table.Op, states []itemState, cancelled *types.TransactionCanceledException, now time.Time) error {
	var refused error
	for n, reason := range cancelled.CancellationReasons {
		if aws.ToString(reason.Code) != conditionFailed || n >= len(ops) {
			continue
		}
		old, err := decode(table.KeyOf(ops[n]).Table, reason.Item)
		if err != nil {
			return err
		}
		next, err := classifyFailure(ops[n], states[n], old, now)
		if table.AsConditionFailed(err) != nil {
			return err
		}
		if err != nil && refused == nil {
			refused = err
		}
		states[n] = next
	}
	return refused
}
