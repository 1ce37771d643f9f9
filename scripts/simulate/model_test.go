package simulate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/pause"
	"docent/shared/queue"
	"docent/shared/table"
)

func TestLatenciesAreAsStated(t *testing.T) {
	t.Parallel()
	chance, l := NewChance(1), Latency{10 * time.Millisecond, 50 * time.Millisecond}
	const draws = 100_000
	below, above := 0, 0
	for range draws {
		if d := chance.draw(l); d < l.Median {
			below++
		} else if d > l.P99 {
			above++
		}
	}
	if below < 49*draws/100 || below > 51*draws/100 || above < 8*draws/1000 || above > 12*draws/1000 {
		t.Errorf("%d of %d below the median, %d above the 99th percentile", below, draws, above)
	}
}

// TestAPartitionServesItsUnits: writes of one unit each, of more callers than a partition serves, end in the time that
// its capacity gives them, while those of many partitions do not wait.
func TestAPartitionServesItsUnits(t *testing.T) {
	t.Parallel()
	const writes = 5000
	for name, c := range map[string]struct {
		partitions  int
		least, most time.Duration
	}{
		"one partition":   {1, 3 * time.Second, 6 * time.Second}, // 1,000 at once, then 1,000 a second
		"many partitions": {1000, 0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := NewTable(NewChance(1), time.Now)
				begun := time.Now()
				var refused atomic.Int64
				var all sync.WaitGroup
				for caller := range 250 {
					all.Go(func() {
						for n := range writes / 250 {
							item := table.Item{Key: table.Key{Table: table.Index, Partition: fmt.Sprint((caller*20 + n) % c.partitions), Sort: fmt.Sprintf("%d-%d", caller, n)}}
							for store.Write(t.Context(), table.Put{Item: item}) != nil {
								refused.Add(1)
							}
						}
					})
				}
				all.Wait()
				if took := time.Since(begun); took < c.least || took > c.most {
					t.Errorf("took %s, want %s to %s", took, c.least, c.most)
				}
				if used := store.Used(); used.WriteUnits != writes || (used.Throttled > 0) != (c.partitions == 1) {
					t.Errorf("used %+v, %d refused", used, refused.Load())
				}
			})
		})
	}
}

// TestTransactionsOnOneItemMeet: each of many racing transactions happens once, and some were refused on the way.
func TestTransactionsOnOneItemMeet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := NewTable(NewChance(1), time.Now)
		count := table.Key{Table: table.Usage, Partition: "p", Sort: "count"}
		var done atomic.Int64
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				err := store.Write(t.Context(), table.Add{Key: count, By: map[string]int64{"n": 1}},
					table.Put{Item: table.Item{Key: table.Key{Table: table.Usage, Partition: "p", Sort: fmt.Sprint(n)}}})
				if err == nil {
					done.Add(1)
				} else if !errors.Is(err, table.ErrConflict) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		item, err := store.Get(t.Context(), count)
		if err != nil || item.Numbers["n"] != done.Load() || done.Load() < 10 {
			t.Errorf("counted %d (%v), %d succeeded", item.Numbers["n"], err, done.Load())
		}
		if store.Used().Conflicts == 0 {
			t.Error("no transaction met another")
		}
	})
}

// TestAFairQueueServesTheQuietFirst: behind a thousand messages of a loud team, those of a quiet one are delivered soon
// with groups, and last without.
func TestAFairQueueServesTheQuietFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unfair      bool
		least, most int // place of the last quiet message
	}{"fair": {false, 1, 200}, "unfair": {true, 1001, 1010}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := NewQueue(&Chance{}, QueueOptions{Visibility: time.Hour, Unfair: c.unfair})
				send := func(group string, n int) {
					for range n {
						if err := q.Send(t.Context(), queue.Outgoing{Body: []byte(group), Group: group}); err != nil {
							t.Fatal(err)
						}
						time.Sleep(time.Millisecond)
					}
				}
				send("loud", 1000)
				send("quiet", 10)
				place, last := 0, 0
				for place < 1010 {
					batch, err := q.Receive(t.Context(), queue.MaxBatch, 0)
					if err != nil || len(batch) == 0 {
						t.Fatal(err)
					}
					for _, m := range batch {
						if place++; string(m.Body) == "quiet" {
							last = place
						}
					}
					time.Sleep(50 * time.Millisecond)
					if place > 100 { // what is in flight stays a hundred
						if err := q.Done(t.Context(), batch...); err != nil {
							t.Fatal(err)
						}
					}
				}
				if last < c.least || last > c.most {
					t.Errorf("the last quiet message came as number %d, want %d to %d", last, c.least, c.most)
				}
			})
		})
	}
}

func TestAFunctionIsBoundedAndStartsCold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		account := NewAccount()
		var started atomic.Int64
		reserved := NewFunction(Spec{Name: "reserved", Memory: 1769, Timeout: time.Minute, Reserved: 10}, account, NewChance(1), func() int { return int(started.Add(1)) })
		other := NewFunction(Spec{Name: "other", Memory: 1769, Timeout: time.Minute}, account, NewChance(1), func() int { return 0 })
		invoke := func(f *Function[int], n int) (refused int64) {
			var none atomic.Int64
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					if err := f.Invoke(t.Context(), 0, func(ctx context.Context, _ int) { _ = pause.For(ctx, time.Second) }); errors.Is(err, ErrTooMany) {
						none.Add(1)
					}
				})
			}
			all.Wait()
			return none.Load()
		}
		if refused := invoke(reserved, 25); refused != 15 {
			t.Errorf("%d of 25 refused, want 15", refused)
		}
		if refused := invoke(other, 1000); refused != 10 {
			t.Errorf("%d of 1,000 refused with a reservation of 10 for another", refused)
		}
		invoke(reserved, 10)
		if used := reserved.Used(); used.Cold != 10 || used.Done != 20 || started.Load() != 10 {
			t.Errorf("cold %d of %d, %d programs, want each of ten used twice", used.Cold, used.Done, started.Load())
		}
		time.Sleep(keepIdle + time.Second)
		invoke(reserved, 1)
		if used := reserved.Used(); used.Cold != 11 {
			t.Errorf("%d cold, want another after a long pause", used.Cold)
		}
	})
}

// TestPollersScale: a backlog brings five pollers more each second, up to what is set.
func TestPollersScale(t *testing.T) {
	t.Parallel()
	for most, want := range map[int][2]int{0: {50, 60}, 10: {10, 10}} {
		synctest.Test(t, func(t *testing.T) {
			q := NewQueue(&Chance{}, QueueOptions{Visibility: time.Hour})
			for range 2000 {
				if err := q.Send(t.Context(), queue.Outgoing{Body: []byte("x")}); err != nil {
					t.Fatal(err)
				}
			}
			worker := Worker(func(ctx context.Context, _ events.SQSEvent) (events.SQSEventResponse, error) {
				return events.SQSEventResponse{}, pause.For(ctx, 10*time.Second)
			})
			f := NewFunction(Spec{Memory: 1769, Timeout: time.Minute}, NewAccount(), &Chance{}, func() Worker { return worker })
			ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
			defer cancel()
			Source{Queue: q, Function: f, Batch: 1, Most: most}.Run(ctx)
			if got := f.Used().MostAtOnce; got < want[0] || got > want[1] {
				t.Errorf("bounded by %d: %d at a time after ten seconds, want %v", most, got, want)
			}
		})
	}
}

// TestFailedMessagesComeAgain: a worker's failed messages are delivered after the visibility timeout, the others never.
func TestFailedMessagesComeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(NewChance(1), QueueOptions{Visibility: time.Minute})
		for _, body := range []string{"good", "bad"} {
			if err := q.Send(t.Context(), queue.Outgoing{Body: []byte(body)}); err != nil {
				t.Fatal(err)
			}
		}
		var mu sync.Mutex
		var seen []string
		worker := Worker(func(_ context.Context, e events.SQSEvent) (r events.SQSEventResponse, _ error) {
			mu.Lock()
			defer mu.Unlock()
			for _, m := range e.Records {
				seen = append(seen, m.Body+m.Attributes["ApproximateReceiveCount"])
				if m.Body == "bad" && m.Attributes["ApproximateReceiveCount"] == "1" {
					r.BatchItemFailures = append(r.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
				}
			}
			return r, nil
		})
		f := NewFunction(Spec{Memory: 1769, Timeout: time.Minute}, NewAccount(), NewChance(1), func() Worker { return worker })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		Source{Queue: q, Function: f, Batch: 10, Most: 2}.Run(ctx)
		if got := strings.Join(seen, " "); len(seen) != 3 || !strings.Contains(got, "bad2") || strings.Count(got, "good") != 1 || q.Waiting() != 0 {
			t.Errorf("handled %q, %d left", got, q.Waiting())
		}
	})
}

// TestFunctionsAreAsDeployed compares memory and timeout with the stack's template.
func TestFunctionsAreAsDeployed(t *testing.T) {
	t.Parallel()
	stack, err := os.ReadFile("../../infra/testdata/stack.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range Specs {
		want := fmt.Sprintf("  %s MemorySize=%d Timeout=%.0f\n", strings.ToUpper(name[:1])+name[1:], s.Memory, s.Timeout.Seconds())
		if !strings.Contains(string(stack), want) {
			t.Errorf("the stack has no %q", strings.TrimSpace(want))
		}
	}
}
