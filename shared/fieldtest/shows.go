package fieldtest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// Shows fails unless every field of T makes a difference to the JSON that show returns of
// it, but those of the names in hidden, which must make none, and unless every member of
// that JSON is set. adjust gives values to fields that do not take every text.
func Shows[T, B any](t *testing.T, show func(T) B, adjust func(*T), hidden ...string) {
	t.Helper()
	full := Fill[T](t)
	adjust(&full)
	body := show(full)
	members := reflect.ValueOf(body)
	for _, member := range reflect.VisibleFields(members.Type()) {
		if members.FieldByIndex(member.Index).IsZero() {
			t.Errorf("%T: nothing sets %s", body, member.Name)
		}
	}
	text := encode(t, body)
	for _, field := range leaves(reflect.TypeFor[T]()) {
		without := full
		reflect.ValueOf(&without).Elem().FieldByIndex(field.Index).SetZero()
		shown := !bytes.Equal(encode(t, show(without)), text)
		if listed := slices.Contains(hidden, field.Name); shown == listed {
			t.Errorf("%T: %s is shown: %t, listed as hidden: %t", full, field.Name, shown, listed)
		}
	}
}

// leaves returns the exported fields of a struct and of the structs in it, whose names
// follow theirs and a dot.
func leaves(of reflect.Type) []reflect.StructField {
	var all []reflect.StructField
	for _, field := range reflect.VisibleFields(of) {
		switch {
		case field.Anonymous || !field.IsExported():
		case field.Type.Kind() == reflect.Struct && field.Type != timeType:
			for _, inner := range leaves(field.Type) {
				inner.Name, inner.Index = field.Name+"."+inner.Name, slices.Concat(field.Index, inner.Index)
				all = append(all, inner)
			}
		default:
			all = append(all, field)
		}
	}
	return all
}

func encode(t *testing.T, body any) []byte {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
