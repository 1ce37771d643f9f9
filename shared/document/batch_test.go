package document_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/table"
)

// meeting is an index in which the publications of a batch wait for each other.
type meeting struct {
	*index
	teams int
	bad   string // the team whose publication panics

	mu    sync.Mutex
	came  int
	met   chan struct{}
	steps []string
}

func (m *meeting) Publish(ctx context.Context, teamID string, docs []search.Document, done []table.Op) error {
	m.mu.Lock()
	if m.came++; m.came == m.teams {
		close(m.met)
	}
	m.mu.Unlock()
	select {
	case <-m.met:
	case <-time.After(30 * time.Second):
		return errors.New("the other teams wait")
	}
	if teamID == m.bad {
		panic("broken document")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, "publish")
	return m.index.Publish(ctx, teamID, docs, done)
}

func (m *meeting) Merge(context.Context, string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, "merge")
	return 0, nil
}

func TestNoTeamOfABatchWaitsForAnother(t *testing.T) {
	t.Parallel()
	const teams = 4
	h := newFixture(t)
	w, x := h.worker()
	broken := "00000000-0000-7000-8000-000000000000"
	m := &meeting{index: x, teams: teams, bad: broken, met: make(chan struct{})}
	w.Index, w.Parallel = m, teams
	var batch []queue.Message
	for n := range teams {
		team := fmt.Sprintf("00000000-0000-7000-8000-00000000000%d", n)
		in := h.text("Handbook", "Body.")
		in.CollectionID = h.collect(team, "wiki")
		if _, _, err := h.Put(t.Context(), team, in); err != nil {
			t.Fatal(err)
		}
		batch = append(batch, queue.Message{ID: team, Body: h.sent.Bodies[n], Receives: 1})
	}
	failed := w.Batch(t.Context(), batch)
	if !slices.Equal(failed, []string{broken}) {
		t.Errorf("failed: %q, want the team that panicked only", failed)
	}
	if want := []string{"publish", "publish", "publish", "merge", "merge", "merge"}; !slices.Equal(m.steps, want) {
		t.Errorf("steps: %q", m.steps)
	}
	if len(x.published) != teams-1 {
		t.Errorf("%d documents published", len(x.published))
	}
}
