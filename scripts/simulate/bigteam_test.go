package simulate

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/testkit/picture"
)

// TestTheShapeFollowsTheMeasurements compares the laws with the figures that they were taken from.
func TestTheShapeFollowsTheMeasurements(t *testing.T) {
	t.Parallel()
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.15*want {
			t.Errorf("%s: %.2f, measured %.2f", name, got, want)
		}
	}
	small, large := ShapeOf(100_000/passagesPerDocument, false), ShapeOf(measuredPassages/passagesPerDocument, false)
	near("requests, 100,000", small.Gets, 24)
	near("requests, 1,000,000", large.Gets, 84)
	near("MiB, 100,000", small.MiB, 0.6)
	near("MiB, 1,000,000", large.MiB, 2.1)
	near("ms, 100,000", milliseconds(small.Compute), 0.8)
	near("ms, 1,000,000", milliseconds(large.Compute), 2.7)
	for passages, ms := range map[int]float64{10_000: 1.7, 50_000: 2.2, 150_000: 3.1, measuredPassages: 7.3} {
		documents := passages / passagesPerDocument
		near(fmt.Sprintf("ms of meaning, %d", passages), milliseconds(ShapeOf(documents, true).Compute-ShapeOf(documents, false).Compute), ms)
	}
	kept := 0.0 // MiB after 300 questions, with a cache that nothing leaves
	for n := range 300 {
		kept += large.Missing(n, math.Inf(1)) * large.MiB
	}
	near("MiB in memory after 300 questions", kept, 51)
	if small := large.Missing(10_000, 4); small < large.Missing(10_000, 400) {
		t.Error("a larger cache misses more")
	}
}

// TestMoreDocumentsNeedMoreCalls runs a few searches of two sizes.
func TestMoreDocumentsNeedMoreCalls(t *testing.T) {
	t.Parallel()
	results := map[int]BigTeamResult{}
	for _, documents := range []int{10_000, 300_000} {
		bubble(t, func(ctx context.Context) error {
			r, err := BigTeam{Seed: 1, Documents: documents, PerSecond: 20, Memory: 1024, Cache: 16, WarmUp: 2 * time.Second, For: 5 * time.Second}.Run(ctx)
			if err != nil {
				return err
			}
			if len(r.Times) < 50 || r.Refused+r.Failed > 0 || r.Throttled+r.Slowed > 0 {
				t.Errorf("%d documents: %d done, %+v", documents, len(r.Times), r)
			}
			results[documents] = r
			return nil
		})
	}
	if few, many := results[10_000], results[300_000]; many.Gets < 2*few.Gets || many.Units <= few.Units || many.Times.At(0.5) <= few.Times.At(0.5) {
		t.Errorf("few: %.1f GETs, %.1f units, %s; many: %.1f, %.1f, %s", few.Gets, few.Units, few.Times.At(0.5), many.Gets, many.Units, many.Times.At(0.5))
	}
}

// TestProcessesShareTheirProcessors: of four requests on two processors, two wait; a second process serves them at once.
func TestProcessesShareTheirProcessors(t *testing.T) {
	t.Parallel()
	for processes, want := range map[int]time.Duration{1: 2 * time.Second, 2: time.Second} {
		bubble(t, func(ctx context.Context) error {
			begun := time.Now()
			f := newFleet(processes, 2, func() *atomic.Int64 { return new(atomic.Int64) })
			var all errgroup.Group
			for range 4 {
				all.Go(func() error {
					return f.Invoke(ctx, time.Second, func(_ context.Context, answered *atomic.Int64) { answered.Add(1) })
				})
			}
			if err := all.Wait(); err != nil {
				return err
			}
			for i, p := range f.processes {
				if n := p.program.Load(); int(n)*processes != 4 {
					t.Errorf("process %d of %d did %d", i, processes, n)
				}
			}
			if took := time.Since(begun); took != want {
				t.Errorf("%d processes took %s, want %s", processes, took, want)
			}
			return nil
		})
	}
}

// place is where the searches of a scenario run.
type place struct {
	name   string
	colour string
	BigTeam
}

// TestFullBigTeam draws what searches of ten million documents take, by their rate and where they run.
func TestFullBigTeam(t *testing.T) {
	needsFull(t)
	rates := []float64{1, 10, 30, 100, 300, 1000}
	rateNames := []string{"1", "10", "30", "100", "300", "1,000"}
	places := []place{
		{"function, 1 GB, 256 MiB for segments (as deployed)", "#b0413e", BigTeam{Memory: 1024, Cache: 256}},
		{"function, 10 GB, all in memory", "#c9a227", BigTeam{Memory: 10_240, Cache: 8192}},
		{"4 processes of 16 processors and 32 GB, by words", "#2f6db5", BigTeam{Processes: 4, Processors: 16, Cache: 8192, Answered: 200_000}},
		{"16 of 16 and 64 GB, by words and meaning", "#1f6f43", BigTeam{Processes: 16, Processors: 16, Cache: 16_384, Answered: 200_000, Meaning: true}},
	}
	fmt.Printf("%+v\n%+v\n", ShapeOf(10_000_000, false), ShapeOf(10_000_000, true))
	drawing := &picture.Picture{}
	var entries []picture.Entry
	var curves []picture.Curve
	printTable(func(out io.Writer) {
		fmt.Fprintln(out, "where\tsearches a second\tp50 ms\tp99\tGETs a search\tread units\tunits a second of the list\tthrottled\tslowed\tat once\t")
		for _, at := range places {
			entries = append(entries, picture.Entry{Name: at.name, Colour: at.colour})
			p50, p99 := picture.Curve{Colour: at.colour}, picture.Curve{Colour: at.colour, Dashed: true}
			for _, rate := range rates {
				var r BigTeamResult
				bubble(t, func(ctx context.Context) (err error) {
					scenario := at.BigTeam
					scenario.Seed, scenario.Documents, scenario.PerSecond = 1, 10_000_000, rate
					scenario.For = time.Duration(max(4, min(1000/rate, 100)) * float64(time.Second))
					scenario.WarmUp = scenario.For
					r, err = scenario.Run(ctx)
					return err
				})
				fmt.Fprintf(out, "%s\t%.0f\t%.0f\t%.0f\t%.1f\t%.0f\t%.0f\t%d\t%d\t%d\t%s\n", at.name, rate, milliseconds(r.Times.At(0.5)), milliseconds(r.Times.At(0.99)), r.Gets, r.Units, r.ListUnits,
					r.Throttled, r.Slowed, r.MostAtOnce, r.status())
				if len(r.Times) < r.Refused+r.Failed {
					break // it ends here: more would only be refused more often
				}
				p50.Values, p99.Values = append(p50.Values, milliseconds(r.Times.At(0.5))), append(p99.Values, milliseconds(r.Times.At(0.99)))
			}
			curves = append(curves, p50, p99)
		}
	})
	const under = 34 // less than a legend leaves below itself, since these names need a line each
	for _, entry := range entries {
		drawing.Legend(1, entry)
		drawing.Y -= under
	}
	drawing.Y += under
	drawing.Curves("ms of a search of ten million documents of one team, by searches a second; dashed: p99", rateNames, curves)
	drawing.Y += 10
	if err := drawing.Save("bigteam.svg"); err != nil {
		t.Fatal(err)
	}
}
