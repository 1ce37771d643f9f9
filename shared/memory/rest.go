package memory

import (
	"context"
	"runtime"
	"time"

	"docent/shared/pause"
)

const (
	restTimes = 9                    // work in the background rests at most this many times as long as it worked
	restStep  = 2 * time.Millisecond // how often it checks whether it may continue
)

type roomKey struct{}

// WithRests returns a context for work in the background of a process that handles requests in
// room. Rest pauses such work.
func WithRests(ctx context.Context, room *Room) context.Context {
	return context.WithValue(ctx, roomKey{}, room)
}

// Rest pauses work in the background while requests use half of the processors or more, so that
// the next one finds a free processor. The work calls it every few milliseconds, with the time
// for which it has worked since the last call. Rest returns at once if ctx is not from WithRests,
// and when ctx ends.
func Rest(ctx context.Context, worked time.Duration) {
	room, _ := ctx.Value(roomKey{}).(*Room)
	if room == nil {
		return
	}
	for left := restTimes * worked; left > 0 && room.busy(); left -= restStep {
		if pause.For(ctx, restStep) != nil {
			return
		}
	}
}

// busy reports whether requests with a place or a turn use half of the processors or more.
func (r *Room) busy() bool {
	return r.Places.Held()+r.Turns.Held() >= int64(runtime.NumCPU()-runtime.NumCPU()/2)
}
