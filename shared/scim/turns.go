package scim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"docent/shared/pause"
	"docent/shared/scim/protocol"
	"docent/shared/table"
)

// changeTime bounds how long a change is tried while others come between, and how long it
// waits for those of this process that came before it. It leaves room within the 29 s of
// the gateway.
const changeTime = 10 * time.Second

// Bounds of the random pause before a change is tried again.
const (
	firstPause = 10 * time.Millisecond
	longPause  = 250 * time.Millisecond
)

// retryOnConflict makes a change of one resource, which it calls again on what is there then when
// another change has come between. In this process the changes of a resource are made one
// after the other; those of other processes show as table.ErrConflict, after which it
// pauses. What remains after changeTime is table.ErrConflict, which clients see as 503.
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
		bound := min(firstPause<<min(try, 10), longPause)
		if pause.For(waiting, rand.N(bound)) != nil { //nolint:gosec // it spreads callers out, it guards nothing
			return ended(ctx, err)
		}
	}
}

// ended returns the error of ctx when that has ended, otherwise err.
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

// turns lets only so many at a time do what has the same key. The zero turns is ready; it
// holds nothing for keys that nobody uses.
type turns struct {
	mu    sync.Mutex
	byKey map[string]*turn
}

type turn struct {
	slots chan struct{}
	users int // those who are in, and those who wait
}

// acquire waits until fewer than size others of the key are in, in the order of arrival, or
// until ctx ends, whose error it returns. The caller must call leave.
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
	select {
	case own.slots <- struct{}{}:
		return func() { <-own.slots; forget() }, nil
	case <-ctx.Done():
		forget()
		return nil, ctx.Err()
	}
}
