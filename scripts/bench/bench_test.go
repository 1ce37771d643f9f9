package main

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := print(&out, []table{{"counted", []row{
		{"GET a", "1", "2", atMost(1, 2).because("no reason")},
		{"PUT a", "3", "2", atMost(3, 2).because("it is new")},
		{"POST a", "3.5", "2", atMost(3.5, 2)},
		{"list", "9 ms", "", none},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := []string{"operation measured ceiling", "", "-- counted", "GET a 1 2 ok", "PUT a 3 2 missed: it is new", "POST a 3.5 2 missed", "list 9 ms -"}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

func TestReadCosts(t *testing.T) {
	t.Parallel()
	const attribute = `{"Action":"attr","Package":"p","Test":"T","Key":"cost","Value":"{\"operation\":\"GET a\",\"measured\":{\"roundTrips\":2,\"readUnits\":1.5,\"writeUnits\":0},\"ceiling\":{\"roundTrips\":1,\"readUnits\":2,\"writeUnits\":3},\"why\":\"new\"}"}`
	for name, c := range map[string]struct {
		events string
		want   []cost
	}{
		"one":           {`{"Action":"run"}` + "\n" + attribute + "\n" + `{"Action":"attr","Key":"other","Value":"x"}`, []cost{{"GET a", spent{2, 1.5, 0}, spent{1, 2, 3}, "new"}}},
		"none":          {`{"Action":"pass"}`, nil},
		"no events":     {`ok`, nil},
		"no such value": {`{"Action":"attr","Key":"cost","Value":"?"}`, nil},
	} {
		got, err := readCosts(strings.NewReader(c.events))
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if text := (spent{2, 1.5, 0}).String(); text != "2 / 1.5 / 0" {
		t.Errorf("shown as %q", text)
	}
}

func TestReadBenchmarks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []result
	}{
		"two": {"goos: linux\nBenchmarkOperations/GET_a,_3_KB-2  \t 10\t 2500.5 ns/op\t 2048 B/op\t 7 allocs/op\n" +
			"BenchmarkOperations/PUT_a  \t 10\t 3 ns/op\nPASS\n", []result{{"GET a, 3 KB", 2500.5, 2048, 7}, {"PUT a", 3, 0, 0}}},
		"none":     {"PASS\n", nil},
		"no value": {"BenchmarkOperations/GET_a-2 10 x ns/op\n", nil},
	} {
		got, err := readBenchmarks(strings.NewReader(c.text))
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestReadReaders(t *testing.T) {
	t.Parallel()
	const text = "goos: linux\nBenchmarkReaders/0_sets-2 \t 1\t 0 ns/op\t 3.5 all-first-ms\t 1.0 all-p50-ms\t 2.0 all-p99-ms\n" +
		"BenchmarkReaders/100_sets \t 1\t 0.5 9-of-10-p50-ms\t 2.5 9-of-10-p99-ms\t 0.9 all-p50-ms\t 2.1 all-p99-ms\nPASS\n"
	want := []searchTimes{{"0 sets", "all", 1, 2, 0}, {"100 sets", "9-of-10", 0.5, 2.5, 0.9}, {"100 sets", "all", 0.9, 2.1, 1.1}}
	if got, err := readReaders(strings.NewReader(text)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"PASS\n", "BenchmarkReaders/0_sets 1 x all-p50-ms\n"} {
		if got, err := readReaders(strings.NewReader(text)); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestLoadCallsOftenEnough(t *testing.T) {
	t.Parallel()
	var sum atomic.Int64
	got, err := load(t.Context(), 3, 10, 0, func(_ context.Context, n int) error {
		sum.Add(int64(n))
		return nil
	})
	if err != nil || len(got.times) != 10 || sum.Load() != 45 {
		t.Errorf("%d calls, sum of their numbers %d, %v", len(got.times), sum.Load(), err)
	}
	broken := errors.New("broken")
	if _, err := load(t.Context(), 3, 10, 0, func(context.Context, int) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if _, err := load(t.Context(), 3, 0, 0, func(context.Context, int) error { return nil }); err == nil {
		t.Error("no call in no time is no measurement")
	}
	s := sample{times: []time.Duration{1, 2, 3, 4}}
	if s.quantile(0.5) != 3 || s.quantile(0.99) != 4 || s.quantile(1) != 4 {
		t.Errorf("quantiles %v %v %v", s.quantile(0.5), s.quantile(0.99), s.quantile(1))
	}
}

func TestUnknownPartIsRefused(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), []string{"nothing"}, false); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("error %v", err)
	}
}

func TestQueriesAreTheFirstWordsOfHeadings(t *testing.T) {
	t.Parallel()
	got := queriesFrom([]string{"# One two three four\n\ntext of a page\n## Two words\n", "### One two three\n# Lambda in a VPC\n#no heading at all\n"})
	if want := []string{"One two three", "Lambda in a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheProcessorTimeOfAProcessIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want time.Duration
	}{
		"a name with spaces": {"7 (a) b) S 1 2 3 4 5 6 7 8 9 10 120 30 0 0", 1500 * time.Millisecond},
		"too short":          {"7 (a) S 1 2 3", -1},
		"no number":          {"7 (a) S 1 2 3 4 5 6 7 8 9 10 x 30 0 0", -1},
	} {
		got, err := processorTimeIn(c.text)
		if (err != nil) != (c.want < 0) || err == nil && got != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
