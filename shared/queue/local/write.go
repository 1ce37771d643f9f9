package local

import (
	"context"
	"slices"
	"time"

	"docent/shared/queue"
	"docent/shared/table"
)

func (q *Queue) dueKey(r record) table.Key {
	return table.Key{Table: Table, Partition: q.name + "/" + due, Sort: sortOf(r.due, r.id)}
}

func (q *Queue) deadKey(id string) table.Key {
	return table.Key{Table: Table, Partition: q.name + "/" + dead, Sort: id}
}

func (q *Queue) partKey(id string, part int) table.Key {
	return table.Key{Table: Table, Partition: q.name + "/" + body, Sort: id + "#" + string(rune('0'+part))}
}

func (q *Queue) query(partition string, limit int) table.Query {
	return table.Query{Table: Table, Partition: q.name + "/" + partition, Limit: limit}
}

func (q *Queue) partsOf(id string, text []byte) []table.Op {
	var ops []table.Op
	for piece := range slices.Chunk(text, partBytes) {
		ops = append(ops, table.Put{Item: table.Item{Key: q.partKey(id, len(ops)), Version: 1, Body: piece}})
	}
	return ops
}

// move makes r due at the given time with its deliveries kept.
func (q *Queue) move(r record, at time.Time, inFlight bool) []table.Op {
	moved := r
	moved.due, moved.version, moved.inFlight = at, r.version+1, inFlight
	return q.replace(r, moved)
}

// replace puts after in the place of before, if that still stands.
func (q *Queue) replace(before, after record) []table.Op {
	from, to := q.dueKey(before), after.fields(q.dueKey(after))
	if from == to.Key {
		return []table.Op{table.Put{Item: to, If: table.VersionIs(before.version)}}
	}
	return []table.Op{table.Delete{Key: from, If: table.VersionIs(before.version)}, table.Put{Item: to}}
}

// writeEach applies each group of operations as a whole and all of them in one
// Write, leaving out the groups whose condition does not hold. It returns which
// were written. Together they are within the bounds of a Write.
func (q *Queue) writeEach(ctx context.Context, groups [][]table.Op) ([]bool, error) {
	written := make([]bool, len(groups))
	var left []int
	for i := range groups {
		left = append(left, i)
	}
	for len(left) > 0 {
		var ops []table.Op
		for _, i := range left {
			ops = append(ops, groups[i]...)
		}
		err := q.store.Write(ctx, ops...)
		if err == nil {
			for _, i := range left {
				written[i] = true
			}
			break
		}
		failed := table.Failed(err)
		if failed == nil {
			return nil, err
		}
		op := failed.Op
		left = slices.DeleteFunc(left, func(i int) bool {
			hit := op >= 0 && op < len(groups[i])
			op -= len(groups[i])
			return hit
		})
	}
	return written, nil
}

// each calls do with the delivered records of messages, MaxBatch at a time, each
// message once by its latest delivery.
func (q *Queue) each(messages []queue.Message, do func([]record) error) error {
	latest := map[string]record{}
	for _, m := range messages {
		r, err := parseReceipt(m.Receipt)
		if err != nil {
			return err
		}
		if r.version > latest[r.id].version {
			latest[r.id] = r
		}
	}
	var delivered []record
	for _, r := range latest {
		delivered = append(delivered, r)
	}
	for some := range slices.Chunk(delivered, queue.MaxBatch) {
		if err := do(some); err != nil {
			return err
		}
	}
	return nil
}
