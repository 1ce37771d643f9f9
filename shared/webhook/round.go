package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"docent/shared/table"
)

// due returns the deliveries that are due, those due longest first, and removes waiting items that
// are outdated.
func (t *turn) due(ctx context.Context) ([]Delivery, error) {
	now := t.now()
	waiting, err := t.waiting(ctx, time.Time{}, now)
	if err == nil && len(waiting) == 0 && !t.Alone.IsZero() { // those that are later than any can be; see isLater
		waiting, err = t.waiting(ctx, now.Add(longestWait+time.Millisecond), time.Time{})
	}
	if err != nil {
		return nil, err
	}
	waiting = upToMoment(waiting, roundSize)
	keys := make([]table.Key, len(waiting))
	for i, item := range waiting {
		keys[i] = table.Key{Table: table.Events, Partition: deliveryList(t.teamID, t.endpoint.ID), Sort: item.Sort[len("0000000000000#"):]}
	}
	items, err := t.Table.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read due deliveries: %w", err)
	}
	var all []Delivery
	current := map[table.Key]bool{} // waiting items that are not outdated
	for _, item := range items {
		d, err := deliveryFrom(item)
		if err != nil {
			return nil, err
		}
		if d.Status == Waiting {
			all, current[d.waitingKey(t.teamID, t.endpoint.ID)] = append(all, d), true
		}
	}
	for _, item := range waiting {
		if current[item.Key] {
			continue
		}
		if err := t.Table.Write(ctx, table.Delete{Key: item.Key}); err != nil {
			return nil, fmt.Errorf("remove an outdated item: %w", err)
		}
	}
	if all, err = t.withoutExpired(ctx, all); err != nil {
		return nil, err
	}
	if len(all) == 0 && len(waiting) > 0 {
		return t.due(ctx)
	}
	slices.SortFunc(all, func(a, b Delivery) int {
		return cmp.Or(a.NextAttemptAt.Compare(*b.NextAttemptAt), inOrder(a, b))
	})
	return all[:min(len(all), roundSize)], nil
}

// waiting returns the first momentSize waiting items that are due from one time to another, zero: whenever.
func (t *turn) waiting(ctx context.Context, from, to time.Time) (first []table.Item, err error) {
	q := table.Query{Table: table.Events, Partition: waitingList(t.teamID, t.endpoint.ID), Limit: momentSize}
	if !from.IsZero() {
		q.From = fmt.Sprintf("%013d", from.UnixMilli())
	}
	if !to.IsZero() {
		q.To = fmt.Sprintf("%013d#~", to.UnixMilli())
	}
	for item, err := range table.All(ctx, t.Table, q) { // the first page may have items that have expired, and no others
		if err != nil {
			return nil, fmt.Errorf("read waiting deliveries: %w", err)
		}
		if first = append(first, item); len(first) == momentSize {
			break
		}
	}
	return first, nil
}

// upToMoment returns the first n of the waiting items, and those that are due at the moment of the last one of these:
// the keys of one moment do not sort in the order of its events.
func upToMoment(waiting []table.Item, n int) []table.Item {
	const moment = len("0000000000000")
	for n < len(waiting) && waiting[n].Sort[:moment] == waiting[n-1].Sort[:moment] {
		n++
	}
	return waiting[:min(n, len(waiting))]
}

// withoutExpired ends the deliveries of all that are too old or that the endpoint may no longer get, and returns the others that are due.
func (t *turn) withoutExpired(ctx context.Context, all []Delivery) (due []Delivery, err error) {
	now := t.now()
	t.notice(all, now)
	for _, d := range all {
		switch {
		case t.isLater(d.NextAttemptAt.UnixMilli(), now): // it was replayed or attempted in the meantime
		case d.hasExpired(now, t.still), !t.endpoint.sends(d.Type):
			ended := d
			ended.Status, ended.NextAttemptAt, ended.version = Failed, nil, d.version+1
			if err := t.record(ctx, d, ended); err != nil {
				return nil, err
			}
		default:
			due = append(due, d)
		}
	}
	return due, nil
}

// round attempts deliveries at the same time, those about one subject one after the other, and
// records the results.
func (t *turn) round(ctx context.Context, due []Delivery) error {
	var (
		all     sync.WaitGroup
		mu      sync.Mutex
		errs    []error
		success bool
		asked   time.Duration // the longest pause that a reply asked for
	)
	for _, some := range bySubject(due) {
		all.Go(func() {
			for _, d := range some {
				reply, err := t.attempt(ctx, d)
				mu.Lock()
				errs = append(errs, err)
				success = success || err == nil && reply.succeeded()
				if !reply.succeeded() {
					asked = max(asked, reply.retryAfter(t.now()))
				}
				if reply.Status == gone {
					t.disable = Gone
				}
				mu.Unlock()
				if err != nil || !reply.succeeded() || t.isOver() {
					return // the next ones of this subject stay due
				}
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return t.rest(ctx, success, asked)
}

// inOrder compares deliveries by the order of their events.
func inOrder(a, b Delivery) int {
	return cmp.Or(a.At.Compare(b.At), strings.Compare(a.notice, b.notice))
}

// bySubject groups deliveries by their subjects, in the order of their events.
func bySubject(due []Delivery) [][]Delivery {
	due = slices.Clone(due)
	slices.SortStableFunc(due, inOrder)
	var groups [][]Delivery
	at := map[string]int{}
	for _, d := range due {
		i, known := at[d.subject]
		if !known || d.subject == "" {
			i = len(groups)
			at[d.subject], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], d)
	}
	return groups
}

// attempt posts d and records the result.
func (t *turn) attempt(ctx context.Context, d Delivery) (Reply, error) {
	now := t.now()
	signed, err := t.endpoint.signatures(t.secrets, d.ID, d.Payload, now)
	if err != nil {
		return Reply{}, err
	}
	reply := t.Post(ctx, Request{URL: t.endpoint.URL, Body: d.Payload, Header: map[string]string{
		"Content-Type": "application/json", "Webhook-Id": d.ID, "Webhook-Timestamp": strconv.FormatInt(now.Unix(), 10), "Webhook-Signature": signed}})
	if ctx.Err() != nil && !reply.succeeded() {
		return reply, ctx.Err() // this process stops; the endpoint did not fail
	}
	after := d.after(reply, t.now(), t.Jitter)
	t.Log.InfoContext(ctx, "webhook", "team", t.teamID, "endpoint", t.endpoint.ID, "delivery", d.ID, "type", d.Type,
		"attempt", after.Attempts, "status", reply.Status, "error", reply.Error)
	ctx = context.WithoutCancel(ctx)
	if after.Status != Failed {
		return reply, t.record(ctx, d, after)
	}
	held := table.Check{Key: stateKey(t.teamID, t.endpoint.ID), If: t.holds()}
	err = t.record(ctx, d, after, held)
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key == held.Key {
		// Another URL, or the endpoint enabled again, gets what this one refused permanently or failed at for the last time.
		err = t.record(ctx, d, after.again(t.now(), pauses[0]))
	}
	return reply, err
}

// record stores what became of a delivery, unless another process has changed it in the meantime. If held does not hold, it
// stores nothing and returns its *table.ConditionFailed.
func (t *turn) record(ctx context.Context, before, after Delivery, held ...table.Op) error {
	item, err := after.item(t.teamID, t.endpoint.ID)
	if err != nil {
		return err
	}
	ops := append(slices.Clone(held), table.Put{Item: item, If: table.VersionIs(before.version)}, table.Delete{Key: before.waitingKey(t.teamID, t.endpoint.ID)})
	if after.Status == Waiting {
		ops = append(ops, after.wait(t.teamID, t.endpoint.ID))
	}
	err = t.Table.Write(ctx, ops...)
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key == item.Key {
		return nil
	}
	if err != nil {
		return fmt.Errorf("record a delivery: %w", err)
	}
	return nil
}

// rest records the result of a round in the state of the endpoint, if the turn still holds the lease.
func (t *turn) rest(ctx context.Context, success bool, asked time.Duration) error {
	now := t.now()
	next := map[string]int64{roundsField: 0, failingField: 0, pausedField: 0}
	if !success {
		next[roundsField] = t.state[roundsField] + 1
		if next[failingField] = t.state[failingField]; next[failingField] == 0 {
			next[failingField] = now.UnixMilli()
		}
		next[failingField] = min(next[failingField]+t.late.Milliseconds(), now.UnixMilli())
		next[pausedField] = now.Add(pauseOf(next[roundsField])).UnixMilli()
		if now.Sub(fromMillis(next[failingField])) >= disableAfter && t.disable == "" {
			t.disable = Failing
		}
	}
	next[stillFromField], next[stillUntilField] = t.still.from, t.still.until
	next[pausedField] = max(next[pausedField], now.Add(asked).UnixMilli())
	if asked == 0 && success {
		next[pausedField] = 0
	}
	changed := false
	for name, value := range next {
		changed = changed || t.state[name] != value
	}
	if !changed {
		return nil
	}
	state, err := t.Table.Add(ctx, table.Add{Key: stateKey(t.teamID, t.endpoint.ID), Numbers: next, If: t.holds()})
	if table.AsConditionFailed(err) != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("record the state of a webhook endpoint: %w", err)
	}
	t.state = state.Numbers
	return nil
}
