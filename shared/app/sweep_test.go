package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/pending"
	"docent/shared/table"
)

// meeting is a table in which the first Add waits for another one.
type meeting struct {
	table.Store
	adds atomic.Int64
	met  chan struct{}
}

func (m *meeting) Add(ctx context.Context, a table.Add) (table.Item, error) {
	if m.adds.Add(1) == 2 {
		close(m.met)
	}
	select {
	case <-m.met:
		return m.Store.Add(ctx, a)
	case <-ctx.Done():
		return table.Item{}, ctx.Err()
	}
}

// TestAServerMarksManyPiecesOfWorkTogether, as each Write waits for the disk.
func TestAServerMarksManyPiecesOfWorkTogether(t *testing.T) {
	t.Parallel()
	l, err := OpenLocal(t.Context(), t.TempDir(), LocalOptions{Log: slog.New(slog.DiscardHandler), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	const works = 20
	for i := range works {
		work := pending.Work{Kind: pending.IndexDocument, TeamID: "team", ID: fmt.Sprint(i), Version: 1, At: time.Now().Add(-time.Hour).UnixMilli()}
		if err := l.store.Write(t.Context(), work.Promise()); err != nil {
			t.Fatal(err)
		}
	}
	l.sweeper.Table = &meeting{Store: l.store, met: make(chan struct{})}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if swept, err := l.sweeper.Sweep(ctx); err != nil || swept.Sent != works {
		t.Errorf("%d sent, %v", swept.Sent, err)
	}
}
