package local

import (
	"context"
	"maps"
	"time"

	"docent/shared/queue"
	"docent/shared/table"
)

// take hides up to limit messages that are due and returns them. When there is
// none it returns when the next one is due, zero when nothing is stored. What has
// been delivered MaxReceives times or can not be read becomes a dead letter.
func (q *Queue) take(ctx context.Context, limit int) ([]queue.Message, time.Time, error) {
	q.taking.Lock()
	defer q.taking.Unlock()
	for {
		records, next, err := q.look(ctx, limit)
		if err != nil || len(records) == 0 {
			return nil, next, err
		}
		bodies, err := q.bodies(ctx, records)
		if err != nil {
			return nil, next, err
		}
		visible := q.now().Add(q.visibility)
		groups := make([][]table.Op, len(records))
		messages := make([]queue.Message, len(records)) // an empty one where the message dies
		for i, r := range records {
			text, readable := bodies[r.id]
			if !readable || r.receives >= queue.MaxReceives {
				groups[i] = q.bury(r)
				continue
			}
			taken := r
			taken.due, taken.version, taken.receives, taken.inFlight = visible, r.version+1, r.receives+1, true
			groups[i] = q.replace(r, taken)
			messages[i] = queue.Message{ID: r.id, Receipt: receiptOf(taken), Body: text, Receives: taken.receives}
		}
		written, err := q.writeEach(ctx, groups)
		if err != nil {
			return nil, next, err
		}
		var got []queue.Message
		for i, m := range messages {
			if written[i] && m.ID != "" {
				got = append(got, m)
			}
		}
		// None: they died or another process took them, and others may wait behind.
		if len(got) > 0 {
			return got, next, nil
		}
	}
}

// look returns the first records that are due, at most limit, and when the one
// behind them is due if it is not yet.
func (q *Queue) look(ctx context.Context, limit int) (records []record, next time.Time, err error) {
	now := q.now()
	for item, err := range table.All(ctx, q.store, q.query(due, limit)) {
		if err != nil {
			return nil, time.Time{}, err
		}
		r, err := decode(item)
		if err != nil {
			r = unreadable(item)
		}
		if r.due.After(now) {
			return records, r.due, nil
		}
		if records = append(records, r); len(records) == limit {
			break
		}
	}
	return records, time.Time{}, nil
}

// bodies returns the body of each record by id, leaving out those that can not
// be read.
func (q *Queue) bodies(ctx context.Context, records []record) (map[string][]byte, error) {
	bodies := map[string][]byte{}
	var keys []table.Key
	for _, r := range records {
		if r.raw == nil && r.parts == 0 {
			bodies[r.id] = r.body
		}
		for part := range r.parts {
			keys = append(keys, q.partKey(r.id, part))
		}
	}
	if len(keys) == 0 {
		return bodies, nil
	}
	items, err := q.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, err
	}
	parts := map[table.Key][]byte{}
	for _, item := range items {
		parts[item.Key] = item.Body
	}
	for _, r := range records {
		if r.parts == 0 {
			continue
		}
		var text []byte
		whole := true
		for part := range r.parts {
			piece, ok := parts[q.partKey(r.id, part)]
			whole = whole && ok
			text = append(text, piece...)
		}
		if whole {
			bodies[r.id] = text
		}
	}
	return bodies, nil
}

// bury moves a record to the dead letters, an unreadable one as it is.
func (q *Queue) bury(r record) []table.Op {
	now := q.now()
	died := r
	died.died, died.version, died.inFlight = now, r.version+1, false
	from, item := q.dueKey(r), died.fields(q.deadKey(r.id))
	if r.raw != nil {
		from, item = r.raw.Key, *r.raw
		item.Key = q.deadKey(r.id)
		item.Numbers = maps.Clone(item.Numbers)
		if item.Numbers == nil {
			item.Numbers = map[string]int64{}
		}
		item.Numbers[fieldDied] = now.UnixNano()
	}
	return []table.Op{table.Delete{Key: from, If: table.VersionIs(r.version)}, table.Put{Item: item}}
}
