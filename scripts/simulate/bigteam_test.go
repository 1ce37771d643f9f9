package simulate

import (
	"context"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"docent/testkit/picture"
)

// TestTheShapeIsThatOfTheMeasurements compares the laws with the figures that they were taken from.
func TestTheShapeIsThatOfTheMeasurements(t *testing.T) {
	t.Parallel()
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.15*want {
			t.Errorf("%s: %.2f, measured %.2f", name, got, want)
		}
	}
	small, large := ShapeOf(100_000/passagesPerDocument), ShapeOf(measuredPassages/passagesPerDocument)
	near("requests, 100,000", small.Gets, 24)
	near("requests, 1,000,000", large.Gets, 84)
	near("MiB, 100,000", small.MiB, 0.6)
	near("MiB, 1,000,000", large.MiB, 2.1)
	near("ms, 100,000", milliseconds(small.Compute), 0.8)
	near("ms, 1,000,000", milliseconds(large.Compute), 2.7)
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

// TestFullBigTeam draws what searches of ten million documents take, by their rate and the memory of the function.
func TestFullBigTeam(t *testing.T) {
	needsFull(t)
	rates := []float64{1, 10, 30, 100, 300, 1000}
	places := []string{"1", "10", "30", "100", "300", "1,000"}
	functions := []struct {
		name     string
		memory   int
		cache    float64
		eventual bool
		colour   string
	}{
		{"1 GB, 64 MiB for segments (today)", 1024, 64, false, "#b0413e"},
		{"1 GB, 640 MiB", 1024, 640, false, "#c9a227"},
		{"10 GB, all in memory", 10_240, 8192, false, "#1f6f43"},
	}
	shape := ShapeOf(10_000_000)
	fmt.Printf("%+v\n", shape)
	drawing := &picture.Picture{}
	var entries []picture.Entry
	var curves []picture.Curve
	printTable(func(out io.Writer) {
		fmt.Fprintln(out, "function\tsearches a second\tp50 ms\tp99\tGETs a search\tread units\tunits a second of the list\tthrottled\tslowed\tat once\t")
		for _, f := range functions {
			entries = append(entries, picture.Entry{Name: f.name, Colour: f.colour})
			p50, p99 := picture.Curve{Colour: f.colour}, picture.Curve{Colour: f.colour, Dashed: true}
			for _, rate := range rates {
				var r BigTeamResult
				bubble(t, func(ctx context.Context) (err error) {
					lasts := time.Duration(max(4, min(1000/rate, 100)) * float64(time.Second))
					r, err = BigTeam{Seed: 1, Documents: 10_000_000, PerSecond: rate, Memory: f.memory, Cache: f.cache, Eventual: f.eventual, WarmUp: lasts, For: lasts}.Run(ctx)
					return err
				})
				fmt.Fprintf(out, "%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%d\t%d\t%d\t%s\n", f.name, rate, milliseconds(r.Times.At(0.5)), milliseconds(r.Times.At(0.99)), r.Gets, r.Units, r.ListUnits,
					r.Throttled, r.Slowed, r.MostAtOnce, r.status())
				if len(r.Times) < r.Refused+r.Failed {
					break // it ends here: more would only be refused more often
				}
				p50.Values, p99.Values = append(p50.Values, milliseconds(r.Times.At(0.5))), append(p99.Values, milliseconds(r.Times.At(0.99)))
			}
			curves = append(curves, p50, p99)
		}
	})
	drawing.Legend(2, entries...)
	drawing.Curves("ms of a search of ten million documents of one team, by searches a second; dashed: p99", places, curves)
	drawing.Y += 10
	if err := drawing.Save("bigteam.svg"); err != nil {
		t.Fatal(err)
	}
}
