package simulate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/app"
	"docent/shared/pause"
	"docent/shared/source"
	"docent/shared/table"
	"docent/shared/team"
)

// Rounds is the scenario of many teams with data sources, in which nobody asks anything: what the sweeper, the day's round,
// the search for orphans and the syncs have to do.
type Rounds struct {
	World   WorldOptions
	Teams   int
	Sources int // spread over the teams
	Blobs   int // segments of the teams, each with its record
	// SyncEvery is the interval of every source, and Provider how long its provider takes for a sync.
	SyncEvery time.Duration
	Provider  Latency
	For       time.Duration
}

// RoundsResult is the measurement of a run of Rounds.
type RoundsResult struct {
	Sweeps   Times // how long each run of sweeping took
	Failures []error
	Daily    time.Duration // until the day's round was done, 0 if it never was
	Orphans  time.Duration // the same of the search for orphans
	Syncs    int
	Late     Times // how late each sync began
	Never    int   // sources that were due and not read
	Table    Used
	Used     map[string]Invocations
	Busiest  string // partition of the table of pending syncs that used the most units
}

// reader is the connector of a provider in which nothing changes.
type reader struct {
	s *Rounds

	chance *Chance
	mu     sync.Mutex
	last   map[string]time.Time // end of the last sync by page
	begun  []time.Duration      // since the end of the one before
}

func (r *reader) Parts(source.Settings) []string { return []string{"pages"} }

func (r *reader) Read(ctx context.Context, a source.Access, _ string, _ []byte) iter.Seq2[source.SyncPage, error] {
	return func(yield func(source.SyncPage, error) bool) {
		name := a.Settings.List("urls")[0]
		r.mu.Lock()
		if last, ok := r.last[name]; ok {
			r.begun = append(r.begun, time.Since(last))
		}
		r.mu.Unlock()
		err := r.chance.take(ctx, r.s.Provider)
		r.mu.Lock()
		r.last[name] = time.Now()
		r.mu.Unlock()
		yield(source.SyncPage{Last: true, Exact: true, Checkpoint: []byte("1")}, err)
	}
}

func (r *reader) PartContains(source.Settings, string, string) bool { return true }

func (r *reader) IsDeleted(context.Context, source.Access, string, string) (bool, error) {
	return false, nil
}

// Run runs the scenario. It must run in a bubble of testing/synctest.
func (s Rounds) Run(ctx context.Context) (RoundsResult, error) {
	w := NewWorld(s.World)
	r := &reader{s: &s, chance: w.chance, last: map[string]time.Time{}}
	w.o.Parts.Connect = func(func() time.Time) map[source.ProviderName]source.Connection {
		return map[source.ProviderName]source.Connection{"web": {Connector: r, SyncEvery: s.SyncEvery, FullScanEvery: 7 * 24 * time.Hour}}
	}
	ctx, stop := context.WithCancel(ctx)
	wait := w.Work(ctx)
	defer wait()
	defer stop()
	if err := s.fill(ctx, w); err != nil {
		return RoundsResult{}, err
	}
	w.Begin()
	before := w.Table.Used()
	result := RoundsResult{Used: map[string]Invocations{}}
	begun := time.Now()
	for minute := 1; time.Since(begun) < s.For; minute++ {
		at := time.Now()
		err := w.Sweeper.Invoke(ctx, requestCompute, func(ctx context.Context, run app.Schedule) {
			if err := run(ctx); err != nil {
				result.Failures = append(result.Failures, err)
			}
		})
		if err != nil {
			return result, err
		}
		result.Sweeps = append(result.Sweeps, time.Since(at))
		if result.Daily == 0 && w.has(table.Events, "daily", "round", func(i *table.Item) bool { return i.Numbers["done"] > 0 }) {
			result.Daily = time.Since(begun)
		}
		if result.Orphans == 0 && w.has(table.Index, "cleanup", "orphans", func(i *table.Item) bool { return i.Strings["after"] == "" }) {
			result.Orphans = time.Since(begun)
		}
		if err := pause.For(ctx, time.Until(begun.Add(time.Duration(minute)*time.Minute))); err != nil {
			return result, err
		}
	}
	stop()
	wait()
	for _, apart := range r.begun {
		result.Late = append(result.Late, max(apart-s.SyncEvery, 0))
	}
	for _, last := range r.last {
		if time.Since(last) > s.SyncEvery+5*time.Minute {
			result.Never++
		}
	}
	slices.Sort(result.Late)
	slices.Sort(result.Sweeps)
	result.Syncs = len(r.begun)
	result.Table = w.Table.Used()
	result.Table.Calls -= before.Calls
	result.Table.ReadUnits -= before.ReadUnits
	result.Table.WriteUnits -= before.WriteUnits
	result.Used["sweeping"], result.Used["syncing"] = w.Sweeper.Used(), w.Workers["syncing"].Used()
	hottest, units := w.Table.Hottest(table.Collections)
	result.Busiest = fmt.Sprintf("%s with %.0f units", hottest, units)
	return result, nil
}

// has reports whether an item is there and holds.
func (w *World) has(name, partition, sort string, holds func(*table.Item) bool) bool {
	w.Table.mu.Lock()
	defer w.Table.mu.Unlock()
	item := w.Table.of(name, partition).get(sort)
	return item != nil && holds(item)
}

// fill makes the teams, and the sources evenly over one interval, so that they are due evenly. The first sync of each takes
// no time.
func (s Rounds) fill(ctx context.Context, w *World) error {
	teams := w.Teams()
	ids := make([]string, s.Teams)
	keys := make([]string, min(s.Teams, s.Sources))
	var work errgroup.Group
	work.SetLimit(4)
	for i := range ids {
		work.Go(func() error {
			t, admin, err := teams.CreateTeam(ctx, fmt.Sprintf("Team %d", i), fmt.Sprintf("admin-%d@example.com", i))
			if err != nil {
				return err
			}
			if ids[i] = t.ID; i < len(keys) {
				_, keys[i], err = teams.CreateKey(ctx, t.ID, team.NewKey{Kind: team.KindPersonal, Name: "admin", UserID: admin.ID})
			}
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	for n := range s.Blobs {
		id := ids[n%len(ids)]
		name := fmt.Sprintf("0192c6a0-7b1e-7c3d-9e4f-%012d", n)
		record := table.Item{Key: table.Key{Table: table.Index, Partition: id, Sort: "source#documentation#00#" + name}, Version: 1,
			Body: []byte(`{"bytes":1,"passages":1,"documents":1,"lengths":1,"analysis":1,"format":1}`)}
		if err := errors.Join(w.Table.Write(ctx, table.Put{Item: record}), w.Objects.Put(ctx, "segments/"+id+"/"+name, []byte("x"))); err != nil {
			return err
		}
	}
	apart := s.SyncEvery / time.Duration(max(s.Sources, 1))
	for n := range s.Sources {
		body := map[string]any{"provider": "web", "name": fmt.Sprintf("Source %d", n), "settings": map[string]any{"urls": []string{fmt.Sprintf("https://pages.test/%d", n)}}}
		if err := w.call(ctx, keys[n%len(keys)], http.MethodPost, "/data-sources", body, http.StatusCreated, nil); err != nil {
			return err
		}
		if err := pause.For(ctx, apart); err != nil {
			return err
		}
	}
	return nil
}
