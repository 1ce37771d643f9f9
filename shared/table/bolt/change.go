package bolt

import (
	"fmt"
	"time"

	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
)

// plan computes the item that op writes.
func (c *change) plan(op table.Op, now time.Time) error {
	switch op := op.(type) {
	case table.Put:
		item := op.Item
		item.Expires = table.WholeSeconds(item.Expires)
		c.new = &item
	case table.Add:
		item, err := op.Apply(table.Live(c.old, now))
		c.new = &item
		return err
	case table.Check:
		c.keep = true
	}
	return nil
}

// carryOut makes the change and updates the list of expiring items.
func (c *change) carryOut(tx *bbolt.Tx) error {
	if c.keep {
		return nil
	}
	expiry := tx.Bucket(expiryBucket)
	if c.old != nil && !c.old.Expires.IsZero() {
		if err := expiry.Delete(expiryKey(c.old.Expires, c.key)); err != nil {
			return fmt.Errorf("update the list of expiring items: %w", err)
		}
	}
	rows := tx.Bucket(bucketName(c.key.Table))
	if c.new == nil {
		if err := rows.Delete(rowKey(c.key)); err != nil {
			return fmt.Errorf("delete item: %w", err)
		}
		return nil
	}
	if err := rows.Put(rowKey(c.key), encode(*c.new)); err != nil {
		return fmt.Errorf("put item: %w", err)
	}
	if !c.new.Expires.IsZero() {
		if err := expiry.Put(expiryKey(c.new.Expires, c.key), nil); err != nil {
			return fmt.Errorf("add to the list of expiring items: %w", err)
		}
	}
	return nil
}

// units are DynamoDB request units.
type units struct{ read, write float64 }

// price returns the cost of ops on DynamoDB. Each operation costs by the larger of the old and
// the new item, twice as much in a transaction. A single Check is a read.
func price(ops []table.Op, changes []change) units {
	var total units
	for _, c := range changes {
		size := 0
		for _, item := range []*table.Item{c.old, c.new} {
			if item != nil {
				size = max(size, table.Size(*item))
			}
		}
		if c.keep && len(ops) == 1 {
			total.read += table.ReadUnits(size, false)
			continue
		}
		total.write += table.WriteUnits(size)
	}
	if len(ops) > 1 {
		total.write *= 2
	}
	return total
}
