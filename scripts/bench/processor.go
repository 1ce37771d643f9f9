package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

const (
	pageCount   = 81
	leastPage   = 2500      // bytes
	mostPage    = 128 << 10 // bytes
	pagesModule = "github.com/aws/aws-cdk-go/awscdk/v2"

	maxSearch = 0.8 // milliseconds of processor time
)

// processor measures how much processor time of docent serve a request takes, the work that it leaves included. The
// server searches pages of real documentation by words alone: embedding would continue long after the requests.
func processor(ctx context.Context, b *bench) (err error) {
	pages, err := documentation(ctx)
	if err != nil {
		return err
	}
	s, err := startServer(ctx, b, "processor", "--no-meaning")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	for i, p := range pages {
		if err := s.putPage(ctx, i, p); err != nil {
			return err
		}
	}
	if err := s.indexed(ctx); err != nil {
		return err
	}
	queries := queriesFrom(pages)
	search := func(ctx context.Context, n int) error {
		_, err := s.do(ctx, http.MethodPost, "/context/search", map[string]string{"query": queries[n%len(queries)]}, 200)
		return err
	}
	if _, err := load(ctx, 4, 2*len(queries), 0, search); err != nil { // what is kept in memory is kept now
		return err
	}
	for _, o := range []struct {
		name    string
		count   int // requests; 0: as many as fit into the window
		ceiling float64
		do      func(ctx context.Context, n int) error
	}{
		{"POST search, 3 words", 0, maxSearch, search},
		{"PUT document, unchanged, a page", 0, 0, func(ctx context.Context, n int) error { return s.putPage(ctx, n%len(pages), pages[n%len(pages)]) }},
		{"PUT document, new, 1 KB", 600, 0, func(ctx context.Context, n int) error {
			_, err := s.put(ctx, uuid.NewString(), page(n))
			return err
		}},
		{"PUT answer", questions, 0, func(ctx context.Context, n int) error {
			_, err := s.do(ctx, http.MethodPut, "/answers/"+uuid.NewString(), map[string]string{"question": queries[n%len(queries)]}, 204)
			return err
		}},
	} {
		for _, clients := range []int{1, 4, 16} {
			if err := s.spent(ctx, b, fmt.Sprintf("%s, clients: %d", o.name, clients), o.ceiling, func() (sample, error) {
				return load(ctx, clients, o.count, window, o.do)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// documentation returns pages of the AWS CDK, as go.mod pins it.
func documentation(ctx context.Context) ([]string, error) {
	folder, err := goOutput(ctx, "list", "-m", "-f", "{{.Dir}}", pagesModule)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "*", "README.md"))
	if err != nil {
		return nil, err
	}
	var pages []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if len(text) >= leastPage && len(text) <= mostPage && utf8.Valid(text) {
			pages = append(pages, string(text))
		}
		if len(pages) == pageCount {
			return pages, nil
		}
	}
	return nil, fmt.Errorf("%s has only %d pages", pagesModule, len(pages))
}

// queriesFrom returns the first three words of each heading of pages that has as many.
func queriesFrom(pages []string) []string {
	var queries []string
	seen := map[string]bool{}
	for _, p := range pages {
		for line := range strings.Lines(p) {
			words := strings.Fields(line)
			if len(words) < 4 || strings.Trim(words[0], "#") != "" {
				continue
			}
			if q := strings.Join(words[1:4], " "); !seen[q] {
				seen[q] = true
				queries = append(queries, q)
			}
		}
	}
	return queries
}

func (s *server) putPage(ctx context.Context, n int, text string) error {
	title, _, _ := strings.Cut(strings.TrimLeft(text, "# "), "\n")
	_, err := s.do(ctx, http.MethodPut, "/documents", map[string]string{"collectionId": s.collection,
		"uri": fmt.Sprintf("https://bench.test/pages/%d", n), "title": title, "body": text}, 200)
	return err
}

// spent adds a row with the processor time that the server spent for each request of a run, and with what clients saw.
// A ceiling of 0 is none.
func (s *server) spent(ctx context.Context, b *bench, name string, ceiling float64, run func() (sample, error)) error {
	before, err := s.processorTime()
	if err != nil {
		return err
	}
	got, err := run()
	if err != nil {
		return err
	}
	after, err := s.idle(ctx)
	if err != nil {
		return err
	}
	each := float64((after - before).Microseconds()) / 1e3 / float64(len(got.times))
	measured := fmt.Sprintf("%.2f ms of processor, %s, %s", each, got.perSecond(), got)
	if ceiling == 0 {
		b.add(name, measured, "", none)
	} else {
		b.add(name, measured, fmt.Sprintf("%.2f ms", ceiling), atMost(each, ceiling))
	}
	return nil
}

// idle waits until the server has no more work, and returns its processor time.
func (s *server) idle(ctx context.Context) (time.Duration, error) {
	const quiet = 300 * time.Millisecond
	last := time.Duration(-1)
	for {
		now, err := s.processorTime()
		if err != nil || now-last <= quiet/30 && last >= 0 {
			return now, err
		}
		last = now
		select {
		case <-time.After(quiet):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// tick is the unit of the times in /proc/pid/stat: USER_HZ is 100 on every architecture of Linux that Go supports.
const tick = time.Second / 100

// processorTime returns the processor time that the server has spent.
func (s *server) processorTime() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Command.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the processor time: %w", err)
	}
	return processorTimeIn(string(text))
}

// processorTimeIn returns the time in user and system mode from the content of /proc/pid/stat (proc(5)).
func processorTimeIn(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // the program's name is in brackets
	if len(fields) < 13 {
		return 0, fmt.Errorf("read the processor time: %q", stat)
	}
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, fmt.Errorf("read the processor time: %w", err)
	}
	return time.Duration(user+system) * tick, nil
}
