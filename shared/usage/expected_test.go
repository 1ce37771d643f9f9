package usage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

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

// TestAReportDoesNotWaitForASlowReader: what is not counted in time is left out.
func TestAReportDoesNotWaitForASlowReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &usage.Counter{}
		defer c.Expect("a")()
		defer c.Expect("a")()
		began := time.Now()
		if err := c.Settle(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited != 2*usage.AddTime {
			t.Errorf("the report waited %v, want %v", waited, 2*usage.AddTime)
		}
	})
}
