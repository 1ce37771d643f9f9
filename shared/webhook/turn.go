package webhook

import (
	"context"
	"errors"
	"fmt"
	"strconv"
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
	case w.isLater(t.state[pausedField], now):
		return nil, t.postpone(ctx, work, t.state[pausedField])
	}
	if t.secrets, err = w.open(ctx, t.teamID, t.endpoint); err != nil {
		return nil, err
	}
	state, err := w.Table.Add(ctx, table.Add{Key: stateKey(t.teamID, t.endpoint.ID), If: table.Below(leaseField, w.over(now, t.state[leaseField])),
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

// isLater reports whether a time in Unix milliseconds, before which nothing is attempted, is after now. One that is later than any can
// be was made while the clock of this machine was ahead, and is over. The clocks of processes that are not alone are AWS's.
func (w *Worker) isLater(at int64, now time.Time) bool {
	wait := fromMillis(at).Sub(now)
	return wait > 0 && (wait <= longestWait || w.Alone.IsZero())
}

// over returns the time below which a lease holds no turn up. The lease that was read is over too if it ends later than one can: it was
// made by a clock that was ahead. If its turn goes on, only one of the two records what became of a delivery.
func (w *Worker) over(now time.Time, lease int64) int64 {
	over := now.UnixMilli() + 1
	if fromMillis(lease).Sub(now) > 2*leaseTime {
		over = lease + 1
	}
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
	for ctx.Err() == nil && !t.isOver() && !t.isLater(t.state[pausedField], t.now()) && t.disable == "" {
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
	waiting, err := t.waiting(ctx, time.Time{}, time.Time{})
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
	now, next := t.now(), int64(0)
	for _, at := range []int64{due, t.state[pausedField]} {
		if t.isLater(at, now) {
			next = max(next, at)
		}
	}
	return t.postpone(ctx, work, next)
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
