package app

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"docent/shared/storedtest"
	"docent/shared/table"
	"docent/shared/table/bolt"
)

// replacedWhole are the stored forms whose items the changes of this test replace. After a
// rollback, they lose the attributes of a later version. shared/storedtest/README.md describes
// the consequences.
var replacedWhole = []string{
	"answers: {question} | answer",
	"collections: {team} | {source}", // collections; those of connected sources keep them
	"collections: {team}/source/{source} | part#{text}",
	"collections: {team}/source/{source} | sync",
	"documents: {team}/list | {number}#{doc}",
	"documents: {team}/list/{source} | {number}#{doc}",
	"documents: {team}/{doc} | record",
	"identities: {team} | team",
	"identities: {team}/groups | {group}",
	"identities: {team}/members/{group} | {user}",
	"identities: {team}/memberships | {user}/{group}",
	"identities: {team}/users | {user}",
}

// TestUnknownAttributesAreIgnored opens a fixture whose items all have attributes that this
// version does not know, like those of a later version before a rollback. Everything works as
// without them.
func TestUnknownAttributesAreIgnored(t *testing.T) {
	t.Parallel()
	for _, fixture := range storedtest.Fixtures(t) {
		if fixture.Engine != storedtest.Serve {
			continue
		}
		t.Run(fixture.Name(), func(t *testing.T) {
			t.Parallel()
			m := fixture.Manifest
			folder := fixture.Unpack(t)
			given := addUnknown(t, filepath.Join(folder, "docent.db"), m.Written)
			in := storedAt(t, fixture.Engine, os.DirFS(folder), m.Written.Add(time.Second))
			in.readsAsBefore(&m)
			in.worksOff(&m)
			in.changes(&m)
			after := t.TempDir()
			if err := os.CopyFS(after, in.stored()); err != nil {
				t.Fatal(err)
			}
			lost := map[string]bool{}
			for _, item := range storedtest.BoltItems(t, filepath.Join(after, "docent.db"), in.clock.Now()) {
				if _, kept := item.Strings[storedtest.Unknown]; given[item.Key] && !kept {
					lost[storedtest.FormOf(t, item.Key).Name()] = true
				}
			}
			if got := slices.Sorted(maps.Keys(lost)); !slices.Equal(got, replacedWhole) {
				t.Errorf("unknown attributes are lost by\n%q, want\n%q", got, replacedWhole)
			}
		})
	}
}

// addUnknown gives every item of a database unknown attributes. It returns their keys.
func addUnknown(t *testing.T, file string, now time.Time) map[table.Key]bool {
	t.Helper()
	items := storedtest.BoltItems(t, file, now)
	given := map[table.Key]bool{}
	var tables []string
	for _, item := range items {
		given[item.Key] = true
		if !slices.Contains(tables, item.Table) {
			tables = append(tables, item.Table)
		}
	}
	store, err := bolt.Open(file, bolt.Options{Tables: tables, Now: func() time.Time { return now }, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for some := range slices.Chunk(items, table.MaxOps) {
		ops := make([]table.Op, len(some))
		for i, item := range some {
			ops[i] = table.Put{Item: storedtest.WithUnknown(item)}
		}
		if err := store.Write(t.Context(), ops...); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return given
}
