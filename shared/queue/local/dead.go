package local

import (
	"context"
	"fmt"
	"slices"
	"time"

	"docent/shared/queue"
	"docent/shared/table"
)

// Bounds of the calls that look at the whole queue.
const (
	MaxDead  = 1000   // letters of one Dead
	MaxStats = 10_000 // messages of one kind that Stats counts
)

// moveBatch messages, two operations each, are within one Write.
const moveBatch = 40

// DeadLetter is a message that was not done after queue.MaxReceives deliveries,
// or whose record could not be read.
type DeadLetter struct {
	ID       string
	Body     []byte // as much of it as is there
	Receives int
	Sent     time.Time
	Died     time.Time
}

// Dead returns the dead letters in the order of their ids, the first MaxDead.
func (q *Queue) Dead(ctx context.Context) ([]DeadLetter, error) {
	ctx, end := q.count(ctx)
	defer end()
	var letters []DeadLetter
	for item, err := range table.All(ctx, q.store, q.query(dead, MaxDead)) {
		if err != nil {
			return nil, fmt.Errorf("list dead letters of queue %s: %w", q.name, err)
		}
		letter := DeadLetter{ID: item.Sort, Body: item.Body, Died: time.Unix(0, item.Numbers[fieldDied])}
		if r, err := decodeDead(item); err == nil {
			letter.Receives, letter.Sent = r.receives, r.sent
			text, err := q.bodies(ctx, []record{r})
			if err != nil {
				return nil, fmt.Errorf("read a dead letter of queue %s: %w", q.name, err)
			}
			letter.Body = text[r.id]
		}
		if letters = append(letters, letter); len(letters) == MaxDead {
			break
		}
	}
	return letters, nil
}

// Redrive makes dead letters receivable again, with their deliveries counted
// from 0: those of the given ids, or all when none is given. It returns how many
// it moved; unknown ids and unreadable letters stay out.
func (q *Queue) Redrive(ctx context.Context, ids ...string) (int, error) {
	ctx, end := q.count(ctx)
	defer end()
	var letters []record
	collect := func(items ...table.Item) {
		for _, item := range items {
			if r, err := decodeDead(item); err == nil {
				letters = append(letters, r)
			}
		}
	}
	if len(ids) > 0 {
		var keys []table.Key
		for _, id := range ids {
			if key := q.deadKey(id); key.Check() == nil {
				keys = append(keys, key)
			}
		}
		items, err := q.store.BatchGet(ctx, keys)
		if err != nil {
			return 0, fmt.Errorf("redrive queue %s: %w", q.name, err)
		}
		collect(items...)
	} else {
		for item, err := range table.All(ctx, q.store, q.query(dead, 0)) {
			if err != nil {
				return 0, fmt.Errorf("redrive queue %s: %w", q.name, err)
			}
			collect(item)
		}
	}
	moved, err := q.moveAll(ctx, letters, func(r record) []table.Op {
		again := r
		again.due, again.version, again.receives, again.died = q.now(), r.version+1, 0, time.Time{}
		return []table.Op{
			table.Delete{Key: q.deadKey(r.id), If: table.VersionIs(r.version)},
			table.Put{Item: again.fields(q.dueKey(again))},
		}
	})
	if err != nil {
		return moved, fmt.Errorf("redrive queue %s: %w", q.name, err)
	}
	return moved, nil
}

// Recover makes every message in flight visible at once and returns how many
// there were. It is for the start of the only process that works on the queue:
// what was in flight before belongs to nobody. Deliveries so far still count.
func (q *Queue) Recover(ctx context.Context) (int, error) {
	ctx, end := q.count(ctx)
	defer end()
	now := q.now()
	var flying []record
	for item, err := range table.All(ctx, q.store, q.query(due, 0)) {
		if err != nil {
			return 0, fmt.Errorf("recover queue %s: %w", q.name, err)
		}
		if r, err := decode(item); err == nil && r.inFlight && r.due.After(now) {
			flying = append(flying, r)
		}
	}
	moved, err := q.moveAll(ctx, flying, func(r record) []table.Op { return q.move(r, now, false) })
	if err != nil {
		return moved, fmt.Errorf("recover queue %s: %w", q.name, err)
	}
	return moved, nil
}

func (q *Queue) moveAll(ctx context.Context, records []record, move func(record) []table.Op) (int, error) {
	defer q.wake()
	moved := 0
	for some := range slices.Chunk(records, moveBatch) {
		var groups [][]table.Op
		for _, r := range some {
			groups = append(groups, move(r))
		}
		written, err := q.writeEach(ctx, groups)
		if err != nil {
			return moved, err
		}
		for _, ok := range written {
			if ok {
				moved++
			}
		}
	}
	return moved, nil
}

// Stats is the depth of a queue, each number at most MaxStats.
type Stats struct {
	Waiting  int // can be received now or after a delay
	InFlight int // delivered, not done, and hidden
	Dead     int
}

// Stats counts the messages. It reads at most MaxStats of the live and of the
// dead ones.
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	ctx, end := q.count(ctx)
	defer end()
	var stats Stats
	now := q.now()
	read := 0
	for item, err := range table.All(ctx, q.store, q.query(due, queue.MaxBatch*10)) {
		if err != nil {
			return Stats{}, fmt.Errorf("count messages of queue %s: %w", q.name, err)
		}
		if r, err := decode(item); err == nil && r.inFlight && r.due.After(now) {
			stats.InFlight++
		} else {
			stats.Waiting++
		}
		if read++; read == MaxStats {
			break
		}
	}
	for _, err := range table.All(ctx, q.store, q.query(dead, queue.MaxBatch*10)) {
		if err != nil {
			return Stats{}, fmt.Errorf("count dead letters of queue %s: %w", q.name, err)
		}
		if stats.Dead++; stats.Dead == MaxStats {
			break
		}
	}
	return stats, nil
}
