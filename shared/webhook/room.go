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
	of    map[string]int   // by team; no zeros
	later map[string]delay // by endpoint: of the last message for a turn without room, until a turn begins
}

// delay is the time for which a message is on its way.
type delay struct{ from, until time.Time }

// enter reports whether an endpoint of a team may have a turn, which then has to leave. A team without a turn may always.
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

// postpone reports whether no message for the turn of an endpoint is on its way, and notes that one is, now and for a time.
// A clock that was set back since a message was sent does not tell that it is.
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
