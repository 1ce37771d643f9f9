package audit_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/table"
	"docent/shared/table/bolt"
)

// newDurableWorld is a world on a file that is synced before a write returns.
func newDurableWorld(b *testing.B) *world {
	b.Helper()
	return newWorldOn(b, func(now func() time.Time) table.Store {
		store, err := bolt.Open(filepath.Join(b.TempDir(), "docent.db"), bolt.Options{Tables: table.Names, Now: now})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := store.Close(); err != nil {
				b.Error(err)
			}
		})
		return store
	})
}

// full is an event as a request of a person records it.
func full(id string) audit.Event {
	e := about(id)
	e.Origin = audit.Origin{
		Actor: audit.Actor{Type: audit.ActorUser, ID: "0190d2a0-0000-7000-8000-0000000000aa", DisplayName: "ada@example.com",
			Credential: audit.Credential{Type: audit.PersonalKey, ID: "0190d2a000007000", Name: "laptop"}},
		Client:  audit.Client{IP: "203.0.113.7", UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
		Request: audit.Request{ID: "0190d2a0-0000-7000-8000-0000000000bb", Method: "POST", Path: "/v1/collections"},
	}
	return e
}

// BenchmarkWrites compares a write with an event to the same write without one,
// on a file of one machine, and counts what each would cost on DynamoDB.
func BenchmarkWrites(b *testing.B) {
	for _, audited := range []bool{false, true} {
		for _, writers := range []int{1, 8, 32} {
			name := map[bool]string{false: "bare", true: "audited"}[audited]
			b.Run(fmt.Sprintf("%s/%d", name, writers), func(b *testing.B) {
				w := newDurableWorld(b)
				ctx, meter := table.WithMeter(b.Context())
				var next atomic.Int64
				var all sync.WaitGroup
				b.ResetTimer()
				for range writers {
					all.Go(func() {
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							id := strconv.FormatInt(n, 10)
							var err error
							if audited {
								err = w.log.Write(ctx, teamID, []audit.Event{full(id)}, thing(id))
							} else {
								err = w.store.Write(ctx, thing(id))
							}
							if err != nil {
								b.Error(err)
							}
						}
					})
				}
				all.Wait()
				cost := meter.Read()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
				b.ReportMetric(cost.WriteUnits/float64(b.N), "units/write")
				b.ReportMetric(float64(cost.Calls)/float64(b.N), "calls/write")
			})
		}
	}
}

// BenchmarkFeed reads a feed of 10,000 events to its end, page by page, and polls
// an empty one.
func BenchmarkFeed(b *testing.B) {
	const events = 10_000
	w := newWorld(b)
	for n := range events {
		id := strconv.Itoa(n)
		if err := w.log.Write(b.Context(), teamID, []audit.Event{full(id)}, thing(id)); err != nil {
			b.Fatal(err)
		}
	}
	for _, q := range []audit.Query{{Limit: 100}, {Limit: audit.MaxPage}, {Limit: audit.MaxPage, Types: []string{string(audit.TeamUpdated)}}} {
		b.Run(fmt.Sprintf("%d a page, %d types", q.Limit, len(q.Types)), func(b *testing.B) {
			ctx, meter := table.WithMeter(b.Context())
			pages, read := 0, 0
			for b.Loop() {
				for q := q; ; {
					page, err := w.log.Feed(ctx, teamID, q)
					if err != nil {
						b.Fatal(err)
					}
					pages++
					if q.After = page.Next; !page.More {
						break
					}
				}
				read += events
			}
			cost := meter.Read()
			b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
			// A strongly consistent unit is up to 4 KB.
			b.ReportMetric(cost.ReadUnits*1000/float64(read), "units/1000events")
			b.ReportMetric(cost.ReadUnits*4096*1000/float64(read), "bytes/1000events")
		})
	}
	b.Run("empty", func(b *testing.B) {
		q := audit.Query{Limit: 100, After: w.feed(audit.Query{Limit: 1, Since: audit.EventID(teamID, events)}).Next}
		ctx, meter := table.WithMeter(b.Context())
		polls := 0
		for b.Loop() {
			if page, err := w.log.Feed(ctx, teamID, q); err != nil || len(page.Events) > 0 {
				b.Fatal(page.Events, err)
			}
			polls++
		}
		cost := meter.Read()
		b.ReportMetric(cost.ReadUnits/float64(polls), "units/poll")
		b.ReportMetric(float64(cost.Calls)/float64(polls), "calls/poll")
	})
}
