package usage

import (
	"context"
	"maps"
	"slices"
	"time"
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

// settleTime bounds Settle. Counting takes at most AddTime once the reply is sent, but a
// client that reads slowly keeps its request from being counted for minutes.
const settleTime = 2 * AddTime

// Settle waits, for at most half a second, until every call of the team that was expected
// when it is called is counted, so that a report has whatever was replied to before it was
// asked for. It returns the error of ctx if that ends first.
func (c *Counter) Settle(ctx context.Context, teamID string) error {
	c.mu.Lock()
	expected := slices.Collect(maps.Keys(c.expected[teamID]))
	c.mu.Unlock()
	if len(expected) == 0 {
		return nil
	}
	enough := time.NewTimer(settleTime)
	defer enough.Stop()
	for _, counted := range expected {
		select {
		case <-counted:
		case <-enough.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
