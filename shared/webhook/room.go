package webhook

import (
	"context"
	"sync"
	"time"

	"docent/shared/pending"
)

// room counts the turns that run in this process. A team has at most as many as there are workers left for others, so
// that endpoints which are slow to answer do not take all of them: each further team with such endpoints gets about half of
// what is left.
type room struct {
	mu    sync.Mutex
	all   int
	of    map[string]int       // by team; no zeros
	later map[string]time.Time // by endpoint: when a turn without room was to be tried again last
}

// enter reports whether a team may have another turn, which then has to leave. A team without a turn may always.
func (r *room) enter(teamID string, workers int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if workers > 0 && r.of[teamID] > 0 && r.of[teamID] >= workers-r.all {
		return false
	}
	if r.of == nil {
		r.of = map[string]int{}
	}
	r.all++
	r.of[teamID]++
	return true
}

func (r *room) leave(teamID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all--
	if r.of[teamID]--; r.of[teamID] == 0 {
		delete(r.of, teamID)
	}
}

// postpone reports whether no message was sent yet for the turn of an endpoint at a time, and notes that one is.
func (r *room) postpone(endpointID string, at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.later == nil {
		r.later = map[string]time.Time{}
	}
	if r.later[endpointID].Equal(at) {
		return false
	}
	r.later[endpointID] = at
	return true
}

// retryRoom is how often a turn without room is tried again.
const retryRoom = time.Second

// tryLater has a turn without room begin later. Its pending item stays due, so that the sweeper sends a message that is lost.
func (w *Worker) tryLater(ctx context.Context, work pending.Work) {
	now := w.now()
	at := now.Truncate(retryRoom).Add(retryRoom) // the same for all messages of one second
	if w.room.postpone(work.ID, at) {
		w.Outbox.SendLater(ctx, at.Sub(now), work)
	}
}
