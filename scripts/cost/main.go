// Command cost prints what AWS charges per month for a given load. What an operation
// costs in units and round trips is what TestOperationsStayBelowTheirCeilings counts
// at this commit; prices.json holds the prices and load.json the load and what is
// assumed. It asks AWS nothing.
//
//	go run ./scripts/cost [-load FILE] [-prices FILE] [-times N]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("cost", flag.ContinueOnError)
	loadFile := flags.String("load", "scripts/cost/load.json", "the load of a month and its assumptions")
	priceFile := flags.String("prices", "scripts/cost/prices.json", "the prices")
	times := flags.Float64("times", 1, "multiply the requests of the load by this")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var l load
	var p prices
	if err := errors.Join(read(*loadFile, &l), read(*priceFile, &p)); err != nil {
		return err
	}
	counted, err := count(ctx)
	if err != nil {
		return err
	}
	for _, list := range [][]work{l.Requests, l.Workers} {
		for i := range list {
			list[i].Count *= *times
		}
	}
	busy, err := price(l, p, counted)
	if err != nil {
		return err
	}
	idle, err := price(load{Assumed: l.Assumed, Always: l.Always}, p, counted)
	if err != nil {
		return err
	}
	return show(os.Stdout, l, p, busy, idle)
}

func read(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// operationCost is the cost of one operation.
type operationCost struct {
	RoundTrips int     `json:"roundTrips"`
	ReadUnits  float64 `json:"readUnits"`
	WriteUnits float64 `json:"writeUnits"`
}

// count runs the test that counts and reads what it reports.
func count(ctx context.Context) (map[string]operationCost, error) {
	test := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-run", "^TestOperationsStayBelowTheirCeilings$", "docent/shared/app")
	events, err := test.Output()
	if err != nil {
		return nil, fmt.Errorf("count what operations cost: %w\n%s", err, events)
	}
	counted := map[string]operationCost{}
	for line := range bytes.Lines(events) {
		var event struct{ Action, Key, Value string }
		if err := json.Unmarshal(line, &event); err != nil || event.Action != "attr" || event.Key != "cost" {
			continue
		}
		var c struct {
			Operation string        `json:"operation"`
			Measured  operationCost `json:"measured"`
		}
		if err := json.Unmarshal([]byte(event.Value), &c); err != nil {
			return nil, fmt.Errorf("read cost %q: %w", event.Value, err)
		}
		counted[c.Operation] = c.Measured
	}
	if len(counted) == 0 {
		return nil, errors.New("the test counted nothing")
	}
	return counted, nil
}
