package scim_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"docent/shared/table"
)

// gated is a store that blocks reads of all users until it is released.
type gated struct {
	table.Store
	mu     sync.Mutex
	change sync.Cond
	shut   bool
	held   int
}

func newGated(t testing.TB) (*server, *gated) {
	t.Helper()
	g := &gated{}
	g.change.L = &g.mu
	return newServerOn(t, func(s table.Store) table.Store { g.Store = s; return g }), g
}

func (g *gated) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if strings.HasSuffix(q.Partition, "/users") {
		g.mu.Lock()
		g.held++
		g.change.Broadcast()
		for g.shut {
			g.change.Wait()
		}
		g.held--
		g.mu.Unlock()
	}
	return g.Store.Query(ctx, q)
}

func (g *gated) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

func (g *gated) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
	g.change.Broadcast()
}

// waitFor returns when n reads are blocked.
func (g *gated) waitFor(t testing.TB, n int) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.held < n {
		g.change.Wait()
	}
}

func (g *gated) waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held
}
