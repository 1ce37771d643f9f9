package scim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"docent/shared/memory"
	"docent/shared/pause"
	"docent/shared/scim/protocol"
	"docent/shared/table"
)

// changeTime limits how long a change is retried after conflicts, and how long it waits for
// earlier changes in this process. It leaves room within the 29 s of the gateway.
const changeTime = 10 * time.Second

// Limits of the random pause before a change is retried.
const (
	firstPause = 10 * time.Millisecond
	longPause  = 250 * time.Millisecond
)

// retryOnConflict changes one resource. It calls change again, which reads the resource again,
// after a conflict with another process. Within this process, changes of a resource run one
// after the other. After changeTime it returns table.ErrConflict, a 503 for clients.
func (s *Service) retryOnConflict(ctx context.Context, teamID string, t *protocol.ResourceType, id string, change func() error) error {
	waiting, end := context.WithTimeout(ctx, s.patience())
	defer end()
	leave, err := s.changeTurns.acquire(waiting, teamID+t.Endpoint+"/"+id, 1)
	if err != nil {
		return ended(ctx, fmt.Errorf("wait for other changes of %s %s: %w", t.Name, id, table.ErrConflict))
	}
	defer leave()
	for try := 0; ; try++ {
		if err = change(); !errors.Is(err, table.ErrConflict) {
			return err
		}
		if rest(waiting, try) != nil {
			return ended(ctx, err)
		}
	}
}

// rest waits before the try after the given one. Meanwhile the request gives up its place among the running ones, and its turn among the
// large ones: a change that a killed process has left half-done is waited for a long time.
func rest(ctx context.Context, try int) error {
	retake := memory.LeaveTurn(ctx)
	resume := memory.Pause(ctx)
	bound := min(firstPause<<min(try, 10), longPause)
	err := pause.For(ctx, rand.N(bound)) //nolint:gosec // it spreads callers out, it guards nothing
	resume()
	if err != nil {
		return err
	}
	return retake()
}

// ended returns the error of ctx if it has ended, otherwise err.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (s *Service) patience() time.Duration {
	if s.changeTime > 0 {
		return s.changeTime
	}
	return changeTime
}

// turns limits how many callers with the same key run at a time. The zero turns is ready.
// Unused keys take no memory.
type turns struct {
	mu    sync.Mutex
	byKey map[string]*turn
}

type turn struct {
	slots chan struct{}
	users int // running and waiting
}

// acquire waits for a free slot of the key, of which there are size, in the order of arrival. If ctx ends first, it returns
// the error of ctx. The caller must call leave. While it waits, its request gives up its own place among the running ones, and its turn
// among the large ones, because the request that has the slot may need these to continue.
func (t *turns) acquire(ctx context.Context, key string, size int) (leave func(), err error) {
	t.mu.Lock()
	if t.byKey == nil {
		t.byKey = map[string]*turn{}
	}
	own, ok := t.byKey[key]
	if !ok {
		own = &turn{slots: make(chan struct{}, size)}
		t.byKey[key] = own
	}
	own.users++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(t.byKey, key)
		}
	}
	leave = func() { <-own.slots; forget() }
	select {
	case own.slots <- struct{}{}:
		return leave, nil
	default:
	}
	retake := memory.LeaveTurn(ctx)
	defer memory.Pause(ctx)()
	select {
	case own.slots <- struct{}{}:
	case <-ctx.Done():
		forget()
		return nil, ctx.Err()
	}
	if err := retake(); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}
