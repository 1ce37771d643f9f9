package document_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/table"
)

// A deleted item is unreadable to those who might not read it in the end, by its own rule or by that of its source.
func TestADeletedItemKeepsItsRule(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own, byDefault *access.Rule
		unreadable     bool
	}{
		"its own rule":           {own: nobody(), unreadable: true},
		"the rule of its source": {byDefault: nobody(), unreadable: true},
		"no rule":                {},
	} {
		for way, remove := range map[string]func(h *fixture) (bool, error){
			"removed": func(h *fixture) (bool, error) {
				return h.Remove(t.Context(), teamID, h.issue, wikiURI("Issue"), h.clock.Now().Add(time.Hour), "")
			},
			"forgotten": func(h *fixture) (bool, error) { return h.Forget(t.Context(), teamID, h.issue, wikiURI("Issue")) },
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				h := newFixture(t)
				source, err := h.Table.Get(t.Context(), collection.Key(teamID, h.issue))
				if err != nil {
					t.Fatal(err)
				}
				collection.StoreDefaultAccess(&source, c.byDefault)
				if err := h.Table.Write(t.Context(), table.Put{Item: source}); err != nil {
					t.Fatal(err)
				}
				in := h.item("Issue", "Item.", time.Time{})
				in.Access = c.own
				id, _ := h.put(in)
				if removed, err := remove(h); err != nil || !removed {
					t.Fatalf("removed: %t, %v", removed, err)
				}
				unreadable, gone, err := h.Unreadable(t.Context(), teamID, document.Who{Reader: access.Person(uuid.NewString(), "ada@acme.test", nil)}, map[string]time.Time{id: h.clock.Now()})
				if err != nil || !unreadable[id].IsZero() != c.unreadable || gone[id] != document.Forever {
					t.Errorf("unreadable: %s, gone: %s, %v", unreadable[id], gone[id], err)
				}
			})
		}
	}
}
