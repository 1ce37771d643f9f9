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

	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/table"
)

// Bounds of a turn.
const (
	leaseTime = 90 * time.Second // longer than a turn with its last round
	turnTime  = 20 * time.Second // after which another turn continues
	roundSize = 8                // deliveries that are made at the same time
	// momentSize bounds the deliveries of one moment that are brought into the order of their events. A Write records fewer.
	momentSize = table.MaxOps
)

// The fields of an endpoint's state.
const (
	leaseField   = "lease"   // Unix milliseconds until which a turn runs
	pausedField  = "paused"  // Unix milliseconds before which nothing is attempted
	roundsField  = "rounds"  // consecutive rounds without a success
	wakeField    = "wake"    // Unix milliseconds for which a message was sent last
	failingField = "failing" // Unix milliseconds of the first failure since the last success; 0: none
	holderField  = "holder"  // the turn that acquired the lease last

	stillFromField  = "stillFrom" // a standstill
	stillUntilField = "stillUntil"
)

func stateKey(teamID, id string) table.Key {
	return table.Key{Table: table.Events, Partition: endpointList(teamID) + "/state", Sort: id}
}

// turn is one turn of an endpoint. It changes the endpoint and its state only while it holds the
// lease. A caller that changes the URL or enables the endpoint again stores a new state without
// the lease, because earlier replies say nothing about the new URL.
type turn struct {
	*Worker
	teamID   string
	endpoint Endpoint
	secrets  secrets
	flag     int64 // the version of its pending item
	state    map[string]int64
	holder   string // names this turn in the state
	begun    time.Time
	late     time.Duration // how long the round was due while no worker ran
	still    standstill
	disable  DisabledReason
}

// turn makes the deliveries of an endpoint that are due, unless another process does, or its team has to leave the workers to others.
func (w *Worker) turn(ctx context.Context, work pending.Work) error {
	if !w.room.enter(work.TeamID, work.ID, w.Workers) {
		w.tryLater(ctx, work)
		return nil
	}
	defer w.room.leave(work.TeamID)
	t, err := w.begin(ctx, work)
	if err != nil || t == nil {
		return err
	}
	err = t.run(ctx)
	return errors.Join(err, t.end(context.WithoutCancel(ctx), err))
}

// begin reads an endpoint and acquires its lease. It returns nil if there is nothing to do now.
func (w *Worker) begin(ctx context.Context, work pending.Work) (*turn, error) {
	items, err := w.Table.BatchGet(ctx, []table.Key{work.Key(), endpointKey(work.TeamID, work.ID), stateKey(work.TeamID, work.ID)})
	if err != nil {
		return nil, fmt.Errorf("read webhook endpoint: %w", err)
	}
	t := &turn{Worker: w, teamID: work.TeamID, state: map[string]int64{}, holder: w.NewID()}
	for _, item := range items {
		switch item.Key {
		case work.Key():
			t.flag = item.Version
		case endpointKey(work.TeamID, work.ID):
			if t.endpoint, err = endpointFrom(item); err != nil {
				return nil, err
			}
		default:
			t.state = item.Numbers
		}
	}
	now := w.now()
	switch {
	case t.flag == 0:
		return nil, nil // nothing waits
	case t.endpoint.ID == "" || t.endpoint.Disabled:
		// Enabling it stores the pending item again.
		return nil, t.conclude(ctx, work)
	case t.state[pausedField] > now.UnixMilli():
		return nil, t.postpone(ctx, work, t.state[pausedField])
	}
	if t.secrets, err = w.open(ctx, t.teamID, t.endpoint); err != nil {
		return nil, err
	}
	state, err := w.Table.Add(ctx, table.Add{Key: stateKey(t.teamID, t.endpoint.ID), If: table.Below(leaseField, w.over(now)),
		Numbers: map[string]int64{leaseField: now.Add(leaseTime).UnixMilli()}, Strings: map[string]string{holderField: t.holder}})
	if table.AsConditionFailed(err) != nil {
		return nil, nil // the turn that runs looks again after its end, or the sweeper sends this again
	}
	if err != nil {
		return nil, fmt.Errorf("acquire the lease of a webhook endpoint: %w", err)
	}
	t.state, t.still = state.Numbers, standstillOf(state.Numbers)
	return t, nil
}

// over returns the time below which a lease holds no turn up.
func (w *Worker) over(now time.Time) int64 {
	over := now.UnixMilli() + 1
	if !w.Alone.IsZero() { // a lease of this process ends after this or at it
		over = max(over, w.Alone.Add(leaseTime).UnixMilli())
	}
	return over
}

// holds is the condition on the state that this turn holds the lease.
func (t *turn) holds() table.Condition { return table.Is(holderField, t.holder) }

// goesOn reports whether this turn holds the lease, and the endpoint has the URL that was read and is
// not disabled. The endpoint was read before the lease was acquired, so it may have changed in between.
func (t *turn) goesOn(ctx context.Context) (bool, error) {
	items, err := t.Table.BatchGet(ctx, []table.Key{endpointKey(t.teamID, t.endpoint.ID), stateKey(t.teamID, t.endpoint.ID)})
	if err != nil {
		return false, fmt.Errorf("read webhook endpoint again: %w", err)
	}
	if len(items) < 2 {
		return false, nil // it was deleted
	}
	e, err := endpointFrom(items[0])
	return e.URL == t.endpoint.URL && !e.Disabled && t.holds().Holds(&items[1]), err
}

// run makes rounds until nothing is due, the endpoint has to rest or the turn is over.
func (t *turn) run(ctx context.Context) error {
	t.begun = t.Now()
	for ctx.Err() == nil && !t.isOver() && t.state[pausedField] <= t.now().UnixMilli() && t.disable == "" {
		due, err := t.due(ctx)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			return nil
		}
		if on, err := t.goesOn(ctx); err != nil || !on {
			return err
		}
		if err := t.round(ctx, due); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// isOver reports whether another turn is to continue. A running post is still awaited.
func (t *turn) isOver() bool { return t.Now().Sub(t.begun) >= turnTime }

// due returns the deliveries that are due, those due longest first, and removes waiting items that
// are outdated.
func (t *turn) due(ctx context.Context) ([]Delivery, error) {
	now := t.now()
	waiting, err := t.waiting(ctx, now)
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

// waiting returns the first momentSize waiting items that are due at a time, zero: whenever.
func (t *turn) waiting(ctx context.Context, at time.Time) (first []table.Item, err error) {
	q := table.Query{Table: table.Events, Partition: waitingList(t.teamID, t.endpoint.ID), Limit: momentSize}
	if !at.IsZero() {
		q.To = fmt.Sprintf("%013d#~", at.UnixMilli())
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

// withoutExpired ends the deliveries of all that are too old, and returns the others that are due.
func (t *turn) withoutExpired(ctx context.Context, all []Delivery) (due []Delivery, err error) {
	now := t.now()
	t.notice(all, now)
	for _, d := range all {
		switch {
		case d.NextAttemptAt.After(now): // it was replayed or attempted in the meantime
		case d.hasExpired(now, t.still):
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

// end disables an endpoint that has to be, releases the lease, and sees to what still waits. The
// order matters: a delivery that was stored before the release, and whose message found the lease
// held, is seen afterwards. If the turn has lost the lease, the turn that follows sees it.
func (t *turn) end(ctx context.Context, failed error) error {
	work := flag(t.teamID, t.endpoint.ID)
	var disabled error
	if t.disable != "" {
		disabled = t.Service.disable(ctx, t.teamID, t.endpoint.ID, t.disable, table.Check{Key: stateKey(t.teamID, t.endpoint.ID), If: t.holds()})
	}
	_, err := t.Table.Add(ctx, table.Add{Key: stateKey(t.teamID, t.endpoint.ID), If: t.holds(), Numbers: map[string]int64{leaseField: 0}})
	if table.AsConditionFailed(err) != nil {
		return disabled
	}
	if err != nil {
		return errors.Join(disabled, fmt.Errorf("release the lease of a webhook endpoint: %w", err))
	}
	if failed != nil || disabled != nil || t.disable != "" {
		return disabled // the message is delivered again, or nothing more is done
	}
	waiting, err := t.waiting(ctx, time.Time{})
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		return t.conclude(ctx, work)
	}
	due, err := strconv.ParseInt(waiting[0].Sort[:13], 10, 64)
	if err != nil {
		return fmt.Errorf("waiting delivery %q: %w", waiting[0].Sort, err)
	}
	return t.postpone(ctx, work, max(due, t.state[pausedField]))
}

// postpone has the next turn begin at a time in Unix milliseconds: by a message if that is soon,
// otherwise by the sweeper.
func (t *turn) postpone(ctx context.Context, work pending.Work, at int64) error {
	now := t.now()
	wait := max(fromMillis(at).Sub(now), 0)
	if wait <= queue.MaxDelay {
		first := true
		if wait > 0 { // one message for one time is enough
			var err error
			if first, err = t.firstFor(ctx, work.ID, at); err != nil {
				return fmt.Errorf("schedule the next deliveries: %w", err)
			}
		}
		if first {
			t.Outbox.SendLater(ctx, wait, work)
		}
	}
	extend := work.Extend(0, fromMillis(at))
	extend.If = table.VersionIs(t.flag)
	_, err := t.Table.Add(ctx, extend)
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("schedule the next deliveries: %w", err)
	}
	return nil
}

// firstFor reports whether no message was sent yet for the time at, and notes that one is.
func (t *turn) firstFor(ctx context.Context, id string, at int64) (bool, error) {
	if !t.Alone.IsZero() {
		last, _ := t.woken.Swap(id, at)
		return last != any(at), nil
	}
	if t.state[wakeField] == at {
		return false, nil
	}
	_, err := t.Table.Add(ctx, table.Add{Key: stateKey(t.teamID, id), Numbers: map[string]int64{wakeField: at}})
	return true, err
}

// conclude removes the pending item of an endpoint, unless a delivery was added in the meantime,
// whose own message makes the next turn.
func (t *turn) conclude(ctx context.Context, work pending.Work) error {
	err := t.Table.Write(ctx, table.Delete{Key: work.Key(), If: table.VersionIs(t.flag)})
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("end the turn of a webhook endpoint: %w", err)
	}
	return nil
}
