package scim

import "time"

// SetChangeTime bounds how long a change is tried while others come between.
func (s *Service) SetChangeTime(d time.Duration) { s.changeTime = d }

// WaitingChanges is how many resources are being changed.
func (s *Service) WaitingChanges() int { return s.changeTurns.keys() }

// WaitingLists is how many turns lists of everything have taken or wait for.
func (s *Service) WaitingLists() int { return s.listTurns.keys() }

func (t *turns) keys() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byKey)
}

// WholeListsOfTeam bounds the lists of everything of one team at a time.
const WholeListsOfTeam = wholeListsOfTeam

// NamesTag tells whether a field of entity tags names tag.
func NamesTag(field, tag string) bool { return namesTag(field, tag) }
