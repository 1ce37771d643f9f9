package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// cost is the report of TestOperationsStayBelowTheirCeilings for an operation.
type cost struct {
	Operation string `json:"operation"`
	Measured  spent  `json:"measured"`
	Ceiling   spent  `json:"ceiling"`
	Why       string `json:"why"`
}

type spent struct {
	RoundTrips int     `json:"roundTrips"`
	ReadUnits  float64 `json:"readUnits"`
	WriteUnits float64 `json:"writeUnits"`
}

func (s spent) String() string {
	return fmt.Sprintf("%d / %g / %g", s.RoundTrips, s.ReadUnits, s.WriteUnits)
}

// counted runs the test that counts, and reads the counts from its attributes, so that table and test cannot
// differ.
func counted(ctx context.Context, b *bench) error {
	events, err := goOutput(ctx, "test", "-json", "-count=1", "-run", "^TestOperationsStayBelowTheirCeilings$", "./shared/app")
	if err != nil {
		return err
	}
	costs, err := readCosts(bytes.NewReader(events))
	if err != nil {
		return err
	}
	for _, c := range costs {
		v := ok
		for _, one := range []verdict{atMost(c.Measured.RoundTrips, c.Ceiling.RoundTrips),
			atMost(c.Measured.ReadUnits, c.Ceiling.ReadUnits), atMost(c.Measured.WriteUnits, c.Ceiling.WriteUnits)} {
			if one == missed {
				v = missed
			}
		}
		b.add(c.Operation, c.Measured.String(), c.Ceiling.String(), v.because(c.Why))
	}
	return nil
}

// readCosts reads the attributes named "cost" from a stream of test events.
func readCosts(events io.Reader) ([]cost, error) {
	var costs []cost
	for d := json.NewDecoder(events); ; {
		var event struct{ Action, Key, Value string }
		err := d.Decode(&event)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read test events: %w", err)
		}
		if event.Action != "attr" || event.Key != "cost" {
			continue
		}
		var c cost
		if err := json.Unmarshal([]byte(event.Value), &c); err != nil {
			return nil, fmt.Errorf("read cost %q: %w", event.Value, err)
		}
		costs = append(costs, c)
	}
	if costs == nil {
		return nil, errors.New("the test reported no costs")
	}
	return costs, nil
}
