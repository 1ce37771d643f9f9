package main

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// within is a result that keeps every bound.
func within() result {
	took := func(d time.Duration) *sample {
		return &sample{took: map[string][]time.Duration{"search": slices.Repeat([]time.Duration{d}, 100)},
			failed: map[string]int{}, problems: map[string]int{}}
	}
	return result{alone: took(10 * time.Millisecond), attacked: took(29 * time.Millisecond),
		filled: resident{peak: 100 << 20}, highest: resident{all: 500 << 20}, memory: resident{peak: maxResident},
		tallies: map[string]*tally{"flood/get": {Requests: 5, Statuses: map[int]int{200: 3, 503: 1}, Cut: 1}}, log: logged{"WARN slow": 2}}
}

func TestEachBrokenBoundFailsTheRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(r *result)
		want   string // part of the error; empty: none
	}{
		"within":            {func(*result) {}, ""},
		"memory":            {func(r *result) { r.memory.peak++ }, "too much memory"},
		"memory, fill":      {func(r *result) { r.filled.peak = maxResident + 1 }, "too much memory"},
		"server is gone":    {func(r *result) { r.memory.peak = 0 }, "has ended"},
		"slower":            {func(r *result) { r.attacked.took["search"][0], r.attacked.took["search"][1] = time.Second, time.Second }, "disturbed"},
		"failed":            {func(r *result) { r.attacked.add("search", 0, "503"); r.attacked.add("search", 0, "503") }, "disturbed"},
		"failed alone":      {func(r *result) { r.alone.add("search", 0, "503") }, "without any attack"},
		"error line":        {func(r *result) { r.log["ERROR request"] = 1 }, "1 errors"},
		"fault":             {func(r *result) { r.tallies["flood/get"].status(500, "GET /x: oops") }, "GET /x: oops"},
		"unwanted status":   {func(r *result) { r.tallies["flood/get"].status(404, "") }, "1 replies with 404"},
		"refused and cut":   {func(r *result) { r.tallies["flood/get"].status(429, "") }, ""},
		"crash in the log":  {func(r *result) { r.log, _ = countLog(strings.NewReader("panic: oops\n")) }, "1 errors"},
		"information alone": {func(r *result) { r.log, _ = countLog(strings.NewReader(`{"level":"INFO","msg":"x"}` + "\n")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := within()
			tt.change(&r)
			err := r.print(io.Discard)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestLogLinesAreCountedByMessage(t *testing.T) {
	t.Parallel()
	got, err := countLog(strings.NewReader(`{"level":"WARN","msg":"slow"}
{"level":"ERROR","msg":"request","route":"GET /x","err":"read 01a20299-8510-7077-8230-51b06861334d: a\nb"}
{"level":"WARN","msg":"slow","team":"y"}
{"level":"INFO","msg":"request"}
{"level":"ERROR","msg":"not yet wri`))
	if want := (logged{"WARN slow": 2, "ERROR request GET /x read …: a": 1}); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestNamesOfAttacksDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, a := range slices.Concat(families...) {
		if family, what, ok := strings.Cut(a.name, "/"); !ok || family == "" || what == "" || seen[a.name] {
			t.Errorf("%q", a.name)
		}
		seen[a.name] = true
	}
	if all := chosen(""); len(all) != len(families) {
		t.Errorf("%d families", len(all))
	}
	if some := chosen("slow/h"); len(some) != 1 || len(some[0]) != 2 {
		t.Errorf("%d families", len(some))
	}
}

func TestArgumentsAreBounded(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-clients", "0"}, {"-clients", "1001"}, {"-for", "0s"}, {"-for", "1h"}, {"-only", "nothing"}, {"-alone", "-1s"}} {
		if err := run(t.Context(), args, strings.NewReader(""), io.Discard); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}
