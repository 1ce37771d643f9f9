package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// sample has what clients saw of one operation.
type sample struct {
	times []time.Duration // of each request, sorted
	took  time.Duration
}

func (s sample) perSecond() string {
	return fmt.Sprintf("%.0f/s", float64(len(s.times))/s.took.Seconds())
}

// quantile returns the time within which the fraction q of the requests ended.
func (s sample) quantile(q float64) time.Duration {
	return s.times[min(len(s.times)-1, int(q*float64(len(s.times))))]
}

func (s sample) String() string {
	return fmt.Sprintf("p50 %s, p99 %s", milliseconds(s.quantile(0.5)), milliseconds(s.quantile(0.99)))
}

// load has clients call do, each call with its own number: count calls in all, or for forTime if count is 0.
func load(ctx context.Context, clients, count int, forTime time.Duration, do func(ctx context.Context, n int) error) (sample, error) {
	begin := time.Now()
	var next atomic.Int64
	times := make([][]time.Duration, clients)
	group, ctx := errgroup.WithContext(ctx)
	for client := range clients {
		group.Go(func() error {
			for {
				n := int(next.Add(1)) - 1
				if count > 0 && n >= count || count == 0 && time.Since(begin) >= forTime {
					return nil
				}
				sent := time.Now()
				if err := do(ctx, n); err != nil {
					return err
				}
				times[client] = append(times[client], time.Since(sent))
			}
		})
	}
	if err := group.Wait(); err != nil {
		return sample{}, err
	}
	s := sample{times: slices.Concat(times...), took: time.Since(begin)}
	slices.Sort(s.times)
	if len(s.times) == 0 {
		return s, fmt.Errorf("no request ended within %s", forTime)
	}
	return s, nil
}
