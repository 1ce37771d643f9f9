package audit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/table"
)

// raceEvents returns the number of events that the races write: DOCENT_AUDIT_EVENTS, or what
// takes a few seconds.
func raceEvents(t *testing.T) int64 {
	t.Helper()
	text := os.Getenv("DOCENT_AUDIT_EVENTS")
	if text == "" {
		return 3000
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 100 {
		t.Fatalf("DOCENT_AUDIT_EVENTS %q: a number from 100 on", text)
	}
	return n
}

// crowd is a set of running writers, some of which die or stall.
type crowd struct {
	*world
	store     *closing
	left      atomic.Int64
	mu        sync.Mutex
	committed []string
	died      int
	stalled   int
	once      sync.Once
	drained   chan struct{} // closed when no writer begins an event any more
	working   chan struct{} // closed when all writers have ended
}

const (
	writers    = 32
	raceGrace  = 40 * time.Millisecond
	diePer1000 = 20
	stallPer   = 5
)

func newCrowd(t *testing.T, w *world, events int64, grace, skew time.Duration) *crowd {
	t.Helper()
	c := &crowd{world: w, drained: make(chan struct{}), working: make(chan struct{})}
	c.store = &closing{Store: w.store, waiting: map[table.Key]chan struct{}{}}
	c.left.Store(events)
	audit.SetGrace(w.log, grace)
	w.log.Table = c.store
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 7))
			ahead := time.Duration(0)
			if skew > 0 {
				ahead = time.Duration(random.Int64N(int64(2*skew))) - skew
			}
			c.work(w.newLog(c.store, ahead), n, random)
		})
	}
	go func() {
		all.Wait()
		close(c.working)
	}()
	return c
}

func (c *crowd) work(log *audit.Log, writer int, random *rand.Rand) {
	defer c.once.Do(func() { close(c.drained) })
	for n := 0; c.left.Add(-1) >= 0; n++ {
		id := fmt.Sprintf("%d-%d", writer, n)
		switch chance := random.IntN(1000); {
		case chance < diePer1000:
			c.claim(1)
			c.mu.Lock()
			c.died++
			c.mu.Unlock()
		case chance < diePer1000+stallPer:
			c.stall(log, id)
		default:
			c.record(id, log.Write(c.t.Context(), teamID, []audit.Event{about(id)}, thing(id)))
		}
	}
}

// stall claims a number, and writes only when a reader has closed it, or when all others have
// ended.
func (c *crowd) stall(log *audit.Log, id string) {
	claim := log.Claim(c.t.Context(), teamID, 1)
	defer claim.End(c.t.Context())
	number := audit.NumberOf(claim)
	select {
	case <-c.store.expect(audit.SlotKey(teamID, number)):
	case <-c.drained:
	}
	c.mu.Lock()
	c.stalled++
	c.mu.Unlock()
	c.record(id, claim.Write(c.t.Context(), []audit.Event{about(id)}, thing(id)))
}

func (c *crowd) record(id string, err error) {
	if err != nil {
		c.t.Errorf("write %s: %v", id, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.committed = append(c.committed, id)
}

func (c *crowd) ended() bool {
	select {
	case <-c.working:
		return true
	default:
		return false
	}
}

// poll collects the feed to its end. Sometimes it dies between reading a page and saving its
// cursor.
func (c *crowd) poll(ctx context.Context, q audit.Query, log *audit.Log, random *rand.Rand) ([]audit.Event, error) {
	var got []audit.Event
	var unsaved []audit.Event
	for {
		over := c.ended()
		if over {
			c.clock.advance(time.Hour)
		}
		page, err := log.Feed(ctx, teamID, q)
		if err != nil {
			return nil, err
		}
		if len(unsaved) > len(page.Events) || !slices.EqualFunc(unsaved, page.Events[:len(unsaved)], same) {
			return nil, fmt.Errorf("cursor %q: a page of %d events, then of %d others", q.After, len(unsaved), len(page.Events))
		}
		if !over && random.IntN(10) == 0 {
			unsaved = page.Events // it died; its successor starts from the saved cursor
			continue
		}
		unsaved = nil
		got = append(got, page.Events...)
		q.After = page.Next
		if over && !page.More {
			return got, nil
		}
	}
}

func same(a, b audit.Event) bool { return a.Sequence == b.Sequence && a.Targets[0] == b.Targets[0] }

// TestPollersMissNothing compares what three pollers, killed and restarted, read with what 32
// writers commit, some of which die or stall between claim and commit.
func TestPollersMissNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		grace, skew time.Duration
	}{
		{"clocks that agree", raceGrace, 0},
		{"clocks up to ten times the grace apart", raceGrace, 10 * raceGrace},
		{"clocks up to a minute apart, the grace of the product", audit.Grace, time.Minute},
		{"no grace at all", 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			newCrowd(t, newWorld(t), raceEvents(t), test.grace, test.skew).polled(t, test.grace)
		})
	}
}

// polled lets three pollers with their own pages and filters read what the crowd writes, and
// compares what each has read.
func (c *crowd) polled(t *testing.T, grace time.Duration) {
	t.Helper()
	queries := []audit.Query{
		{Limit: 200},
		{Limit: 7, Types: []string{string(audit.CollectionCreated)}},
		{Limit: 50, Outcomes: []string{"success"}, Categories: []string{"configuration"}},
	}
	got := make([][]audit.Event, len(queries))
	errs := make([]error, len(queries))
	var pollers sync.WaitGroup
	for i, q := range queries {
		pollers.Go(func() {
			log := c.newLog(c.store, 0)
			audit.SetGrace(log, grace)
			got[i], errs[i] = c.poll(t.Context(), q, log, rand.New(rand.NewPCG(uint64(i), 1)))
		})
	}
	pollers.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("poller %d: %v", i, err)
		}
		c.compare(t, fmt.Sprintf("poller %d", i), got[i])
	}
	t.Logf("%d committed, %d died, %d stalled", len(c.committed), c.died, c.stalled)
}

// compare compares what a reader has read with what was committed.
func (c *crowd) compare(t *testing.T, who string, got []audit.Event) {
	t.Helper()
	for i := 1; i < len(got); i++ {
		if got[i].Sequence <= got[i-1].Sequence {
			t.Fatalf("%s: number %d after %d", who, got[i].Sequence, got[i-1].Sequence)
		}
	}
	ids := subjects(got)
	slices.Sort(ids)
	c.mu.Lock()
	want := slices.Sorted(slices.Values(c.committed))
	c.mu.Unlock()
	if !slices.Equal(ids, want) {
		t.Errorf("%s got %d events, %d were committed", who, len(ids), len(want))
	}
	things, err := c.world.store.Query(t.Context(), table.Query{Table: table.Collections, Partition: teamID})
	if err != nil {
		t.Fatal(err)
	}
	if things.Cursor == "" && len(things.Items) != len(want) {
		t.Errorf("%d changes happened, %d were committed", len(things.Items), len(want))
	}
}

// TestWindowsTileTheFeed lets collectors read window after window while events are written: up
// to the present by their own clocks, and of any size, in the past and up to the five minutes
// ahead that are allowed.
func TestWindowsTileTheFeed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		skew time.Duration
	}{
		{"writers' clocks five times the grace apart", 5 * raceGrace},
		{"writers' clocks up to a minute apart", time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, newWorld(t), raceEvents(t), raceGrace, test.skew)
			present := func(ahead time.Duration) cut {
				now := c.clock.ahead(ahead)
				return func(time.Time) time.Time { return now() }
			}
			c.tiled(t, map[string]cut{"fast": present(time.Minute), "slow": present(-time.Minute), "right": present(0),
				"small": c.anywhere(1, 8), "any size": c.anywhere(2, 20), "large": c.anywhere(3, 22)})
		})
	}
}

// cut returns the end of the window that starts at since.
type cut func(since time.Time) time.Time

// anywhere ends windows up to 2^bits ms after they begin, and not further ahead than
// a time may be, where it means now.
func (c *crowd) anywhere(seed uint64, bits int) cut {
	random := rand.New(rand.NewPCG(seed, 3))
	return func(since time.Time) time.Time {
		until := since.Add(time.Duration(1+random.Int64N(1<<(1+random.IntN(bits)))) * time.Millisecond)
		if ahead := c.clock.now().Add(4 * time.Minute); until.After(ahead) {
			return ahead
		}
		return until
	}
}

// own moves the ends of cut to milliseconds that only the collector with this number, 0 to 7, uses: an end that two collectors
// name before its time has the events up to the first of them, so that the second may read some twice.
func own(end cut, number int) cut {
	return func(since time.Time) time.Time {
		return end(since).Truncate(8 * time.Millisecond).Add(time.Duration(number) * time.Millisecond)
	}
}

// tiled lets a collector for each cut read what the crowd writes, and compares what each has
// read.
func (c *crowd) tiled(t *testing.T, cuts map[string]cut) {
	t.Helper()
	begin := c.clock.now().Add(-10 * time.Minute)
	got := make(map[string][]audit.Event, len(cuts))
	errs := make(map[string]error, len(cuts))
	var collectors sync.WaitGroup
	var mu sync.Mutex
	number := 0
	for name, cut := range cuts {
		mine := own(cut, number)
		number++
		collectors.Go(func() {
			log := c.newLog(c.store, 0)
			audit.SetGrace(log, raceGrace)
			events, err := c.collect(t.Context(), log, begin, mine)
			mu.Lock()
			defer mu.Unlock()
			got[name], errs[name] = events, err
		})
	}
	collectors.Wait()
	for name, err := range errs {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.compare(t, name, got[name])
	}
}

// collect reads adjacent windows until it has read one that starts after the last write. It
// reads each window twice.
func (c *crowd) collect(ctx context.Context, log *audit.Log, since time.Time, cut cut) ([]audit.Event, error) {
	var got []audit.Event
	for {
		over := c.ended()
		until := cut(since)
		if over {
			c.clock.advance(time.Hour)
			until = c.clock.now()
		}
		if !until.After(since) {
			continue
		}
		q := audit.Query{Limit: 23, Since: stamp(since), Until: stamp(until)}
		window, err := follow(ctx, log, q)
		if err != nil {
			return nil, err
		}
		again, err := follow(ctx, log, q)
		if err != nil {
			return nil, err
		}
		if !slices.EqualFunc(window, again, same) {
			return nil, fmt.Errorf("the window to %s has %d events, then %d", until, len(window), len(again))
		}
		got = append(got, window...)
		if since = until; over {
			return got, nil
		}
	}
}

func follow(ctx context.Context, log *audit.Log, q audit.Query) ([]audit.Event, error) {
	var got []audit.Event
	for {
		page, err := log.Feed(ctx, teamID, q)
		if err != nil {
			return nil, err
		}
		got = append(got, page.Events...)
		if !page.More {
			return got, nil
		}
		q.After = page.Next
	}
}
