package dynamo

import (
	"context"
	"fmt"

	"docent/shared/memory"
	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Get implements table.Store.
func (s *Store) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	if err := s.checkKey(k); err != nil {
		return table.Item{}, err
	}
	item, err := s.read(ctx, k, table.IsEventual(opts))
	switch {
	case err != nil:
		return table.Item{}, err
	case item == nil:
		return table.Item{}, table.ErrNotFound
	}
	return *item, nil
}

// read returns the live item under k, nil if there is none.
func (s *Store) read(ctx context.Context, k table.Key, eventual bool) (*table.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	input := &dynamodb.GetItemInput{
		TableName:              s.physical(k.Table),
		Key:                    encodeKey(k),
		ConsistentRead:         aws.Bool(!eventual),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	out, err := persist(ctx, s, s.client.GetItem, input)
	if err != nil {
		return nil, err
	}
	if out.ConsumedCapacity != nil {
		meterRead(ctx, *out.ConsumedCapacity)
	}
	item, err := decode(k.Table, out.Item)
	return table.Live(item, s.now()), err
}

// persist repeats a request that only reads until it is answered or refused.
func persist[I, O any](ctx context.Context, s *Store, do func(context.Context, *I, ...func(*dynamodb.Options)) (*O, error), input *I) (*O, error) {
	tries := attempts{store: s}
	for {
		out, err := send(ctx, do, input)
		if err == nil {
			return out, nil
		}
		if err := tries.again(ctx, err); err != nil {
			return nil, err
		}
	}
}

// Query implements table.Store. As DynamoDB does, a page ends after Limit items
// or 1 MB, counting expired ones.
func (s *Store) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := s.checkTable(q.Table); err != nil {
		return table.Page{}, err
	}
	if err := q.Check(); err != nil {
		return table.Page{}, err
	}
	after, err := q.After()
	if err != nil {
		return table.Page{}, err
	}
	if err := ctx.Err(); err != nil || q.Empty() {
		return table.Page{}, err
	}
	out, err := persist(ctx, s, s.client.Query, s.queryInput(q, after))
	if err != nil {
		return table.Page{}, err
	}
	if out.ConsumedCapacity != nil {
		meterRead(ctx, *out.ConsumedCapacity)
	}
	page, err := s.page(q, out)
	if err != nil {
		return table.Page{}, err
	}
	if err := reserve(ctx, page.Items); err != nil {
		return table.Page{}, err
	}
	return page, nil
}

// reserve charges the memory of items to the request of ctx, if its reads are charged.
func reserve(ctx context.Context, items []table.Item) error {
	size := 0
	for _, item := range items {
		size += table.Size(item)
	}
	return memory.ReserveRead(ctx, int64(size))
}

func (s *Store) queryInput(q table.Query, after string) *dynamodb.QueryInput {
	var x expression
	condition := x.partition() + " = " + x.value(text(q.Partition))
	sort := x.name(table.SortAttribute)
	bound := func(format string, bounds ...any) {
		condition += " AND " + fmt.Sprintf(format, bounds...)
	}
	switch {
	case q.Prefix != "":
		bound("begins_with(%s, %s)", sort, x.value(text(q.Prefix)))
	case q.From != "" && q.To != "":
		bound("%s BETWEEN %s AND %s", sort, x.value(text(q.From)), x.value(text(q.To)))
	case q.From != "":
		bound("%s >= %s", sort, x.value(text(q.From)))
	case q.To != "":
		bound("%s <= %s", sort, x.value(text(q.To)))
	default:
		delete(x.names, sort) // DynamoDB refuses unused names
	}
	input := &dynamodb.QueryInput{
		TableName:                 s.physical(q.Table),
		KeyConditionExpression:    aws.String(condition),
		ExpressionAttributeNames:  x.names,
		ExpressionAttributeValues: x.values,
		ScanIndexForward:          aws.Bool(!q.Descending),
		ConsistentRead:            aws.Bool(!q.Eventual),
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	}
	if q.Limit > 0 {
		input.Limit = aws.Int32(int32(min(q.Limit, 1<<30)))
	}
	if after != "" {
		input.ExclusiveStartKey = encodeKey(table.Key{Partition: q.Partition, Sort: after})
	}
	return input
}

func (s *Store) page(q table.Query, out *dynamodb.QueryOutput) (table.Page, error) {
	var page table.Page
	now := s.now()
	for _, a := range out.Items {
		item, err := decode(q.Table, a)
		if err != nil {
			return table.Page{}, err
		}
		if item = table.Live(item, now); item != nil {
			page.Items = append(page.Items, *item)
		}
	}
	last, err := decode(q.Table, out.LastEvaluatedKey)
	if err != nil {
		return table.Page{}, err
	}
	if last != nil {
		page.Cursor = q.CursorAt(last.Sort)
	}
	return page, nil
}
