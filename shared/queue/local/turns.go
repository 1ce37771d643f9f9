package local

import (
	"container/heap"
	"slices"
	"time"
)

// turns are the messages that can be received, by group. Its order is by turns, or by used time if timed.
type turns struct {
	byGroup map[string]*dueHeap
	order   []string // the groups; the first one has its turn
	gave    bool     // the first one has given a message in its turn

	timed bool
	used  map[string]time.Duration // by group, if timed
	least time.Duration            // used by the group that has its turn or had the last: a group that comes later has used as much
}

// newTurns returns empty turns.
func newTurns(timed bool) turns {
	return turns{byGroup: map[string]*dueHeap{}, timed: timed, used: map[string]time.Duration{}}
}

// push adds m, which is due.
func (t *turns) push(m *message) {
	group := t.byGroup[m.group]
	if group == nil {
		group = &dueHeap{}
		t.byGroup[m.group] = group
		t.order = append(t.order, m.group)
		if t.timed {
			t.used[m.group] = max(t.used[m.group], t.least)
		}
	}
	m.ready = true
	heap.Push(group, m)
}

// first returns the next message, nil if there is none. A group keeps its turn until end.
func (t *turns) first() *message {
	for len(t.order) > 0 {
		if t.timed && !t.gave {
			t.begin()
		}
		if group := t.byGroup[t.order[0]]; len(*group) > 0 {
			t.gave = true
			return (*group)[0]
		}
		delete(t.byGroup, t.order[0])
		t.order, t.gave = t.order[1:], false
	}
	return nil
}

// begin gives the turn to the group that has used the least time, of several to the one that waits longest.
func (t *turns) begin() {
	next := 0
	for i, group := range t.order {
		if t.used[group] < t.used[t.order[next]] {
			next = i
		}
	}
	group := t.order[next]
	t.order = slices.Insert(slices.Delete(t.order, next, next+1), 0, group)
	t.least = t.used[group]
}

// end ends the turn of the group that gave the last message; the next one's begins.
func (t *turns) end() {
	if t.gave {
		t.order, t.gave = append(t.order[1:], t.order[0]), false
	}
}

// spend notes that group's messages were worked on for this long.
func (t *turns) spend(group string, d time.Duration) {
	if t.timed {
		t.used[group] += d
	}
}

// forget forgets what the groups used. Nothing waits and nothing is worked on.
func (t *turns) forget() {
	clear(t.used)
	t.least = 0
}

// remove removes m.
func (t *turns) remove(m *message) {
	heap.Remove(t.byGroup[m.group], m.place)
	m.ready = false
}
