package memory

import (
	"context"
	"time"

	"docent/shared/pause"
)

// Bounds of the rests of work in the background.
const (
	restTimes = 9                    // it rests at most this many times as long as it worked
	restStep  = 2 * time.Millisecond // between two looks whether requests are handled
)

type roomKey struct{}

// WithRests returns a context for work in the background of a process that handles requests in
// room. Rest pauses such work.
func WithRests(ctx context.Context, room *Room) context.Context {
	return context.WithValue(ctx, roomKey{}, room)
}

// Rest pauses work in the background while requests are handled, so that they find a free
// processor. The work calls it every few milliseconds with the time that it worked since the
// last call. It returns at once if ctx is not from WithRests, and when ctx ends.
func Rest(ctx context.Context, worked time.Duration) {
	room, _ := ctx.Value(roomKey{}).(*Room)
	if room == nil {
		return
	}
	for left := restTimes * worked; left > 0 && room.handles(); left -= restStep {
		if pause.For(ctx, restStep) != nil {
			return
		}
	}
}

// handles reports whether a request has a place or a turn.
func (r *Room) handles() bool { return r.Places.Held()+r.Turns.Held() > 0 }
