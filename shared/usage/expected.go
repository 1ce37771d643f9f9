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
// when it is called is counted and added, so that a report has whatever was replied to before
// it was asked for. It returns the error of ctx if that ends first.
func (c *Counter) Settle(ctx context.Context, teamID string) error {
	c.mu.Lock()
	expected := slices.Collect(maps.Keys(c.expected[teamID]))
	c.mu.Unlock()
	enough := time.NewTimer(settleTime)
	defer enough.Stop()
	for _, counted := range expected {
		if settled, err := wait(ctx, counted, enough); !settled {
			return err
		}
	}
	if written := c.gathered(); written != nil {
		_, err := wait(ctx, written, enough)
		return err
	}
	return nil
}

// wait reports whether until was closed before enough; the error is that of ctx.
func wait(ctx context.Context, until <-chan struct{}, enough *time.Timer) (closed bool, err error) {
	select {
	case <-until:
		return true, nil
	case <-enough.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
