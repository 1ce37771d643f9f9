package audit_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

const teamID = "0190d2a0-0000-7000-8000-00000000000a"

// clock advances by a millisecond at each read, so that no test waits for time to pass.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ms.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Add(1)).UTC() }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// ahead returns the clock of a process that is ahead by d.
func (c *clock) ahead(d time.Duration) func() time.Time {
	return func() time.Time { return c.now().Add(d) }
}

// world is a store with a clock.
type world struct {
	t     testing.TB
	clock *clock
	store table.Store
	log   *audit.Log
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOn(t, func(now func() time.Time) table.Store { return bolttest.OpenAt(t, now) })
}

// newWorldOn returns a world on the store that open opens with the world's clock.
func newWorldOn(t testing.TB, open func(now func() time.Time) table.Store) *world {
	t.Helper()
	c := newClock()
	w := &world{t: t, clock: c, store: open(c.now)}
	w.log = w.newLog(w.store, 0)
	return w
}

// newLog returns a Log of another process, whose clock is ahead by d.
func (w *world) newLog(store table.Store, d time.Duration) *audit.Log {
	return &audit.Log{Table: store, Now: w.clock.ahead(d), Wait: func(ctx context.Context, d time.Duration) error {
		w.clock.advance(d)
		return ctx.Err()
	}}
}

// thing returns the operation that writes of the tests make.
func thing(id string) table.Put {
	return table.Put{Item: table.Item{Key: table.Key{Table: table.Collections, Partition: teamID, Sort: id}, Version: 1}, If: table.Absent()}
}

// about returns an event whose target is the thing.
func about(id string) audit.Event {
	return audit.Event{Type: audit.CollectionCreated, Targets: []audit.Target{{Type: audit.TargetCollection, ID: id, DisplayName: "Thing " + id}}}
}

func (w *world) write(ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		if err := w.log.Write(w.t.Context(), teamID, []audit.Event{about(id)}, thing(id)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// claim takes n numbers and forgets them, as a process that dies.
func (w *world) claim(n int) {
	w.t.Helper()
	if _, err := w.store.Add(w.t.Context(), table.Add{Key: audit.HeadKey(teamID), By: map[string]int64{"seq": int64(n)}}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) feed(q audit.Query) audit.Page {
	w.t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	page, err := w.log.Feed(w.t.Context(), teamID, q)
	if err != nil {
		w.t.Fatal(err)
	}
	return page
}

// all follows q to its end and returns what the events are about.
func (w *world) all(q audit.Query) []string {
	w.t.Helper()
	var ids []string
	for {
		page := w.feed(q)
		ids = append(ids, subjects(page.Events)...)
		if !page.More {
			return ids
		}
		q.After = page.Next
	}
}

func subjects(events []audit.Event) []string {
	var ids []string
	for _, e := range events {
		ids = append(ids, e.Targets[0].ID)
	}
	return ids
}

func numbered(from, to int) []string {
	var ids []string
	for n := from; n <= to; n++ {
		ids = append(ids, strconv.Itoa(n))
	}
	return ids
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if !apierr.IsCode(err, code) {
		t.Errorf("error %v, want code %s", err, code)
	}
}

// closing is a store that reports when a number is closed or filled.
type closing struct {
	table.Store
	mu      sync.Mutex
	waiting map[table.Key]chan struct{}
}

func (c *closing) expect(k table.Key) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := make(chan struct{})
	c.waiting[k] = done
	return done
}

func (c *closing) Write(ctx context.Context, ops ...table.Op) error {
	err := c.Store.Write(ctx, ops...)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range ops {
		if done := c.waiting[table.KeyOf(op)]; done != nil {
			close(done)
			delete(c.waiting, table.KeyOf(op))
		}
	}
	return nil
}
