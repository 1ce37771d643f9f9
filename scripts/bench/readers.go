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

// slower is the share by which a search may be slower with rules than without, for a caller who may read everything.
const slower = 0.10

// readers runs the Go benchmark of searches over 150,000 passages with rules of who may read them.
func readers(ctx context.Context, b *bench) error {
	text, err := goOutput(ctx, "test", "-run", "^$", "-bench", "^BenchmarkReaders$", "-benchtime", "1x", "-timeout", "30m", "./shared/search")
	if err != nil {
		return err
	}
	searches, err := readReaders(bytes.NewReader(text))
	if err != nil {
		return err
	}
	for _, s := range searches {
		name := fmt.Sprintf("search, %s, reader of %s", s.sets, s.reader)
		ceiling, verdict := "", none
		if s.limit > 0 {
			ceiling, verdict = fmt.Sprintf("p50 %.2f ms", s.limit), atMost(s.p50, s.limit)
		}
		b.add(name, fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", s.p50, s.p99), ceiling, verdict)
	}
	return nil
}

// searchTimes are the processor times of searches, in ms.
type searchTimes struct {
	sets, reader string
	p50, p99     float64
	// limit of p50; 0: none. A person who reads everything is compared with searches without rules, and one who reads a
	// part with one who reads everything.
	limit float64
}

// readReaders reads the output of BenchmarkReaders, in its order. Its first line is without rules.
func readReaders(text io.Reader) ([]searchTimes, error) {
	var all []searchTimes
	without := 0.0
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) < 4 || !strings.HasPrefix(columns[0], "BenchmarkReaders/") {
			continue
		}
		sets, _, _ := strings.Cut(strings.TrimPrefix(columns[0], "BenchmarkReaders/"), "-")
		values, found := map[string]float64{}, []string(nil)
		for i := 2; i+1 < len(columns); i += 2 {
			var value float64
			if _, err := fmt.Sscan(columns[i], &value); err != nil {
				return nil, fmt.Errorf("read benchmark %q: %w", lines.Text(), err)
			}
			values[columns[i+1]] = value
			if reader, ok := strings.CutSuffix(columns[i+1], "-p50-ms"); ok {
				found = append(found, reader)
			}
		}
		if without == 0 {
			without = values["all-p50-ms"]
		}
		for _, reader := range found {
			s := searchTimes{strings.ReplaceAll(sets, "_", " "), reader, values[reader+"-p50-ms"], values[reader+"-p99-ms"], 0}
			switch {
			case sets == "0_sets":
			case reader == "all", reader == "admin":
				s.limit = (1 + slower) * without
			default:
				s.limit = values["all-p50-ms"]
			}
			all = append(all, s)
		}
	}
	if all == nil && lines.Err() == nil {
		return nil, errors.New("no benchmark ran")
	}
	return all, lines.Err()
}
