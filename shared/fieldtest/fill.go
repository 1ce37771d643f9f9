// Package fieldtest fills the fields of records by reflection, so that tests notice a
// field that is stored or shown nowhere.
package fieldtest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"
	"unsafe"
)

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
		v.SetUint(uint64(f.given))
	case reflect.Uint8:
		v.SetUint(uint64('a' + f.given%26))
	case reflect.Interface:
		v.Set(reflect.ValueOf(fmt.Sprintf("text-%d", f.given)))
	case reflect.Func:
		of := v.Type()
		v.Set(reflect.MakeFunc(of, func([]reflect.Value) (out []reflect.Value) {
			for n := range of.NumOut() {
				out = append(out, reflect.Zero(of.Out(n)))
			}
			return out
		}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return f.fill(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
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
