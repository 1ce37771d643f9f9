package pending_test

import (
	"slices"
	"testing"
	"time"

	"docent/shared/pending"
)

// TestWorkThatWasSentByAClockThatWasAhead is sent again by the next sweep, not when that time comes.
func TestWorkThatWasSentByAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	r := newFixture(t)
	r.promise(t, work(pending.IndexDocument, "d", r.now))
	r.now = r.now.Add(year)
	r.sweep(t)
	if got := r.sent(t); !slices.Equal(got, []string{"d"}) {
		t.Fatalf("while it was ahead: sent %q", got)
	}
	r.now = r.now.Add(2*time.Minute - year)
	r.sweep(t)
	if got := r.sent(t); !slices.Equal(got, []string{"d"}) {
		t.Errorf("afterwards: sent %q", got)
	}
}
