package queuetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/shared/queue"
)

// sendGroup sends n messages of a group, "{group} {number}".
func (f Fixture) sendGroup(t *testing.T, group string, n int) {
	t.Helper()
	var messages []queue.Outgoing
	for i := range n {
		messages = append(messages, queue.Outgoing{Body: fmt.Appendf(nil, "%s %02d", group, i), Group: group})
	}
	for some := range slices.Chunk(messages, queue.MaxBatch) {
		if err := f.Queue.Send(t.Context(), some...); err != nil {
			t.Fatalf("Send: %v", err)
		}
	}
}

func groups(t *testing.T, f Fixture) {
	for _, group := range []string{"a", "0192c6a0-7b1e-7c3d-9e4f-5a6b7c8d9e0f", strings.Repeat("Z_-9", queue.MaxGroup/4)} {
		f.sendGroup(t, group, 2)
	}
	f.send(t, "of nobody")
	all := f.receiveAll(t, 7)
	f.done(t, all...)
	f.wantNone(t, 0)
}

// takingTurns wants the few messages of quiet groups among the first ones, behind a hundred of a
// loud one.
func takingTurns(t *testing.T, f Fixture) {
	f.sendGroup(t, "loud", 100)
	for _, group := range []string{"quiet", "silent"} {
		f.sendGroup(t, group, 2)
	}
	var order []string
	for range 104 {
		m := f.receive(t)
		order = append(order, string(m.Body))
		f.done(t, m)
	}
	const most = 9 // each group had three turns
	for _, want := range []string{"quiet 00", "quiet 01", "silent 00", "silent 01"} {
		if i := slices.Index(order, want); i < 0 || i >= most {
			t.Errorf("%s was received as number %d, want among the first %d", want, i+1, most)
		}
	}
}

// groupsAgain wants a failed message of a group again, however often another group has its turn.
func groupsAgain(t *testing.T, f Fixture) {
	f.sendGroup(t, "one", 1)
	m := f.receive(t)
	f.sendGroup(t, "other", 5)
	f.retry(t, 0, m)
	again := f.receiveAll(t, 6)
	if got := bodiesOf(again); !slices.Contains(got, "one 00") {
		t.Errorf("received %q", got)
	}
	f.done(t, again...)
	f.wantNone(t, 0)
}
