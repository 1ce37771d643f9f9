package search_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"docent/shared/blob"
	"docent/shared/search"
	"docent/shared/table"
)

// fullTable refuses every Write that frees no room, as on a full disk.
type fullTable struct{ table.Store }

func (f fullTable) Write(ctx context.Context, ops ...table.Op) error {
	if !table.IsFreeing(ctx) {
		return table.ErrFull
	}
	return f.Store.Write(ctx, ops...)
}

// TestOnAFullDiskBlobsAreRemoved: those whose removal is due, and those without a record.
func TestOnAFullDiskBlobsAreRemoved(t *testing.T) {
	t.Parallel()
	x, lib, clock := newIndex(t)
	const each = 20
	for i := range each {
		d := doc("wiki", fmt.Sprintf("Title %d", i), "A text about whales.", 1)
		publish(t, x, lib, d)
		if err := x.Blobs.Put(t.Context(), fmt.Sprintf("segments/%s/lost-%d", team, i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.DropSource(t.Context(), team, "wiki"); err != nil {
		t.Fatal(err)
	}
	clock.Advance(25 * time.Hour)
	x.Table = fullTable{x.Table}
	if n, err := x.Clean(t.Context()); n != 2*each || err != nil || blobCount(t, x) != 0 {
		t.Errorf("removed %d, %v; %d are left", n, err, blobCount(t, x))
	}
}

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

// TestAClockThatWasAheadDelaysNoSearchForLostBlobs: it is due when the clock is set right, and daily from then on.
func TestAClockThatWasAheadDelaysNoSearchForLostBlobs(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	x, _, clock := newIndex(t)
	clean := func(want int) {
		t.Helper()
		if n, err := x.Clean(t.Context()); n != want || err != nil {
			t.Fatalf("removed %d, want %d: %v", n, want, err)
		}
	}
	clock.Advance(year)
	clean(0)
	clock.Advance(-year)
	clean(0)
	if err := x.Blobs.Put(t.Context(), "segments/team/lost", []byte("x")); err != nil {
		t.Fatal(err)
	}
	clock.Advance(23 * time.Hour)
	clean(0)
	clock.Advance(2 * time.Hour)
	clean(1)
}

// endedTable meets the end of the disk in each Write, before or after it lands.
type endedTable struct {
	table.Store
	after  bool
	merged bool // what the first operation wrote is gone at once
}

func (e endedTable) Write(ctx context.Context, ops ...table.Op) error {
	full := &fs.PathError{Op: "write", Path: "docent.db", Err: syscall.ENOSPC}
	switch {
	case e.merged:
		return errors.Join(e.Store.Write(ctx, ops...), e.Store.Write(ctx, table.Delete{Key: table.KeyOf(ops[0])}), full)
	case e.after:
		return errors.Join(e.Store.Write(ctx, ops...), full)
	}
	return full
}

// TestAtTheEndOfTheDiskPublishingLeavesNoBlobs, unless their records may have been written.
func TestAtTheEndOfTheDiskPublishingLeavesNoBlobs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ended endedTable
		want  int // blobs that stay
	}{
		"before the Write":                        {endedTable{}, 0},
		"after the Write":                         {endedTable{after: true}, 2},
		"after the Write, with one record merged": {endedTable{merged: true}, 2},
	} {
		x, _, _ := newIndex(t)
		tt.ended.Store = x.Table
		x.Table = tt.ended
		err := x.Publish(t.Context(), team, []search.Document{doc("wiki", "Title", "A text about whales.", 1), doc("handbook", "Other", "A text about seals.", 1)}, nil)
		if !table.IsFull(err) || blobCount(t, x) != tt.want {
			t.Errorf("%s: %v; %d blobs stay, want %d", name, err, blobCount(t, x), tt.want)
		}
	}
}

// endedBlobs has room for one object.
type endedBlobs struct {
	blob.Store
	stored *atomic.Int64
}

func (e endedBlobs) Put(ctx context.Context, name string, data []byte) error {
	if e.stored.Add(1) > 1 {
		return &fs.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
	}
	return e.Store.Put(ctx, name, data)
}

// TestSegmentsThatWereStoredBeforeOneThatHadNoRoomAreRemoved publishes documents of two sources at once.
func TestSegmentsThatWereStoredBeforeOneThatHadNoRoomAreRemoved(t *testing.T) {
	t.Parallel()
	x, _, _ := newIndex(t)
	x.Blobs = endedBlobs{x.Blobs, new(atomic.Int64)}
	err := x.Publish(t.Context(), team, []search.Document{doc("wiki", "Title", "A text about whales.", 1), doc("handbook", "Other", "A text about seals.", 1)}, nil)
	if !table.IsFull(err) || blobCount(t, x) != 0 {
		t.Errorf("%v; %d blobs stay", err, blobCount(t, x))
	}
}

// TestOnAFullDiskPublishingLeavesNoBlobs: workers try again within seconds, and blobs that stay would fill the disk more.
func TestOnAFullDiskPublishingLeavesNoBlobs(t *testing.T) {
	t.Parallel()
	x, _, _ := newIndex(t)
	x.Table = fullTable{x.Table}
	for range 3 {
		err := x.Publish(t.Context(), team, []search.Document{doc("wiki", "Title", "A text about whales.", 1)}, nil)
		if !errors.Is(err, table.ErrFull) || blobCount(t, x) != 0 {
			t.Errorf("%v; %d blobs stay", err, blobCount(t, x))
		}
	}
}
