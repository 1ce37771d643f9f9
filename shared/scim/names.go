package scim

import (
	"sync"
	"time"

	"docent/shared/access"
)

// GroupNames keeps the names of groups in memory, by which rules may open to their
// members. Who is a member is never kept: that is read for every request. The zero
// value is empty and ready; a nil *GroupNames keeps nothing.
type GroupNames struct {
	mu      sync.Mutex
	known   map[string]namedGroup // by team and group id
	changes int                   // of groups in this process
}

type namedGroup struct {
	access.Group
	readAt time.Time
}

const (
	// namesKnownFor is how long names are kept: like that of a user, a new name of a group
	// holds within 10 seconds, and at once in the process that changes it.
	namesKnownFor = 9 * time.Second
	// maxGroupNames bounds the groups whose names are kept.
	maxGroupNames = 20_000
)

// get returns a group whose names were read less than namesKnownFor ago.
func (n *GroupNames) get(teamID, groupID string, now time.Time) (access.Group, bool) {
	if n == nil {
		return access.Group{}, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	g, ok := n.known[teamID+"/"+groupID]
	if age := now.Sub(g.readAt); !ok || age < 0 || age >= namesKnownFor {
		return access.Group{}, false
	}
	return g.Group, true
}

// begin returns what put needs of the time before names are read.
func (n *GroupNames) begin() int {
	if n == nil {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changes
}

// put keeps names that were read since begin, unless a group has changed in between.
func (n *GroupNames) put(teamID string, g access.Group, readAt time.Time, begun int) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if begun != n.changes {
		return
	}
	if n.known == nil || len(n.known) >= maxGroupNames {
		n.known = map[string]namedGroup{}
	}
	n.known[teamID+"/"+g.ID] = namedGroup{g, readAt}
}

func (n *GroupNames) forget(teamID, groupID string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changes++
	delete(n.known, teamID+"/"+groupID)
}
