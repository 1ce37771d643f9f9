package webhook

import (
	"context"
	"sync"
	"time"

	"docent/shared/pending"
)

// room counts the turns that run in this process. A team may have as many turns as there are free workers. So a team with
// slow endpoints leaves workers to others: each further team gets about half of what is left.
type room struct {
	mu    sync.Mutex
	all   int
	of    map[string]int   // by team; no zeros
	later map[string]delay // by endpoint: of the last message for a turn without room, until a turn begins
}

// delay is the time for which a message is on its way.
type delay struct{ from, until time.Time }

// enter reports whether an endpoint of a team may begin a turn; then the caller must call leave. A team without a running
// turn always may.
func (r *room) enter(teamID, endpointID string, workers int) bool {
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
	delete(r.later, endpointID)
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

// postpone reports whether the caller should send a message for a later turn of the endpoint: not if one is on its way. It
// notes that one is, for the time wait from now on. After the clock was set back, it assumes that none is.
func (r *room) postpone(endpointID string, now time.Time, wait time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, ok := r.later[endpointID]; ok && !now.Before(last.from) && now.Before(last.until) {
		return false
	}
	if r.later == nil {
		r.later = map[string]delay{}
	}
	r.later[endpointID] = delay{now, now.Add(wait)}
	return true
}

// retryRoom is how often a turn without room is tried again.
const retryRoom = time.Second

// tryLater has a turn without room begin later. Its pending item stays due, so that the sweeper sends a message that is lost.
func (w *Worker) tryLater(ctx context.Context, work pending.Work) {
	now := w.Now() // with its monotonic reading: the queue waits by that
	wait := now.Truncate(retryRoom).Add(retryRoom).Sub(now)
	if w.room.postpone(work.ID, now, wait) {
		w.Outbox.SendLater(ctx, wait, work)
	}
}
