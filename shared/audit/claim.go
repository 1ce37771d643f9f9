package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"docent/shared/pending"
	"docent/shared/table"
)

// Log records and reads security events. It must not be copied.
type Log struct {
	Table table.Store
	Now   func() time.Time
	// Wait pauses a bounded read until a writer may have finished; nil: a timer.
	Wait func(ctx context.Context, d time.Duration) error

	// Outbox sends notices to the team's webhook endpoints; nil: the sweeper does.
	Outbox *pending.Outbox

	silent bool          // records nothing
	grace  time.Duration // 0: Grace; tests shorten it
	secret secret
}

// OrSilent returns l, or if l is nil a Log over store that records nothing.
func (l *Log) OrSilent(store table.Store) *Log {
	if l == nil {
		return &Log{Table: store, silent: true}
	}
	return l
}

// maxAttempts limits how often a Write claims new numbers because readers closed its numbers,
// which takes a stall of Grace each time.
const maxAttempts = 100

// closeTime limits how long a request that records nothing waits until its numbers are closed.
// Readers close the rest.
const closeTime = 2 * time.Second

// Claim reserves numbers for the events of one request. It is for one goroutine, which
// must call End.
type Claim struct {
	log     *Log
	teamID  string
	ready   chan struct{}
	numbers []int64 // claimed and unused
	toClose []int64 // possibly unused: the Write failed
	at      time.Time
	topics  pending.Topics // that the team's webhook endpoints want
	err     error
}

// Claim starts to claim n numbers of the team and returns at once, so that the claim runs in
// parallel with the request's own reads.
func (l *Log) Claim(ctx context.Context, teamID string, n int) *Claim {
	c := &Claim{log: l, teamID: teamID, ready: make(chan struct{})}
	if l.silent {
		close(c.ready)
		return c
	}
	go func() {
		defer close(c.ready)
		c.err = c.claim(ctx, n)
	}()
	return c
}

func (c *Claim) claim(ctx context.Context, n int) error {
	at := c.log.Now().UTC().Truncate(time.Millisecond)
	head, err := c.log.Table.Add(ctx, table.Add{Key: headKey(c.teamID), By: map[string]int64{seqField: int64(n)}})
	if err != nil {
		return fmt.Errorf("claim an event number: %w", err)
	}
	last := head.Numbers[seqField]
	for number := last - int64(n) + 1; number <= last; number++ {
		c.numbers = append(c.numbers, number)
	}
	c.at, c.topics = at, Topics(head)
	return nil
}

// Write applies ops and records events in one Write of the store. It returns the errors of
// table.Store.Write over ops alone. If a condition of ops fails, the numbers stay claimed, so
// that the caller can read again and retry.
func (c *Claim) Write(ctx context.Context, events []Event, ops ...table.Op) error {
	<-c.ready
	if c.err != nil {
		return c.err
	}
	if c.log.silent {
		return c.log.Table.Write(ctx, ops...)
	}
	for range maxAttempts {
		if missing := len(events) - len(c.numbers); missing > 0 {
			if err := c.claim(ctx, missing); err != nil {
				return err
			}
		}
		numbered := c.number(ctx, events)
		puts, err := putOps(numbered)
		if err != nil {
			return err
		}
		all := append(append(make([]table.Op, 0, len(ops)+len(puts)+1), ops...), puts...)
		var told []pending.Work
		if tell := notices(c.topics, numbered); len(tell) > 0 {
			told = append(told, pending.Announce(c.teamID, tell...))
			all = append(all, told[0].Promise())
		}
		err = c.log.Table.Write(ctx, all...)
		failed := table.AsConditionFailed(err)
		switch {
		case err == nil:
			c.take(len(events))
			c.log.Outbox.Send(ctx, told...)
			return nil
		case failed == nil:
			if !certainlyUnwritten(err) {
				c.toClose = append(c.toClose, c.take(len(events))...)
			}
			return err
		case table.IndexOf(ops, failed.Key) >= 0:
			return err
		}
		if failed.Item != nil && len(failed.Item.Body) > 0 {
			// Each number has one writer, so this is the same event: an earlier
			// attempt succeeded and its reply was lost.
			c.take(len(events))
			c.log.Outbox.Send(ctx, told...)
			return nil
		}
		// Only the first number that a reader closed is known. End closes the
		// others if they are still open.
		c.toClose = append(c.toClose, c.take(len(events))...)
	}
	return fmt.Errorf("record %s: %w", events[0].Type, table.ErrConflict)
}

// take returns the first n of the claimed numbers, which are no longer unused.
func (c *Claim) take(n int) []int64 {
	taken := c.numbers[:n]
	c.numbers = c.numbers[n:]
	return taken
}

// certainlyUnwritten reports whether the Write that returned err changed nothing and cannot
// change anything later.
func certainlyUnwritten(err error) bool {
	for _, certain := range []error{table.ErrConflict, table.ErrThrottled, table.ErrTooLarge, table.ErrInvalid} {
		if errors.Is(err, certain) {
			return true
		}
	}
	return false
}

// number returns events under the first claimed numbers, with their times and origin.
func (c *Claim) number(ctx context.Context, events []Event) []Event {
	numbered := make([]Event, len(events))
	for i, e := range events {
		e.TeamID, e.Sequence, e.RecordedAt = c.teamID, c.numbers[i], c.at
		if e.OccurredAt.IsZero() {
			e.OccurredAt = c.at
		}
		if e.Origin == (Origin{}) {
			e.Origin = OriginFrom(ctx)
		}
		numbered[i] = e
	}
	return numbered
}

// putOps returns the operations that store numbered events.
func putOps(events []Event) ([]table.Op, error) {
	puts := make([]table.Op, len(events))
	for i, e := range events {
		item, err := e.item()
		if err != nil {
			return nil, err
		}
		puts[i] = table.Put{Item: item, If: table.Absent()}
	}
	return puts, nil
}

// End closes the unused numbers, so that readers need not wait for them. Errors are ignored: a
// Write that succeeded stays, and readers close what is left open.
func (c *Claim) End(ctx context.Context) {
	<-c.ready
	open := append(c.numbers, c.toClose...)
	c.numbers, c.toClose = nil, nil
	if len(open) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	var all sync.WaitGroup
	for _, n := range open {
		all.Go(func() {
			// Fails if the number has an event or a tombstone, which is as good.
			_ = c.log.Table.Write(ctx, tombstone(c.teamID, n, c.log.Now()))
		})
	}
	all.Wait()
}

type aheadKey struct{}

// ahead is a Claim in a context.
type ahead struct {
	*Claim
	using sync.Mutex
}

// ClaimAhead starts to claim n numbers of the team before the first Write of a request. Writes
// of the team under the returned context use them. It is for requests that will almost
// certainly record events: unused numbers become tombstones. The caller must call the function
// after its last Write.
func (l *Log) ClaimAhead(ctx context.Context, teamID string, n int) (context.Context, func()) {
	a := &ahead{Claim: l.Claim(ctx, teamID, n)}
	return context.WithValue(ctx, aheadKey{}, a), func() { a.End(ctx) }
}

// Write applies ops and records events in one Write of the store, under numbers claimed ahead
// or now. It returns the errors of table.Store.Write over ops alone.
func (l *Log) Write(ctx context.Context, teamID string, events []Event, ops ...table.Op) error {
	if a, ok := ctx.Value(aheadKey{}).(*ahead); ok && a.log == l && a.teamID == teamID && a.using.TryLock() {
		defer a.using.Unlock()
		return a.Write(ctx, events, ops...)
	}
	c := l.Claim(ctx, teamID, len(events))
	defer c.End(ctx)
	return c.Write(ctx, events, ops...)
}

// Once records e unless it recorded name within life, and reports whether it did. A repeat
// costs one eventual read and no number.
func (l *Log) Once(ctx context.Context, teamID, name string, life time.Duration, e Event) (bool, error) {
	key := table.Key{Table: table.Events, Partition: teamID + "/once", Sort: name}
	_, err := l.Table.Get(ctx, key, table.Eventual)
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, table.ErrNotFound) {
		return false, fmt.Errorf("look for %s: %w", name, err)
	}
	marker := table.Put{Item: table.Item{Key: key, Version: 1, Expires: l.Now().Add(life)}, If: table.Absent()}
	err = l.Write(ctx, teamID, []Event{e}, marker)
	if table.AsConditionFailed(err) != nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("record %s: %w", e.Type, err)
	}
	return true, nil
}

// RecordRefusal records e, a refusal, at most once per minute and subject, so that refused
// requests cannot flood the feed. The subject says who was refused what and why, from a small
// vocabulary; it contains no text of the request.
func (l *Log) RecordRefusal(ctx context.Context, teamID, subject string, e Event) error {
	name := string(e.Type) + "#" + subject + "#" + l.Now().UTC().Format("2006-01-02T15:04")
	_, err := l.Once(ctx, teamID, name, time.Hour, e)
	return err
}
