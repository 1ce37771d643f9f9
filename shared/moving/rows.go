package moving

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"

	"golang.org/x/sync/errgroup"

	"docent/shared/table"
)

// Bounds of copying.
const (
	batchItems = 100
	batchBytes = 2 << 20
	parallel   = 8 // batches at the same time
)

// copyTable copies the items of one stage that are missing in the new home or differ there. Once
// the new home may live, it copies only missing ones.
func (m *Move) copyTable(ctx context.Context, name string, s stage) error {
	m.begin(name)
	holds, err := m.holdsAny(ctx, name)
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards the counts
	return eachBatch(ctx, m.From.Rows, name, s, func(ctx context.Context, items []table.Item) error {
		changed := items
		if holds {
			var err error
			if changed, err = m.changed(ctx, items); err != nil {
				return err
			}
		}
		for n := range changed {
			var err error
			if changed[n], err = m.sealedAgain(ctx, changed[n]); err != nil {
				return err
			}
		}
		if err := m.To.Rows.PutAll(ctx, changed); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		m.report.Items += int64(len(items))
		m.tell(int64(len(items)), int64(len(changed)))
		return nil
	})
}

// removeGone removes the items of one stage that the old home does not have.
func (m *Move) removeGone(ctx context.Context, name string, s stage) error {
	m.begin(name)
	var mu sync.Mutex // guards the count
	return eachBatch(ctx, m.To.Rows, name, s, func(ctx context.Context, items []table.Item) error {
		gone, err := m.gone(ctx, items)
		if err != nil {
			return err
		}
		if err := m.To.Rows.DeleteAll(ctx, gone); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		m.report.Removed += int64(len(gone))
		return nil
	})
}

// holdsAny reports whether the new home has items in the table, so that they must be compared.
func (m *Move) holdsAny(ctx context.Context, name string) (bool, error) {
	for _, err := range m.To.Rows.Scan(ctx, name) {
		return true, err
	}
	return false, nil
}

// eachBatch calls do with the items of one stage, several batches in parallel.
func eachBatch(ctx context.Context, rows Rows, name string, s stage, do func(context.Context, []table.Item) error) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	var batch []table.Item
	size := 0
	send := func() {
		full := batch
		group.Go(func() error { return do(within, full) })
		batch, size = nil, 0
	}
	var failed error
	for item, err := range rows.Scan(within, name) {
		if err != nil {
			failed = err
			break
		}
		if stageOf(item.Key) != s {
			continue
		}
		batch = append(batch, item)
		if size += table.Size(item); len(batch) == batchItems || size > batchBytes {
			send()
		}
	}
	if failed == nil && len(batch) > 0 {
		send()
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return failed
}

// changed returns the items that the new home lacks and, until it may live, those that differ there. After that, a
// difference is a change of its own.
func (m *Move) changed(ctx context.Context, items []table.Item) ([]table.Item, error) {
	there, err := byKey(ctx, m.To.Rows, items)
	if err != nil {
		return nil, err
	}
	var changed []table.Item
	for _, item := range items {
		other, ok := there[item.Key]
		same := ok
		if ok && m.Reached == "" {
			if same, err = m.same(ctx, item, other); err != nil {
				return nil, err
			}
		}
		if !same {
			changed = append(changed, item)
		}
	}
	return changed, nil
}

// gone returns the keys of the items that the old home does not have.
func (m *Move) gone(ctx context.Context, items []table.Item) ([]table.Key, error) {
	there, err := byKey(ctx, m.From.Rows, items)
	if err != nil {
		return nil, err
	}
	var gone []table.Key
	for _, item := range items {
		if _, ok := there[item.Key]; !ok {
			gone = append(gone, item.Key)
		}
	}
	return gone, nil
}

func byKey(ctx context.Context, rows Rows, items []table.Item) (map[table.Key]table.Item, error) {
	keys := make([]table.Key, len(items))
	for n, item := range items {
		keys[n] = item.Key
	}
	found, err := rows.BatchGet(ctx, keys)
	if err != nil {
		return nil, err
	}
	there := make(map[table.Key]table.Item, len(found))
	for _, item := range found {
		there[item.Key] = item
	}
	return there, nil
}

// same reports whether an item of the old home and one of the new home have the same content.
func (m *Move) same(ctx context.Context, from, to table.Item) (bool, error) {
	from, err := m.clear(ctx, m.From, from)
	if err != nil {
		return false, err
	}
	if to, err = m.clear(ctx, m.To, to); err != nil {
		return false, nil //nolint:nilerr // it was encrypted with another key, and is written again
	}
	return from.Version == to.Version && bytes.Equal(from.Body, to.Body) && from.Expires.Equal(to.Expires) &&
		maps.Equal(from.Numbers, to.Numbers) && maps.Equal(from.Strings, to.Strings), nil
}

// SecretOf returns the encrypted part of an item, or nil.
func (m *Move) SecretOf(item table.Item) (*Secret, error) {
	for _, find := range m.Secrets {
		if secret, err := find(item); secret != nil || err != nil {
			return secret, err
		}
	}
	return nil, nil
}

// clear returns item with its secret decrypted, for a comparison in memory.
func (m *Move) clear(ctx context.Context, at Home, item table.Item) (table.Item, error) {
	secret, err := m.SecretOf(item)
	if err != nil || secret == nil {
		return item, err
	}
	text, err := at.Open(ctx, secret.Sealed, secret.About)
	if err != nil {
		return item, fmt.Errorf("decrypt the secret of %s: %w", secret.About, err)
	}
	return secret.With(text)
}

// sealedAgain returns item with its secret encrypted for the new home.
func (m *Move) sealedAgain(ctx context.Context, item table.Item) (table.Item, error) {
	secret, err := m.SecretOf(item)
	if err != nil || secret == nil {
		return item, err
	}
	text, err := m.From.Open(ctx, secret.Sealed, secret.About)
	if err != nil {
		return item, fmt.Errorf("decrypt the secret of %s: %w", secret.About, err)
	}
	sealed, err := m.To.Seal(ctx, text, secret.About)
	if err != nil {
		return item, fmt.Errorf("encrypt the secret of %s: %w", secret.About, err)
	}
	return secret.With(sealed)
}
