package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"docent/shared/pause"
	"docent/shared/table"
)

var _ table.Store = (*Table)(nil)

// How table/dynamo repeats a call that was refused; see its retry.go.
const (
	firstWait = 20 * time.Millisecond
	longWait  = 400 * time.Millisecond
	retryFor  = 3 * time.Second
)

// Table is DynamoDB: all tables of an installation. Its calls take time, its partitions have a capacity, and
// transactions on the same items refuse each other.
type Table struct {
	chance *Chance
	now    func() time.Time

	mu         sync.Mutex
	partitions map[partitionKey]*partition
	busy       map[table.Key]int // items of transactions between prepare and commit
	used       Used
	waiters    map[string]chan struct{} // by the work that they wait for; see Ended
}

// Used is a summary of the calls of a Table.
type Used struct {
	Calls, Throttled, Conflicts int
	ReadUnits, WriteUnits       float64
}

type partitionKey struct{ table, partition string }

// partition has the items of a partition key, in the order of their sort keys.
type partition struct {
	items         []*table.Item
	reads, writes *bucket
	used          float64 // units of both kinds
}

// NewTable returns empty tables. Their calls take the time that chance draws.
func NewTable(chance *Chance, now func() time.Time) *Table {
	return &Table{chance: chance, now: now, partitions: map[partitionKey]*partition{}, busy: map[table.Key]int{}}
}

// Used returns what the calls were so far.
func (t *Table) Used() Used {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.used
}

// Hottest returns the partition that used the most units, and how many.
func (t *Table) Hottest(name string) (partition string, units float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, p := range t.partitions {
		if k.table == name && p.used > units {
			partition, units = k.partition, p.used
		}
	}
	return partition, units
}

// of returns the partition of k. The caller holds the lock.
func (t *Table) of(name, key string) *partition {
	k := partitionKey{name, key}
	p := t.partitions[k]
	if p == nil {
		now := t.now()
		p = &partition{reads: newBucket(partitionReadUnits, partitionBurst, now), writes: newBucket(partitionWriteUnits, partitionBurst, now)}
		t.partitions[k] = p
	}
	return p
}

func (p *partition) find(sort string) (int, bool) {
	return slices.BinarySearchFunc(p.items, sort, func(i *table.Item, s string) int { return strings.Compare(i.Sort, s) })
}

func (p *partition) get(sort string) *table.Item {
	if i, ok := p.find(sort); ok {
		return p.items[i]
	}
	return nil
}

func (p *partition) put(item *table.Item) {
	i, ok := p.find(item.Sort)
	if ok {
		p.items[i] = item
		return
	}
	p.items = slices.Insert(p.items, i, item)
}

func (p *partition) remove(sort string) {
	if i, ok := p.find(sort); ok {
		p.items = slices.Delete(p.items, i, i+1)
	}
}

func checkTable(name string) error {
	if !slices.Contains(table.Names, name) {
		return fmt.Errorf("%w: no table %q", table.ErrInvalid, name)
	}
	return nil
}

func checkKey(k table.Key) error {
	if err := checkTable(k.Table); err != nil {
		return err
	}
	return k.Check()
}

// admitted begins a call on the partitions of keys. It waits and tries again while one of them is above its capacity, as
// table/dynamo does, and returns table.ErrThrottled in the end.
func (t *Table) admitted(ctx context.Context, writes bool, keys ...table.Key) error {
	var tries retries
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.admit(writes, keys) {
			return nil
		}
		if err := tries.again(ctx, t.chance, table.ErrThrottled); err != nil {
			return err
		}
	}
}

func (t *Table) admit(writes bool, keys []table.Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used.Calls++
	if !t.chance.takesTime() {
		return true
	}
	now := t.now()
	for _, k := range keys {
		p := t.of(k.Table, k.Partition)
		b := p.reads
		if writes {
			b = p.writes
		}
		if !b.admits(now) {
			t.used.Throttled++
			return false
		}
	}
	return true
}

// charge takes units from a partition. The caller holds the lock.
func (t *Table) charge(p *partition, read, write float64) {
	p.reads.level -= read
	p.writes.level -= write
	p.used += read + write
	t.used.ReadUnits += read
	t.used.WriteUnits += write
}

// retries are the attempts of one call.
type retries struct {
	count  int
	waited time.Duration
}

// again waits before another attempt, or returns cause if there have been enough.
func (r *retries) again(ctx context.Context, chance *Chance, cause error) error {
	d := chance.upTo(min(firstWait<<min(r.count, 10), longWait)) + time.Millisecond
	r.count++
	if r.waited += d; r.waited > retryFor {
		return fmt.Errorf("%w after %d attempts", cause, r.count)
	}
	return pause.For(ctx, d)
}

// copied returns a copy of item that shares its body only, which nobody changes.
func copied(item *table.Item) *table.Item {
	if item == nil {
		return nil
	}
	c := *item
	c.Numbers, c.Strings = cloned(item.Numbers), cloned(item.Strings)
	c.Body = slices.Clone(item.Body)
	return &c
}

func cloned[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	c := make(map[string]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}
