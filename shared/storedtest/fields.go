package storedtest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/shared/fieldtest"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/table/dynamo/dynamotest"
)

// KeepFields checks records, each under the name of its form, at both engines. It fails if a
// field of a record is not stored.
func KeepFields(t *testing.T, records map[string]Record) {
	t.Helper()
	for name := range records {
		if !slices.ContainsFunc(Forms, func(f Form) bool { return f.Name() == name }) {
			t.Errorf("%q is not a stored form", name)
		}
	}
	for engine, open := range map[string]func(testing.TB) table.Store{
		"bolt":   func(t testing.TB) table.Store { return bolttest.Open(t) },
		"dynamo": func(t testing.TB) table.Store { return dynamotest.OpenAt(t, time.Now) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			for name, keeps := range records {
				if err := keeps(t, store); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// Record checks a record: it fills every field, stores the record and reads it again. It
// returns an error that names the fields that were lost.
type Record func(t *testing.T, store table.Store) error

// Fields returns the check of a record that encode turns into an item and decode reads back.
// adjust changes the filled record before it is stored: it sets fields that do not accept every
// text, and empties those that are not stored.
func Fields[T any](encode func(T) (table.Item, error), decode func(table.Item) (T, error), adjust ...func(*T)) Record {
	return func(t *testing.T, store table.Store) error {
		given := fieldtest.Fill[T](t)
		for _, change := range adjust {
			change(&given)
		}
		item, err := encode(given)
		if err != nil {
			return fmt.Errorf("encode: %w", err)
		}
		if err := store.Write(t.Context(), table.Put{Item: item}); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		if item, err = store.Get(t.Context(), item.Key); err != nil {
			return fmt.Errorf("read: %w", err)
		}
		got, err := decode(item)
		if err != nil {
			return fmt.Errorf("decode: %w", err)
		}
		if diff := cmp.Diff(given, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			return fmt.Errorf("a field is not stored; the code that encodes and decodes the item must handle it (-given +read):\n%s", diff)
		}
		return nil
	}
}
