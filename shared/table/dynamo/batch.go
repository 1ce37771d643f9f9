package dynamo

import (
	"context"
	"errors"
	"slices"

	"docent/shared/memory"
	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
)

// Bounds of BatchGet: keys per request, by DynamoDB, and our requests in parallel.
const (
	batchKeys     = 100
	batchRequests = 10
)

// errUnprocessed: DynamoDB replied without processing any of the keys.
var errUnprocessed = errors.New("no key was processed")

// BatchGet implements table.Store.
func (s *Store) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) ([]table.Item, error) {
	items, err := s.batchGet(ctx, keys, table.IsEventual(opts))
	if err == nil {
		err = reserve(ctx, items)
	}
	if err != nil {
		return nil, err
	}
	return items, nil
}

func (s *Store) batchGet(ctx context.Context, keys []table.Key, eventual bool) ([]table.Item, error) {
	unique := make([]table.Key, 0, len(keys))
	places := make(map[table.Key]int, len(keys))
	for _, k := range keys {
		if err := s.checkKey(k); err != nil {
			return nil, err
		}
		if _, known := places[k]; !known {
			places[k] = len(unique)
			unique = append(unique, k)
		}
	}
	if err := ctx.Err(); err != nil || len(unique) == 0 {
		return nil, err
	}
	found := make([]*table.Item, len(unique))
	now := s.now()
	defer memory.Pause(ctx)()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(batchRequests)
	chunks := slices.Collect(slices.Chunk(unique, batchKeys))
	// Requests that start together are counted before the first one can end.
	ends := make([]func(), len(chunks))
	for n := range min(len(chunks), batchRequests) {
		ends[n] = table.MeterFrom(ctx).Begin()
	}
	for n, chunk := range chunks {
		group.Go(func() error {
			return s.batch(ctx, chunk, ends[n], eventual, func(item *table.Item) {
				found[places[item.Key]] = table.Live(item, now)
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	items := make([]table.Item, 0, len(unique))
	for _, item := range found {
		if item != nil {
			items = append(items, *item)
		}
	}
	return items, nil
}

// batch reads up to batchKeys keys and yields the items found. It repeats the request for keys
// left unprocessed, at once if other keys were processed. begun ends the first request on the
// meter; nil: that request has not begun.
func (s *Store) batch(ctx context.Context, keys []table.Key, begun func(), eventual bool, yield func(*table.Item)) error {
	request, logical := s.batchRequest(keys, eventual)
	tries := attempts{store: s}
	for len(request) > 0 {
		if begun == nil {
			begun = table.MeterFrom(ctx).Begin()
		}
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: request, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		}, singleAttempt)
		begun()
		begun = nil
		if err != nil {
			if err := tries.again(ctx, err); err != nil {
				return err
			}
			continue
		}
		meterRead(ctx, out.ConsumedCapacity...)
		if err := decodeRows(out.Responses, logical, yield); err != nil {
			return err
		}
		if countKeys(out.UnprocessedKeys) >= countKeys(request) {
			if err := tries.again(ctx, errUnprocessed); err != nil {
				return err
			}
		}
		request = out.UnprocessedKeys
	}
	return nil
}

// batchRequest returns a request for keys, with the names of the tables at DynamoDB.
// logical maps those names to ours.
func (s *Store) batchRequest(keys []table.Key, eventual bool) (request map[string]types.KeysAndAttributes, logical map[string]string) {
	request, logical = make(map[string]types.KeysAndAttributes), make(map[string]string)
	for _, k := range keys {
		name := s.names[k.Table]
		logical[name] = k.Table
		part := request[name]
		part.ConsistentRead = aws.Bool(!eventual)
		part.Keys = append(part.Keys, encodeKey(k))
		request[name] = part
	}
	return request, logical
}

// decodeRows yields the items of a response, given by the tables' names at DynamoDB.
func decodeRows(response map[string][]map[string]types.AttributeValue, logical map[string]string, yield func(*table.Item)) error {
	for name, rows := range response {
		for _, row := range rows {
			item, err := decode(logical[name], row)
			if err != nil {
				return err
			}
			if item != nil {
				yield(item)
			}
		}
	}
	return nil
}

func countKeys(request map[string]types.KeysAndAttributes) (n int) {
	for _, part := range request {
		n += len(part.Keys)
	}
	return n
}
