package storedtest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/table/dynamo/dynamotest"
)

// KeepFields checks records, each under the name of its form, at both engines. It fails
// for a field that a record has and that is not stored.
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

// Record checks a record: it fills every field, stores the record and reads it again.
// It returns an error that names the fields that did not come back.
type Record func(t *testing.T, store table.Store) error

// Fields returns the check of a record that encode makes an item of and decode reads.
// adjust changes the filled record before it is stored: it gives values to fields that
// do not take every text, and empties those that are not stored.
func Fields[T any](encode func(T) (table.Item, error), decode func(table.Item) (T, error), adjust ...func(*T)) Record {
	return func(t *testing.T, store table.Store) error {
		var given T
		filler := filler{}
		if err := filler.fill(reflect.ValueOf(&given).Elem(), fmt.Sprintf("%T", given)); err != nil {
			return err
		}
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
			return fmt.Errorf("a field is not stored (-given +read):\n%s", diff)
		}
		return nil
	}
}

// Fill returns a T whose fields, at every depth, have values that differ from each other.
func Fill[T any](t testing.TB) T {
	t.Helper()
	var v T
	filler := filler{}
	if err := filler.fill(reflect.ValueOf(&v).Elem(), fmt.Sprintf("%T", v)); err != nil {
		t.Fatal(err)
	}
	return v
}

// filler gives every field another value than the zero one, and no two the same.
type filler struct{ given int }

var (
	timeType = reflect.TypeFor[time.Time]()
	jsonType = reflect.TypeFor[json.RawMessage]()
)

// fill sets v and everything in it. path names v in the error about a type that it
// cannot fill.
func (f *filler) fill(v reflect.Value, path string) error {
	f.given++
	switch v.Type() {
	case timeType:
		v.Set(reflect.ValueOf(time.UnixMilli(1_790_000_000_000 + int64(f.given)).UTC()))
		return nil
	case jsonType:
		v.SetBytes(fmt.Appendf(nil, `{"text":"%d"}`, f.given))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", f.given))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.given))
	case reflect.Uint64:
		v.SetUint(uint64(f.given)) //nolint:gosec // a count
	case reflect.Uint8:
		v.SetUint(uint64('a' + f.given%26)) //nolint:gosec // a letter
	case reflect.Interface:
		v.Set(reflect.ValueOf(fmt.Sprintf("text-%d", f.given)))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return f.fill(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			if err := f.fill(v.Index(i), path); err != nil {
				return err
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			if err := f.fill(v.Index(i), path); err != nil {
				return err
			}
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if err := f.fill(key, path); err != nil {
			return err
		}
		if err := f.fill(value, path); err != nil {
			return err
		}
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Field(i)
			writable := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem() //nolint:gosec // unexported fields are stored too
			if err := f.fill(writable, path+"."+v.Type().Field(i).Name); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%s: cannot fill a %s", path, v.Type())
	}
	return nil
}
