package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// handlers runs the Go benchmark of the operations.
func handlers(ctx context.Context, b *bench) error {
	text, err := goOutput(ctx, "test", "-run", "^$", "-bench", "^BenchmarkOperations$", "-benchtime", "500ms", "-benchmem", "./shared/app")
	if err != nil {
		return err
	}
	results, err := readBenchmarks(bytes.NewReader(text))
	if err != nil {
		return err
	}
	for _, r := range results {
		b.add(r.name, fmt.Sprintf("%.0f µs, %.0f allocations, %.1f KB", r.nanoseconds/1e3, r.allocations, r.bytes/1e3), "", none)
	}
	return nil
}

// result is a line of go test -bench.
type result struct {
	name                            string
	nanoseconds, bytes, allocations float64
}

func readBenchmarks(text io.Reader) ([]result, error) {
	var results []result
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) < 4 || !strings.HasPrefix(columns[0], "Benchmark") {
			continue
		}
		_, name, ok := strings.Cut(columns[0], "/")
		if !ok {
			continue
		}
		if i := strings.LastIndexByte(name, '-'); i > 0 { // the number of processors
			name = name[:i]
		}
		r := result{name: strings.ReplaceAll(name, "_", " ")}
		for i := 2; i+1 < len(columns); i += 2 {
			var value float64
			if _, err := fmt.Sscan(columns[i], &value); err != nil {
				return nil, fmt.Errorf("read benchmark %q: %w", lines.Text(), err)
			}
			switch columns[i+1] {
			case "ns/op":
				r.nanoseconds = value
			case "B/op":
				r.bytes = value
			case "allocs/op":
				r.allocations = value
			}
		}
		results = append(results, r)
	}
	if results == nil && lines.Err() == nil {
		return nil, errors.New("no benchmark ran")
	}
	return results, lines.Err()
}
