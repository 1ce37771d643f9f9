package webhook

import (
	"testing"
	"time"
)

// TestTheRoomForgetsTurnsThatBegan: it would grow with every endpoint that there was.
func TestTheRoomForgetsTurnsThatBegan(t *testing.T) {
	t.Parallel()
	var r room
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	if !r.enter("team", "one", 2) || r.enter("team", "two", 2) {
		t.Fatal("a team has both workers")
	}
	if !r.postpone("two", now, time.Second) || r.postpone("two", now.Add(time.Millisecond), time.Second) {
		t.Error("a turn without room does not have one message")
	}
	r.leave("team")
	if !r.enter("team", "two", 2) || len(r.later) != 0 {
		t.Errorf("after its turn began, it knows %v", r.later)
	}
}
