package search_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/blob"
)

// stopping ends a context at the at-th call of Delete.
type stopping struct {
	blob.Store
	calls atomic.Int64
	at    int64
	stop  context.CancelFunc
}

func (s *stopping) Delete(ctx context.Context, names ...string) error {
	if s.calls.Add(1) == s.at {
		s.stop()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Store.Delete(ctx, names...)
}

// TestASearchForLostBlobsContinues: one call may have too little time for all teams. The next ones
// continue, a minute later, where it stopped, and every team has its turn.
func TestASearchForLostBlobsContinues(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{0, 16} {
		x, _, clock := newIndex(t)
		x.Parallel = parallel
		const teams = 300
		for _, prefix := range []string{"segments", "vectors"} {
			for i := range teams {
				if err := x.Blobs.Put(t.Context(), fmt.Sprintf("%s/team-%03d/lost", prefix, i), []byte("x")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n, err := x.Clean(t.Context()); n != 0 || err != nil {
			t.Fatalf("removed %d: %v", n, err)
		}
		clock.Advance(25 * time.Hour)
		s := &stopping{Store: x.Blobs}
		x.Blobs = s
		for turn := 0; blobCount(t, x) > 0; turn++ {
			if turn == 20 {
				t.Fatalf("%d at a time: %d are left after %d turns", parallel, blobCount(t, x), turn)
			}
			ctx, stop := context.WithCancel(t.Context())
			s.at, s.stop = s.calls.Load()+150, stop
			if _, err := x.Clean(ctx); err != nil && ctx.Err() == nil {
				t.Fatal(err)
			}
			stop()
			clock.Advance(time.Minute)
		}
		if got := s.calls.Load(); got < 2*teams || got > 3*teams {
			t.Errorf("%d at a time: %d teams were looked at, want about %d", parallel, got, 2*teams)
		}
		if n, err := x.Clean(t.Context()); n != 0 || err != nil || s.calls.Load() > 3*teams {
			t.Errorf("%d at a time: it began again: %d, %v", parallel, n, err)
		}
	}
}
