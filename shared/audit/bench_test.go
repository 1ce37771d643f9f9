package audit_test

import (
	"context"
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

// newDurableWorld returns a world on a file that is synced before a write returns.
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

// full returns an event as the request of a person records it.
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

// eachWrites is the number of writes per writer and round.
const eachWrites = 50

// side is one side of the comparison of writes, on its own file.
type side struct {
	*world
	write  func(ctx context.Context, id string) error
	made   atomic.Int64
	took   time.Duration
	worked time.Duration // processor time
	cost   table.Cost
}

func newSide(b *testing.B, audited bool) *side {
	b.Helper()
	s := &side{world: newDurableWorld(b)}
	s.write = func(ctx context.Context, id string) error {
		if audited {
			return s.log.Write(ctx, teamID, []audit.Event{full(id)}, thing(id))
		}
		return s.store.Write(ctx, thing(id))
	}
	return s
}

// round lets each writer make its writes.
func (s *side) round(b *testing.B, writers int) {
	b.Helper()
	ctx, meter := table.WithMeter(b.Context())
	start, worked := time.Now(), cpuTime()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range eachWrites {
				if err := s.write(ctx, strconv.FormatInt(s.made.Add(1), 10)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	s.took, s.worked = s.took+time.Since(start), s.worked+cpuTime()-worked
	read := meter.Read()
	s.cost.WriteUnits += read.WriteUnits
	s.cost.Calls += read.Calls
}

func (s *side) report(b *testing.B, name string) {
	b.Helper()
	made := float64(s.made.Load())
	b.ReportMetric(made/s.took.Seconds(), name+"/s")
	b.ReportMetric(float64(s.worked.Microseconds())/made, name+"-cpu-µs")
	b.ReportMetric(s.cost.WriteUnits/made, name+"-units")
	b.ReportMetric(float64(s.cost.Calls)/made, name+"-calls")
}

// BenchmarkWrites compares writes with and without an event, on files of one machine, and
// counts their cost on DynamoDB. The two alternate round by round, because the time to sync a
// busy disk varies tenfold within minutes.
func BenchmarkWrites(b *testing.B) {
	for _, writers := range []int{1, 8, 32} {
		b.Run(strconv.Itoa(writers), func(b *testing.B) {
			bare, audited := newSide(b, false), newSide(b, true)
			for b.Loop() {
				bare.round(b, writers)
				audited.round(b, writers)
			}
			bare.report(b, "bare")
			audited.report(b, "audited")
		})
	}
}

// BenchmarkFeed reads a feed of 10,000 events to its end, page by page, and polls an empty one.
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
