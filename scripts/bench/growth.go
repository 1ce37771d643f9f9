package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Limits of a default run; with -full everything is measured.
const (
	growthTime = 90 * time.Second // for filling; the size reached by then is measured
	indexTime  = time.Minute      // for waiting until a size is indexed
)

// growth measures putting, listing and asking while a team's documents grow by factors of ten.
func growth(ctx context.Context, b *bench) (err error) {
	sizes := []int{1_000, 10_000, 100_000}
	if b.full {
		sizes = append(sizes, 1_000_000)
	}
	s, err := startServer(ctx, b, "growth")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	have, end := 0, time.Now().Add(growthTime)
	for _, size := range sizes {
		for have < size && (b.full || time.Now().Before(end)) {
			more := min(size-have, 1000)
			if _, err := load(ctx, 64, more, 0, func(ctx context.Context, n int) error {
				_, err := s.put(ctx, fmt.Sprint(have+n), page(have+n))
				return err
			}); err != nil {
				return err
			}
			have += more
		}
		if err := s.sized(ctx, b, have); err != nil {
			return err
		}
		if have < size {
			return nil
		}
	}
	return nil
}

// sized measures a team with that many documents, once all can be found or the wait was long enough.
func (s *server) sized(ctx context.Context, b *bench, documents int) error {
	behind, err := s.behind(ctx, b)
	if err != nil {
		return err
	}
	list, err := load(ctx, 1, 50, 0, func(ctx context.Context, _ int) error {
		_, err := s.do(ctx, http.MethodGet, "/documents?limit=100", nil, 200)
		return err
	})
	if err != nil {
		return err
	}
	put, err := load(ctx, 1, 100, 0, func(ctx context.Context, n int) error {
		_, err := s.put(ctx, fmt.Sprintf("sized/%d/%d", documents, n), page(n))
		return err
	})
	if err != nil {
		return err
	}
	ask, err := s.ask(ctx, 1, 50)
	if err != nil {
		return err
	}
	in := fmt.Sprintf("%d documents: ", documents)
	b.add(in+"list of 100", list.String(), "", none)
	b.add(in+"PUT document, new, clients: 1", put.String(), "", none)
	b.add(in+"question to complete answer, clients: 1", ask.String(), "", none)
	b.add(in+"indexed, after the last was put", behind, "", none)
	b.add(in+"peak memory, pages of the file included", s.memory(), "", none)
	return nil
}

// behind waits until all documents are indexed and returns how long that took.
func (s *server) behind(ctx context.Context, b *bench) (string, error) {
	filled, waiting, cancel := time.Now(), ctx, func() {}
	if !b.full {
		waiting, cancel = context.WithTimeout(ctx, indexTime)
	}
	defer cancel()
	err := s.indexed(waiting)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Sprintf("over %s; measured before that", indexTime), nil
	}
	return time.Since(filled).Round(10 * time.Millisecond).String(), err
}
