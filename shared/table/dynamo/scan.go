package dynamo

import (
	"context"
	"iter"
	"slices"

	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// batchWrites is DynamoDB's limit of one BatchWriteItem.
const batchWrites = 25

// Scan yields the items of a table that have not expired, in no particular order. It is for
// copies of the whole store: it reads a page at a time, and sees a Write during it or not. Reads
// are consistent.
func (s *Store) Scan(ctx context.Context, tableName string) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		if err := s.checkTable(tableName); err != nil {
			yield(table.Item{}, err)
			return
		}
		input := &dynamodb.ScanInput{TableName: s.physical(tableName), ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
		for {
			out, err := persist(ctx, s, s.client.Scan, input)
			if err != nil {
				yield(table.Item{}, err)
				return
			}
			if out.ConsumedCapacity != nil {
				meterRead(ctx, *out.ConsumedCapacity)
			}
			for _, a := range out.Items {
				item, err := decode(tableName, a)
				if item = table.Live(item, s.now()); item == nil && err == nil {
					continue
				}
				if err != nil {
					yield(table.Item{}, err)
					return
				}
				if !yield(*item, nil) {
					return
				}
			}
			if input.ExclusiveStartKey = out.LastEvaluatedKey; len(out.LastEvaluatedKey) == 0 {
				return
			}
		}
	}
}

// PutAll stores items in batches, not in one transaction. If it fails, some may be stored.
func (s *Store) PutAll(ctx context.Context, items []table.Item) error {
	return writeBatches(ctx, s, items, func(item table.Item) (table.Key, types.WriteRequest) {
		return item.Key, types.WriteRequest{PutRequest: &types.PutRequest{Item: encode(item)}}
	})
}

// DeleteAll removes the items under keys in batches, not in one transaction. If it fails, some may be removed.
func (s *Store) DeleteAll(ctx context.Context, keys []table.Key) error {
	return writeBatches(ctx, s, keys, func(k table.Key) (table.Key, types.WriteRequest) {
		return k, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: encodeKey(k)}}
	})
}

func writeBatches[T any](ctx context.Context, s *Store, all []T, request func(T) (table.Key, types.WriteRequest)) error {
	for some := range slices.Chunk(all, batchWrites) {
		batch := map[string][]types.WriteRequest{}
		for _, one := range some {
			k, r := request(one)
			if err := s.checkKey(k); err != nil {
				return err
			}
			name := s.names[k.Table]
			batch[name] = append(batch[name], r)
		}
		if err := s.writeBatch(ctx, batch); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// writeBatch repeats the requests that are left unprocessed. To repeat others is harmless.
func (s *Store) writeBatch(ctx context.Context, batch map[string][]types.WriteRequest) error {
	tries := attempts{store: s}
	for len(batch) > 0 {
		out, err := send(ctx, s.client.BatchWriteItem, &dynamodb.BatchWriteItemInput{RequestItems: batch, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
		if err != nil {
			if err := tries.again(ctx, err); err != nil {
				return err
			}
			continue
		}
		for n := range out.ConsumedCapacity {
			meterWrite(ctx, &out.ConsumedCapacity[n])
		}
		if countWrites(out.UnprocessedItems) >= countWrites(batch) {
			if err := tries.again(ctx, errUnprocessed); err != nil {
				return err
			}
		}
		batch = out.UnprocessedItems
	}
	return nil
}

func countWrites(batch map[string][]types.WriteRequest) (n int) {
	for _, requests := range batch {
		n += len(requests)
	}
	return n
}
