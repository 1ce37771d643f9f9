package atlassian

import (
	"context"

	"docent/shared/source"
)

// Groups has what a reading knows about groups.
type Groups struct {
	Ctx      context.Context            // of lookups, which have no argument for it
	GroupIDs map[string]string          // Cloud, by name
	Failed   error                      // of a lookup; if it is about this alone, others are tried, to find all that fail
	Known    map[string]map[string]User // members of each by their ids
}

// NewGroups returns Groups that know nothing.
func NewGroups() Groups {
	return Groups{GroupIDs: map[string]string{}, Known: map[string]map[string]User{}}
}

// GivesUp reports whether no more lookups are tried, because all would fail.
func (g *Groups) GivesUp() bool { return g.Failed != nil && !source.IsOfOne(g.Failed) }

// Members returns the members of a group by their ids, or nothing if they are unknown. It reads them once, with list. items says what
// depends on them.
func (g *Groups) Members(s *Site, name, items string, list func(ctx context.Context, name string) (map[string]User, error)) map[string]User {
	if all, known := g.Known[name]; known || g.GivesUp() {
		return all
	}
	var all map[string]User
	_, err := s.LookUp(g.Ctx, MembersOf(name, g.GroupIDs[name]), items, func(ctx context.Context) (err error) {
		all, err = list(ctx, name)
		return err
	})
	if err != nil && (g.Failed == nil || !source.IsOfOne(err)) {
		g.Failed = err
	}
	g.Known[name] = all
	return all
}
