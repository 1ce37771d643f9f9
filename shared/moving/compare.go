package moving

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"docent/shared/table"
)

// expiring is how long before its end an item is left out of comparisons: an engine may remove
// it at any time after.
const expiring = time.Hour

// contents are the number of items and the sum of their digests, which does not depend on their
// order.
type contents struct {
	items int64
	sum   [sha256.Size]byte
}

// compareRows compares all items of one stage in both homes.
func (m *Move) compareRows(ctx context.Context, s stage) error {
	for _, name := range tablesOf(s) {
		m.begin("compare " + name)
		from, err := m.contents(ctx, m.From, name, s)
		if err != nil {
			return fmt.Errorf("read the table %s: %w", name, err)
		}
		to, err := m.contents(ctx, m.To, name, s)
		if err != nil {
			return fmt.Errorf("read the copied table %s: %w", name, err)
		}
		if from != to {
			return fmt.Errorf("%w: the table %s has %d items, digest %x, and its copy %d, digest %x",
				ErrDiffers, name, from.items, from.sum[:8], to.items, to.sum[:8])
		}
	}
	return nil
}

func (m *Move) contents(ctx context.Context, at Home, name string, s stage) (contents, error) {
	var c contents
	for item, err := range at.Rows.Scan(ctx, name) {
		if err != nil {
			return c, err
		}
		if stageOf(item.Key) != s || !item.Expires.IsZero() && item.Expires.Before(m.Now.Add(expiring)) {
			continue
		}
		if item, err = m.clear(ctx, at, item); err != nil {
			return c, err
		}
		c.add(item)
		m.tell(1, 0)
	}
	return c, nil
}

// add adds the digest of an item, as a number without its carry.
func (c *contents) add(item table.Item) {
	c.items++
	item.Expires = item.Expires.UTC()
	if len(item.Body) == 0 {
		item.Body = nil
	}
	if len(item.Numbers) == 0 {
		item.Numbers = nil
	}
	if len(item.Strings) == 0 {
		item.Strings = nil
	}
	text, err := json.Marshal(item)
	if err != nil {
		panic(err) // it has no field that can fail to encode
	}
	digest, carry := sha256.Sum256(text), 0
	for n := len(c.sum) - 1; n >= 0; n-- {
		carry += int(c.sum[n]) + int(digest[n])
		c.sum[n] = byte(carry)
		carry >>= 8
	}
}
