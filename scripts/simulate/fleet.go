package simulate

import (
	"context"
	"sync/atomic"
	"time"

	"docent/shared/pause"
)

// fleet is standing processes, such as docent serve --engine aws, behind a load balancer that gives requests to them in turn.
// Each has a program of its own, with its own caches, and handles many requests at a time.
type fleet[P any] struct {
	processes []process[P]
	next      atomic.Int64
}

type process[P any] struct {
	program    P
	processors chan struct{} // one for each request that computes
}

// newFleet returns n processes with that many processors each, whose programs start makes.
func newFleet[P any](n, processors int, start func() P) *fleet[P] {
	f := &fleet[P]{processes: make([]process[P], n)}
	for i := range f.processes {
		f.processes[i] = process[P]{start(), make(chan struct{}, processors)}
	}
	return f
}

// Invoke gives a request to the next process. It waits for a processor, lets the time pass that the request computes, and
// runs do. It returns the error of ctx if that ends before do.
func (f *fleet[P]) Invoke(ctx context.Context, compute time.Duration, do func(context.Context, P)) error {
	p := &f.processes[int(f.next.Add(1)-1)%len(f.processes)]
	select {
	case p.processors <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := pause.For(ctx, compute)
	<-p.processors
	if err != nil {
		return err
	}
	do(ctx, p.program)
	return nil
}
