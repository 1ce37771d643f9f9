package simulate

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"
)

func TestFullRounds(t *testing.T) {
	needsFull(t)
	printTable(func(out io.Writer) {
		fmt.Fprintln(out, "teams\tsources\tworkers\tsweeps p50\tlongest\tfailed\tday's round\torphans\tsyncs\tlate p50\tp99\tnever\tcalls\tread units\twrite units\tthrottled\tbusiest partition")
		for _, c := range []struct{ teams, sources, workers int }{{10_000, 6_000, 10}, {100_000, 60_000, 10}} {
			bubble(t, func(ctx context.Context) error {
				r, err := Rounds{World: WorldOptions{Seed: 1, Workers: c.workers, Rate: 100_000}, Teams: c.teams, Sources: c.sources, Blobs: c.teams,
					SyncEvery: 15 * time.Minute, Provider: Latency{300 * time.Millisecond, 2 * time.Second}, For: 20 * time.Minute}.Run(ctx)
				fmt.Fprintf(out, "%d\t%d\t%d\t%s\t%s\t%d\t%s\t%s\t%d\t%s\t%s\t%d\t%d\t%.0f\t%.0f\t%d\t%s\n", c.teams, c.sources, c.workers, r.Sweeps.At(0.5).Round(10*time.Millisecond), r.Sweeps.At(1).Round(10*time.Millisecond), len(r.Failures),
					r.Daily.Round(time.Second), r.Orphans.Round(time.Second), r.Syncs, r.Late.At(0.5).Round(time.Second), r.Late.At(0.99).Round(time.Second), r.Never,
					r.Table.Calls, r.Table.ReadUnits, r.Table.WriteUnits, r.Table.Throttled, r.Busiest)
				return err
			})
		}
	})
}

// TestSourcesAreReadWhenDue is the scenario in small: while the workers keep up, a sync begins within two sweeps of the
// time at which it is due, and the day's round and the search for orphans end.
func TestSourcesAreReadWhenDue(t *testing.T) {
	t.Parallel()
	bubble(t, func(ctx context.Context) error {
		r, err := Rounds{World: WorldOptions{Seed: 1}, Teams: 150, Sources: 60, Blobs: 150, SyncEvery: 15 * time.Minute,
			Provider: Latency{300 * time.Millisecond, 2 * time.Second}, For: 18 * time.Minute}.Run(ctx)
		if err != nil {
			return err
		}
		if r.Syncs < 55 || r.Never > 0 || r.Late.At(1) > 3*time.Minute {
			t.Errorf("%d syncs, %d sources were never read, the latest %s late", r.Syncs, r.Never, r.Late.At(1))
		}
		if r.Daily == 0 || r.Orphans == 0 || len(r.Failures) > 0 {
			t.Errorf("the day's round took %s, the search for orphans %s; failures: %v", r.Daily, r.Orphans, r.Failures)
		}
		return nil
	})
}
