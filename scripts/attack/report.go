package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// The bounds of a run.
const (
	maxResident = 512 << 20 // bytes of the server's memory
	maxSlower   = 3.0       // the quiet team's p99 during the attacks, divided by that alone
)

// result is the measurement of a run.
type result struct {
	alone, attacked *sample
	filled, highest resident // after the fill, and the highest sample during the attacks
	memory          resident // at the end
	tallies         map[string]*tally
	log             logged
}

// print prints the result. It returns an error if a bound is broken.
func (r result) print(out io.Writer) error {
	faults := append(r.printTallies(out), r.printQuiet(out)...)
	fmt.Fprintln(out)
	for _, message := range slices.Sorted(maps.Keys(r.log)) {
		fmt.Fprintf(out, "log %6d  %s\n", r.log[message], message)
	}
	if n := r.log.errors(); n > 0 {
		faults = append(faults, fmt.Errorf("the server logged %d errors", n))
	}
	alone, attacked := quantile(r.alone.all(), 0.99), quantile(r.attacked.all(), 0.99)
	slower := float64(attacked) / float64(max(alone, 1))
	fmt.Fprintf(out, "\npeak resident memory %s, bound %s (%s in the fill, %s at the end; of the highest sample, %s, not of files %s)\n",
		mebibytes(r.memory.peak), mebibytes(maxResident), mebibytes(r.filled.peak), mebibytes(r.memory.all), mebibytes(r.highest.all), mebibytes(r.highest.anon))
	fmt.Fprintf(out, "quiet team's p99 %s alone, %s during the attacks: %.1f times, bound %.0f\n", milliseconds(alone), milliseconds(attacked), slower, maxSlower)
	switch {
	case r.memory.peak == 0:
		faults = append(faults, errors.New("the server has ended"))
	case max(r.memory.peak, r.filled.peak) > maxResident:
		faults = append(faults, errors.New("the server took too much memory"))
	}
	if slower >= maxSlower {
		faults = append(faults, errors.New("the quiet team was disturbed"))
	}
	return errors.Join(faults...)
}

// printTallies prints a line for each attack.
func (r result) printTallies(out io.Writer) (faults []error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\nattack\trequests\t2xx, 3xx\t4xx\t429\t503\tother 5xx\tcut\theld\tlate\t\n")
	for _, a := range slices.Concat(slices.Concat(families...)) {
		t := r.tallies[a.name]
		if t == nil {
			continue
		}
		other := t.sum(func(s int) bool { return s >= 500 && s != 503 })
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", a.name, t.Requests, t.sum(func(s int) bool { return s < 400 }),
			t.sum(func(s int) bool { return s >= 400 && s < 500 && s != 429 }), t.Statuses[429], t.Statuses[503], other, t.Cut, t.Held, t.Late)
		for _, fault := range t.Faults {
			faults = append(faults, fmt.Errorf("%s: %s", a.name, fault))
		}
		for _, status := range slices.Sorted(maps.Keys(t.Statuses)) {
			if status < 500 && !a.wanted(status) {
				faults = append(faults, fmt.Errorf("%s: %d replies with %d: the attack does not do what it should", a.name, t.Statuses[status], status))
			}
		}
	}
	_ = w.Flush() // as fmt.Fprint to out
	return faults
}

// printQuiet prints a line for each of the quiet team's operations.
func (r result) printQuiet(out io.Writer) []error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\nquiet team\talone\tp50\tp99\tfailed\tbeside\tp50\tp99\tslowest\tfailed\t\n")
	line := func(name string, alone, attacked []time.Duration, failedAlone, failed int) {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%d\t\n", name, len(alone), milliseconds(quantile(alone, 0.5)), milliseconds(quantile(alone, 0.99)),
			failedAlone, len(attacked), milliseconds(quantile(attacked, 0.5)), milliseconds(quantile(attacked, 0.99)), milliseconds(quantile(attacked, 1)), failed)
	}
	failedAlone, failed := 0, 0
	for _, o := range operations {
		line(o.name, r.alone.took[o.name], r.attacked.took[o.name], r.alone.failed[o.name], r.attacked.failed[o.name])
		failedAlone, failed = failedAlone+r.alone.failed[o.name], failed+r.attacked.failed[o.name]
	}
	line("all", r.alone.all(), r.attacked.all(), failedAlone, failed)
	_ = w.Flush() // as fmt.Fprint to out
	for _, problem := range slices.Sorted(maps.Keys(r.attacked.problems)) {
		fmt.Fprintf(out, "during the attacks, %d of %s\n", r.attacked.problems[problem], problem)
	}
	if failedAlone > 0 {
		return []error{fmt.Errorf("%d requests of the quiet team failed without any attack", failedAlone)}
	}
	return nil
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
