package local

import "container/heap"

// turns are the messages that can be received, by group. The zero turns is empty and ready.
type turns struct {
	byGroup map[string]*dueHeap
	order   []string // the groups; the first one has its turn
	gave    bool     // the first one has given a message in its turn
}

// push adds m, which is due.
func (t *turns) push(m *message) {
	group := t.byGroup[m.group]
	if group == nil {
		if t.byGroup == nil {
			t.byGroup = map[string]*dueHeap{}
		}
		group = &dueHeap{}
		t.byGroup[m.group] = group
		t.order = append(t.order, m.group)
	}
	m.ready = true
	heap.Push(group, m)
}

// first returns the next message, nil if there is none. A group keeps its turn until end.
func (t *turns) first() *message {
	for len(t.order) > 0 {
		if group := t.byGroup[t.order[0]]; len(*group) > 0 {
			t.gave = true
			return (*group)[0]
		}
		delete(t.byGroup, t.order[0])
		t.order, t.gave = t.order[1:], false
	}
	return nil
}

// end ends the turn of the group that gave the last message; the next one's begins.
func (t *turns) end() {
	if t.gave {
		t.order, t.gave = append(t.order[1:], t.order[0]), false
	}
}

// remove removes m.
func (t *turns) remove(m *message) {
	heap.Remove(t.byGroup[m.group], m.place)
	m.ready = false
}
