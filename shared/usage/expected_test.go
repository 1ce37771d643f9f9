package usage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"docent/shared/usage"
)

// TestReportsWaitForExpectedCalls: of the team, and only for those that were expected
// before.
func TestReportsWaitForExpectedCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &usage.Counter{}
		first, second := c.Expect("a"), c.Expect("a")
		if err := c.Settle(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		settled := make(chan error, 1)
		go func() { settled <- c.Settle(t.Context(), "a") }()
		synctest.Wait()
		defer c.Expect("a")()
		first()
		synctest.Wait()
		select {
		case err := <-settled:
			t.Fatal("settled before the second call was counted", err)
		default:
		}
		second()
		if err := <-settled; err != nil {
			t.Error(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Settle(ended, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("the end of ctx: %v", err)
		}
	})
}
