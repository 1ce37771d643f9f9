package usage

import (
	"context"
	"maps"
	"slices"
)

// Expect announces that a call of the team is about to be counted, so that reports
// wait for it. The caller calls done when the call is counted.
func (c *Counter) Expect(teamID string) (done func()) {
	counted := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.expected == nil {
		c.expected = map[string]map[chan struct{}]bool{}
	}
	if c.expected[teamID] == nil {
		c.expected[teamID] = map[chan struct{}]bool{}
	}
	c.expected[teamID][counted] = true
	return func() {
		close(counted)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.expected[teamID], counted)
		if len(c.expected[teamID]) == 0 {
			delete(c.expected, teamID)
		}
	}
}

// Settle waits until every call of the team that is expected now is counted, so that a report
// includes every call that was answered before. It returns the error of ctx if that ends first.
func (c *Counter) Settle(ctx context.Context, teamID string) error {
	c.mu.Lock()
	expected := slices.Collect(maps.Keys(c.expected[teamID]))
	c.mu.Unlock()
	for _, counted := range expected {
		select {
		case <-counted:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
