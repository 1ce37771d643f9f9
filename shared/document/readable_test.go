package document_test

import (
	"fmt"
	"strings"
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

// A document whose rule and text change ever again keeps as much of the rules as fits into an item. Of more, the oldest open to nobody.
func TestTheRulesOfTextsThatEndedAreBounded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		length  int // of each of 64 further names, which take 7 bytes a character when they are stored
		changes int
	}{
		"many rules":  {1, 20},
		"large rules": {256, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			ada := document.Who{Reader: access.Person(uuid.NewString(), "ada@acme.test", nil)}
			in := h.text("Page", "")
			var made []time.Time // each text
			for n := range test.changes {
				rule := &access.Rule{Users: []access.Entry{{Name: "ada@acme.test"}, {Name: fmt.Sprint(n)}}}
				for range 63 {
					rule.Users = append(rule.Users, access.Entry{Name: strings.Repeat("<", test.length)})
				}
				in.Access, in.Body = rule, fmt.Sprint(n)
				h.put(in)
				made = append(made, h.clock.Now())
				h.clock.Advance(time.Second)
			}
			in.Access, in.Body = nil, "Open."
			id, _ := h.put(in)
			for n, at := range made {
				unreadable, _, err := h.Unreadable(t.Context(), teamID, ada, map[string]time.Time{id: at})
				if err != nil {
					t.Fatal(err)
				}
				switch hidden := at.Before(unreadable[id]); {
				case n == 0 && !hidden:
					t.Error("the first text is not hidden, although its rule is not kept")
				case n == test.changes-1 && hidden:
					t.Error("the last text is hidden")
				}
			}
			if err := h.Delete(t.Context(), teamID, id, "", document.Anyone(), anyVersion); err != nil {
				t.Error(err)
			}
		})
	}
}
