// Command bench measures Docent and prints one table: operation, measured,
// ceiling, and whether it is met. Counts (round trips, units, bytes) are
// the same on every machine; times are measured on the machine that the table names.
//
//	go run ./scripts/bench [-parts counted,handlers,readers,functions,processor,serve] [-full]
//
// It runs at the root of the repository, uses the loopback interface only
// and leaves nothing behind. A missed ceiling is shown, but is not a failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// part is a group of measurements.
type part struct {
	name    string
	title   string
	measure func(ctx context.Context, b *bench) error
}

var parts = []part{
	{"counted", "counted: round trips in sequence / read units / write units", counted},
	{"handlers", "handlers: in process, storage on a file that is not synced", handlers},
	{"readers", "searches over 150,000 passages with 0 to 10,000 rules of who may read them: processor time", readers},
	{"functions", "functions: binaries of Lambda", functions},
	{"processor", "docent serve over pages of documentation: processor time of a request, its later work included", processor},
	{"serve", "docent serve: one process, clients on the same machine", serve},
}

// bench is one run.
type bench struct {
	folder string // for what is built and stored; removed at the end
	full   bool   // grow to a million documents
	rows   []row
}

// add adds a row; ceiling is "" if there is none.
func (b *bench) add(operation, measured, ceiling string, verdict verdict) {
	b.rows = append(b.rows, row{operation, measured, ceiling, verdict})
}

func main() {
	chosen := flag.String("parts", "counted,handlers,readers,functions,processor,serve", "what to measure, separated by commas")
	full := flag.Bool("full", os.Getenv("BENCH_FULL") == "1", "grow to a million documents, which takes an hour (also BENCH_FULL=1)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, strings.Split(*chosen, ","), *full)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string, full bool) (err error) {
	folder, err := os.MkdirTemp("", "docent-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	begin := time.Now()
	var tables []table
	for _, p := range parts {
		if !slices.Contains(names, p.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s\n", p.title)
		b := &bench{folder: folder, full: full}
		if err := p.measure(ctx, b); err != nil {
			return fmt.Errorf("measure %s: %w", p.name, err)
		}
		tables = append(tables, table{p.title, b.rows})
	}
	if tables == nil {
		return fmt.Errorf("nothing is called %q", strings.Join(names, ","))
	}
	fmt.Printf("%s\n%s, in %s\n\n", machine(), time.Now().UTC().Format("2006-01-02 15:04 UTC"), time.Since(begin).Round(time.Second))
	return print(os.Stdout, tables)
}
