package scim

import "time"

// SetChangeTime sets how long a change is retried after conflicts.
func (s *Service) SetChangeTime(d time.Duration) { s.changeTime = d }

// SetMaxCompared sets how many comparisons a list may take.
func (s *Service) SetMaxCompared(n int64) { s.maxCompared = n }

// WaitingChanges returns the number of resources that are being changed.
func (s *Service) WaitingChanges() int { return s.changeTurns.keys() }

// WaitingLists returns the number of keys with running or waiting lists.
func (s *Service) WaitingLists() int { return s.listTurns.keys() }

func (t *turns) keys() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byKey)
}

// WholeListsOfTeam limits the parallel lists of everything of one team.
const WholeListsOfTeam = wholeListsOfTeam

// NamesTag reports whether a field of entity tags names tag.
func NamesTag(field, tag string) bool { return namesTag(field, tag) }
