package dynamo

import (
	"context"

	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// DynamoDB reports the cost of every request that it does not refuse. For a refused one, the
// functions below compute the cost by its rules.

func meterRead(ctx context.Context, consumed ...types.ConsumedCapacity) {
	for _, c := range consumed {
		table.MeterFrom(ctx).Units(aws.ToFloat64(c.CapacityUnits), 0)
	}
}

func meterWrite(ctx context.Context, consumed *types.ConsumedCapacity) {
	if consumed != nil {
		table.MeterFrom(ctx).Units(0, aws.ToFloat64(consumed.CapacityUnits))
	}
}

func meterTransaction(ctx context.Context, consumed []types.ConsumedCapacity) {
	for _, c := range consumed {
		table.MeterFrom(ctx).Units(0, aws.ToFloat64(c.CapacityUnits))
	}
}

// meterFailed counts a single-item request whose condition did not hold for old.
func meterFailed(ctx context.Context, old *table.Item, p prepared) {
	size := 0
	if old != nil {
		size = table.Size(*old)
	}
	if p.kind == put {
		size = max(size, table.Size(p.item))
	}
	table.MeterFrom(ctx).Units(0, table.WriteUnits(size))
}

// meterCancelled counts a transaction with a failed condition by the only known items: those
// that it would have put.
func meterCancelled(ctx context.Context, ops []table.Op) {
	units := 0.0
	for _, op := range ops {
		size := 0
		if p, ok := op.(table.Put); ok {
			size = table.Size(p.Item)
		}
		units += 2 * table.WriteUnits(size)
	}
	table.MeterFrom(ctx).Units(0, units)
}
