package simulate

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"docent/shared/app"
	"docent/testkit/picture"
)

var full = flag.Bool("full", false, "run whole scenarios and draw what they measured, for minutes")

// needsFull skips a scenario in which nothing is checked and much is measured.
func needsFull(t *testing.T) {
	t.Helper()
	if !*full {
		t.Skip("`make simulate` runs this")
	}
}

// bubble runs do on a clock of its own.
func bubble(t *testing.T, do func(ctx context.Context) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// milliseconds is d for tables and curves.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// printTable prints rows of cells separated by tabs.
func printTable(do func(w io.Writer)) {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	do(out)
	_ = out.Flush() // there is nobody to tell
}

// defence is what protects the quiet teams of a run.
type defence struct {
	name     string
	unfair   bool
	teamRate int
	colour   string
}

var defences = []defence{
	{"fair queues and token buckets", false, 100, "#1f6f43"},
	{"fair queues", false, 0, "#4f7cac"},
	{"token buckets", true, 100, "#c9a227"},
	{"neither", true, 0, "#b0413e"},
}

// TestFullTenants draws what the quiet ones of a thousand teams see, by how loud one is.
func TestFullTenants(t *testing.T) {
	needsFull(t)
	louds := []float64{0, 100, 1000, 3000}
	drawing := &picture.Picture{}
	var entries []picture.Entry
	found, answered := []picture.Curve{}, []picture.Curve{}
	printTable(func(out io.Writer) {
		fmt.Fprintln(out, "loud\tdefence\tput to found p50\tp99\task to answer p50\tp99\tloud: done\trefused\tconflicts\tms")
		for _, d := range defences {
			entries = append(entries, picture.Entry{Name: d.name, Colour: d.colour})
			f50, f99 := picture.Curve{Colour: d.colour}, picture.Curve{Colour: d.colour, Dashed: true}
			a50, a99 := f50, f99
			for _, loud := range louds {
				var r TenantsResult
				bubble(t, func(ctx context.Context) (err error) {
					r, err = Tenants{World: WorldOptions{Seed: 1, TeamRate: d.teamRate, Unfair: d.unfair}, Teams: 1000, Puts: 2, Asks: 2, Loud: loud, For: time.Minute}.Run(ctx)
					return err
				})
				q := r.Quiet
				fmt.Fprintf(out, "%.0f\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%d\t%d\t%d\tquiet refused %d failed %d\n", loud, d.name, milliseconds(q.Found.At(0.5)), milliseconds(q.Found.At(0.99)),
					milliseconds(q.Answered.At(0.5)), milliseconds(q.Answered.At(0.99)), len(r.Loud.Found)+len(r.Loud.Answered), r.Loud.Refused, r.Table.Conflicts, q.Refused, q.Failed)
				f50.Values, f99.Values = append(f50.Values, milliseconds(q.Found.At(0.5))), append(f99.Values, milliseconds(q.Found.At(0.99)))
				a50.Values, a99.Values = append(a50.Values, milliseconds(q.Answered.At(0.5))), append(a99.Values, milliseconds(q.Answered.At(0.99)))
			}
			found, answered = append(found, f50, f99), append(answered, a50, a99)
		}
	})
	places := []string{"none", "100 times", "1,000 times", "3,000 times"}
	drawing.Legend(2, entries...)
	drawing.Curves("ms from the start of a put until search finds the document, 999 quiet teams, by how loud the other is; dashed: p99", places, found)
	drawing.Y += 30
	drawing.Curves("ms from the start of a question until its answer is stored; dashed: p99", places, answered)
	drawing.Y += 10
	if err := drawing.Save("tenants.svg"); err != nil {
		t.Fatal(err)
	}
}

// TestFullModel prints what the quiet teams see if a model writes the answers, by workers.
func TestFullModel(t *testing.T) {
	needsFull(t)
	printTable(func(out io.Writer) {
		fmt.Fprintln(out, "loud\tqueues\tworkers\task to answer p50\tp99\tanswered\tfailed\tloud p50")
		for _, c := range []struct {
			loud    float64
			unfair  bool
			workers int
		}{{0, false, 10}, {2000, true, 10}, {2000, false, 10}, {2000, true, 40}, {2000, false, 40}} {
			var r TenantsResult
			bubble(t, func(ctx context.Context) (err error) {
				r, err = Tenants{World: WorldOptions{Seed: 1, TeamRate: 100, Unfair: c.unfair, Workers: c.workers, Parts: app.Parts{Model: app.WrittenBy(Model{NewChance(3)})}},
					Teams: 1000, Asks: 0.05, Loud: c.loud, For: 5 * time.Minute}.Run(ctx)
				return err
			})
			queues := map[bool]string{true: "unfair", false: "fair"}[c.unfair]
			fmt.Fprintf(out, "%.0f\t%s\t%d\t%.0f\t%.0f\t%d\t%d\t%.0f\n", c.loud, queues, c.workers, milliseconds(r.Quiet.Answered.At(0.5)), milliseconds(r.Quiet.Answered.At(0.99)),
				len(r.Quiet.Answered), r.Quiet.Failed, milliseconds(r.Loud.Answered.At(0.5)))
		}
	})
}

// TestALoudTeamDoesNotSlowTheOthers is the scenario in small: 60 teams, of which one sends a hundred times as much as the
// others.
func TestALoudTeamDoesNotSlowTheOthers(t *testing.T) {
	t.Parallel()
	run := func(loud float64) (r TenantsResult) {
		bubble(t, func(ctx context.Context) (err error) {
			r, err = Tenants{World: WorldOptions{Seed: 1, TeamRate: 100}, Teams: 60, Puts: 6, Asks: 6, Loud: loud, For: 20 * time.Second}.Run(ctx)
			return err
		})
		return r
	}
	alone, beside := run(0), run(100)
	for name, pair := range map[string][2]Times{"put to found": {alone.Quiet.Found, beside.Quiet.Found}, "ask to answer": {alone.Quiet.Answered, beside.Quiet.Answered}} {
		if len(pair[0]) < 80 || len(pair[1]) < 80 {
			t.Errorf("%s: %d and %d measured", name, len(pair[0]), len(pair[1]))
		}
		// Virtual time, but the order in which goroutines run decides who draws which latency. Of a hundred, that moves p90 from 1.1 to 1.8 times,
		// and p95 to 2.2 times.
		lonely, loud := pair[0].At(0.9), pair[1].At(0.9)
		t.Logf("%s: p90 %s next to the loud team, %s alone", name, loud, lonely)
		if loud > 2*lonely {
			t.Errorf("%s: p90 %s next to the loud team, %s alone", name, loud, lonely)
		}
	}
	for name, o := range map[string]Outcome{"alone": alone.Quiet, "beside": beside.Quiet, "loud": beside.Loud} {
		if o.Failed > 0 || name != "loud" && o.Refused > 0 {
			t.Errorf("%s: %d failed, %d refused", name, o.Failed, o.Refused)
		}
	}
	if n := len(beside.Loud.Found); n < 100 {
		t.Errorf("the loud team put %d documents", n)
	}
}

// TestALoudTeamWaitsForItself simulates a team that asks more than the workers can answer: its questions wait, those of others do not. The
// run with queues that ignore groups shows that under this load the others would wait too.
func TestALoudTeamWaitsForItself(t *testing.T) {
	t.Parallel()
	run := func(loud float64, unfair bool) (r TenantsResult) {
		bubble(t, func(ctx context.Context) (err error) {
			r, err = Tenants{World: WorldOptions{Seed: 1, TeamRate: 100, Workers: 2, Unfair: unfair}, Teams: 60, Asks: 6, Loud: loud, For: 20 * time.Second}.Run(ctx)
			return err
		})
		if len(r.Quiet.Answered) < 80 || r.Quiet.Failed+r.Quiet.Refused+r.Loud.Failed > 0 {
			t.Errorf("loud %.0f, unfair %t: %d answered, %d failed, %d refused, and %d of the loud team failed", loud, unfair, len(r.Quiet.Answered), r.Quiet.Failed, r.Quiet.Refused, r.Loud.Failed)
		}
		return r
	}
	alone, fair, unfair := run(0, false), run(300, false), run(300, true)
	lonely, beside, behind := alone.Quiet.Answered.At(0.9), fair.Quiet.Answered.At(0.9), unfair.Quiet.Answered.At(0.9)
	t.Logf("p90 %s alone, %s next to the loud team, which waits %s, and %s behind it", lonely, beside, fair.Loud.Answered.At(0.5), behind)
	if beside > 2*lonely {
		t.Errorf("p90 %s next to the loud team, %s alone", beside, lonely)
	}
	if own := fair.Loud.Answered.At(0.5); own < 10*beside || behind < 10*lonely {
		t.Errorf("the load is too small to show anything: the loud team waits %s, and with unfair queues the others %s", own, behind)
	}
}
