package scim

import (
	"strings"
	"testing"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	member := func(item table.Item) (table.Item, error) {
		m := memberFrom(item)
		return memberOps("", "", m, table.Condition{})[0].(table.Put).Item, nil
	}
	storedtest.RoundTrip(t, map[string]func(table.Item) (table.Item, error){
		"identities: {team}/groups | {group}": func(item table.Item) (table.Item, error) {
			g, err := groupFrom(item)
			if err != nil {
				return item, err
			}
			g.stored-- // put counts it up
			put, err := g.put(strings.TrimSuffix(item.Partition, "/groups"), table.Condition{})
			return put.Item, err
		},
		"identities: {team}/members/{group} | {user}": member,
		"identities: {team}/memberships | {user}/{group}": func(item table.Item) (table.Item, error) {
			return memberOps("", "", memberFrom(item), table.Condition{})[1].(table.Put).Item, nil
		},
	})
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"identities: {team}/groups | {group}": storedtest.Fields(
			func(g group) (table.Item, error) {
				g.stored-- // put counts it up
				put, err := g.put("acme", table.Condition{})
				return put.Item, err
			}, groupFrom),
		"identities: {team}/members/{group} | {user}": storedtest.Fields(
			func(m member) (table.Item, error) {
				return memberOps("acme", "group", m, table.Condition{})[0].(table.Put).Item, nil
			},
			func(item table.Item) (member, error) { return memberFrom(item), nil }),
		"identities: {team}/memberships | {user}/{group}": storedtest.Fields(
			func(m member) (table.Item, error) {
				return memberOps("acme", "group", m, table.Condition{})[1].(table.Put).Item, nil
			},
			func(item table.Item) (member, error) {
				m := memberFrom(item)
				m.userID, _, _ = strings.Cut(m.userID, "/")
				return m, nil
			},
			func(m *member) { m.display = "" }), // under the group only
	})
}
